. "$(dirname "$0")/common.sh"
need python3
here=$ASMEVO_SOURCE/tests/behaviour
twice
export ASMEVO
cat >session.py <<'END'
from mcp_client import *

client = Client("twice.hsaco", "--launch", "twice.json", "-o", "faster.hsaco", "--budget", "10")
tools = client.request("tools/list")["result"]["tools"]
names = {tool["name"] for tool in tools}
wanted = {"inspect", "windows", "disassemble", "lookup_isa", "propose", "check", "verify", "time", "profile", "lineage",
          "diff", "checkout", "search_memory", "occupancy", "status"}
check(wanted <= names, f"missing tools: {wanted - names}")
for tool in tools:
    check(tool["inputSchema"]["type"] == "object" and tool["outputSchema"]["type"] == "object", tool["name"])

window = client.good("windows")["windows"][0]
code = client.good("disassemble", {key: window[key] for key in ("first", "last")})
check(any(line["text"].startswith("s_sub_u32 s8") for line in code["lines"]), "the delay is not the hottest window")

delay = client.item("s_movk_i32 s8")
edit = client.edit(delay, delay + 1, "s_movk_i32 s8, 0x10")
check(client.good("check", {"edits": [edit]})["passes"], "the edit does not pass the static gates")
verdict = client.good("propose", {"edits": [edit], "rationale": "wait less", "direction": "latency-hiding"}, token="p")
check(verdict["outcome"] == "accepted" and verdict["best_speedup"] > 2, verdict)
check(verdict["receipt"]["case_count"] >= 1 and verdict["timing"]["speedup"] > 2, verdict)
stages = [told["params"]["message"] for told in client.notifications if told["params"]["progressToken"] == "p"]
check(stages == ["build", "static", "equivalence", "timing", "second equivalence", "strength"], stages)

wrong = client.item("v_add_f32")
verdict = client.good("propose", {"edits": [client.edit(wrong, wrong + 1, "v_mul_f32_e32 v1, v1, v1")]})
check(verdict["outcome"] == "divergence" and verdict["version"] is None, verdict)
check(client.good("search_memory", {"query": "v_mul_f32"})["total"] == 1, "the failure is not remembered")
status = client.good("status")
check(status["evaluations"] == 2 and status["best_version"] == 1, status)
check(client.close() == 0, "the server did not end well")

# The same command goes on with the same run.
client = Client("twice.hsaco", "--launch", "twice.json", "-o", "faster.hsaco")
check(client.good("status")["evaluations"] == 2, "the run did not go on")
check(client.good("verify")["equivalent"], "the version does not verify")
check(client.close() == 0, "the server did not end well")
END
PYTHONPATH=$here expect_exit 0 python3 session.py
expect_exit 0 asmevo verify twice.hsaco faster.hsaco --launch twice.json
# What an agent proposed is replayed to the same lineage.
asmevo lineage faster.hsaco.asmevo --proposals >proposals.jsonl
expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o replayed.hsaco --driver replay --proposals proposals.jsonl
story faster.hsaco.asmevo >first
story replayed.hsaco.asmevo >second
expect_same first second
expect_same faster.hsaco replayed.hsaco
