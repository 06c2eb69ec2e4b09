. "$(dirname "$0")/common.sh"
need python3
export ASMEVO
cat >session.py <<END
import signal
from mcp_client import *

corpus = "$corpus"
END
cat >>session.py <<'END'
client = Client(f"{corpus}/softmax.hsaco", "--launch", f"{corpus}/softmax.json", "-o", "out.hsaco")
slow = client.begin("tools/call", {"name": "windows", "_meta": {"progressToken": 1}})
told = client.receive()  # it has begun
check(told["method"] == "notifications/progress", told)
client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow, "reason": "enough"}})
ping = client.begin("ping")
check(client.receive()["id"] == ping, "something was answered before the ping")
check(client.good("status")["evaluations"] == 0, "the server does not go on")  # nothing is answered for `slow`
client.begin("tools/call", {"name": "verify", "_meta": {"progressToken": 2}})
check(client.receive()["method"] == "notifications/progress", "no progress")
client.process.send_signal(signal.SIGTERM)
check(client.process.wait(timeout=60) == 130, "the server did not end as interrupted")
END
[ -f "$corpus/softmax.json" ] || skip 'no corpus'
PYTHONPATH=$ASMEVO_SOURCE/tests/behaviour expect_exit 0 python3 session.py
expect_exit 0 asmevo lineage out.hsaco.asmevo
