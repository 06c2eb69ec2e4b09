. "$(dirname "$0")/common.sh"
need python3
twice
export ASMEVO
cat >session.py <<'END'
from mcp_client import *

client = Client("twice.hsaco", "--launch", "twice.json", "-o", "out.hsaco", handshake=False)


def error(line):
    client.raw(line + b"\n")
    return client.receive()["error"]["code"]


check(error(b"not json") == -32700, "parse error")
check(error(b'{"jsonrpc":"2.0","id":1,"method":"\xff"}') == -32700, "bytes that are no text")
check(error(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}') == -32600, "before the handshake")
check(error(b"[]") == -32600, "a batch")
check(error(b"[" * 100_000) == -32700, "nesting")
check(error(b'"' + b"x" * (5 << 20) + b'"') == -32700, "a message of 5 MiB")
answer = client.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {"experimental": {"z": [1]}},
                                       "clientInfo": {"name": "t", "version": "0"}, "_meta": {"a.b/c": {}}})
check(answer["result"]["protocolVersion"] == "2025-06-18", answer)


def refused(name, arguments):
    return client.request("tools/call", {"name": name, "arguments": arguments})["error"]["code"]


check(refused("no_such_tool", {}) == -32602, "unknown tool")
check(refused("status", {"tolerance": 1}) == -32602, "an argument that no tool has")
check(refused("disassemble", {"first": -1, "last": 2}) == -32602, "a negative item")
check(refused("disassemble", {"first": 0, "last": "x"}) == -32602, "text for a number")
check(refused("propose", {"edits": []}) == -32602, "no edits")
check(refused("propose", {"edits": [{"first": 0, "last": 1, "base_hash": "x"}]}) == -32602, "an edit without text")
check(refused("windows", {"limit": 10 ** 6}) == -32602, "a page that is too large")
check(client.good("status")["evaluations"] == 0, "something was recorded")
check(client.close() == 0, "the server did not end well")
END
PYTHONPATH=$ASMEVO_SOURCE/tests/behaviour expect_exit 0 python3 session.py
# Usage errors are said at once.
expect_exit 2 asmevo mcp missing.hsaco --launch twice.json -o out2.hsaco
expect_text 'missing.hsaco'
expect_exit 2 asmevo mcp twice.hsaco -o out2.hsaco
expect_exit 2 asmevo mcp twice.hsaco --launch twice.json -o out2.hsaco --run out.hsaco.asmevo --budget nonsense
edit softmax 's/s_endpgm/s_nop 0\n\ts_endpgm/' other.hsaco
expect_exit 2 asmevo mcp other.hsaco --launch "$corpus/softmax.json" -o out.hsaco
expect_text 'another object'
