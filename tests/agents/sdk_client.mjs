// The official TypeScript SDK as client of `asmevo mcp`: lists and calls every tool (the SDK checks each result against its
// schema), sees progress, cancels. Argument: which of the two packages that it comes in.
import assert from "node:assert/strict";

const newer = process.argv[2] === "@modelcontextprotocol/client";
const { Client } = await import(newer ? "@modelcontextprotocol/client" : "@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await import(
  newer ? "@modelcontextprotocol/client/stdio" : "@modelcontextprotocol/sdk/client/stdio.js",
);
const request = (params, options) =>
  newer ? client.callTool(params, options) : client.callTool(params, undefined, options);

const client = new Client({ name: "asmevo-tests", version: "1" });
const args = ["mcp", "twice.hsaco", "--launch", "twice.json", "-o", "faster.hsaco", "--force"];
await client.connect(new StdioClientTransport({ command: process.env.ASMEVO, args }));
const { tools } = await client.listTools();
const called = new Set();
let told = 0;
async function call(name, args = {}) {
  called.add(name);
  const result = await request({ name, arguments: args }, { onprogress: () => ++told });
  assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
  return result.structuredContent;
}

for (const name of ["status", "inspect", "windows", "profile", "occupancy", "check", "verify", "time", "lineage"])
  await call(name);
assert.equal((await call("lookup_isa", { mnemonic: "v_add_f32" })).instructions[0].mnemonic, "v_add_f32");
const { first, last } = await call("inspect");
const { lines } = await call("disassemble", { first, last });
const delay = lines.find((line) => line.text.startsWith("s_movk_i32 s8")).item;
const { base_hash } = await call("disassemble", { first: delay, last: delay + 1 });
const edit = { first: delay, last: delay + 1, base_hash, text: "s_movk_i32 s8, 0x10" };
const verdict = await call("propose", { edits: [edit] });
assert.equal(verdict.outcome, "accepted");
assert.equal((await call("diff", { from: 0, to: 1 })).to, 1);
assert.equal((await call("checkout", { version: 0 })).version, 0);
assert.equal((await call("search_memory", { include_accepted: true })).total, 1);
assert.ok(told >= 6, `progress was told ${told} times`);
assert.deepEqual([...called].sort(), tools.map((tool) => tool.name).sort());

const abort = new AbortController();
const cancelled = request({ name: "verify", arguments: {} }, { signal: abort.signal });
abort.abort();
await assert.rejects(cancelled);
assert.equal((await call("status")).evaluations, 1);
await client.close();
console.log(`${tools.length} tools called with ${process.argv[2]}, ${verdict.best_speedup.toFixed(2)}x accepted`);
