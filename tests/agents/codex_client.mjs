// The Codex CLI as client of `asmevo mcp`, and as program of `--driver exec`, offline: a model that is this script answers
// it on this machine. The tools are called by Codex, and what they answer decides what the script asks for next.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const asmevo = process.env.ASMEVO;
const codex = `${process.cwd()}/node_modules/.bin/codex`;

/** What the model says: calls of tools, each answered by what the tool returned, and at last a text. */
let model;

function send(response, item) {
  const usage = { input_tokens: 100, input_tokens_details: null, output_tokens: 10, output_tokens_details: null, total_tokens: 110 };
  const events = [
    { type: "response.created", response: { id: "r" } },
    { type: "response.output_item.done", item },
    { type: "response.completed", response: { id: "r", usage } },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
}

/** Tools of one server are a namespace of functions, or functions with long names. */
function call_of(tools, name, args) {
  const space = tools.find((tool) => tool.type === "namespace" && tool.name === "mcp__asmevo");
  const call = { type: "function_call", call_id: `call_${name}_${calls++}`, arguments: JSON.stringify(args) };
  if (space) return { ...call, namespace: space.name, name };
  const tool = tools.find((one) => one.name === `mcp__asmevo__${name}`);
  assert.ok(tool, `Codex does not offer ${name}`);
  return { ...call, name: tool.name };
}
let calls = 0;

function answer_in(output) {
  const text = typeof output === "string" ? output : output.map((part) => part.text ?? "").join("");
  const document = JSON.parse(text.slice(text.indexOf("{")));
  return document.structuredContent ?? document;
}

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", async () => {
    if (request.method !== "POST") return response.writeHead(404).end();
    const { input, tools } = JSON.parse(body);
    const last = input.at(-1);
    try {
      const heard = last.type === "function_call_output" ? answer_in(last.output) : input;
      const { value } = await model.next(heard);
      if (value.tool) return send(response, call_of(tools, value.tool, value.args ?? {}));
      send(response, { type: "message", role: "assistant", id: "m", content: [{ type: "output_text", text: value }] });
    } catch (error) {
      console.error(`the model of the test: ${error.stack}\n${JSON.stringify(last).slice(0, 2000)}`);
      process.exit(1);
    }
  });
});

function run(command, args, input = "") {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: { ...process.env, CODEX_HOME: `${process.cwd()}/home` } });
    let out = "", err = "";
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (err += chunk));
    child.on("exit", (status) => resolve({ status, out, err }));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const provider = `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:${server.address().port}/v1"
wire_api = "responses"
`;
mkdirSync("home", { recursive: true });
const quiet = ["exec", "--skip-git-repo-check", "--sandbox", "read-only"];

// Over MCP: look, try a wrong edit, then a right one.
let verdicts = [];
async function* worker() {
  let heard = yield { tool: "inspect" };
  const { first, last } = heard;
  const { lines } = yield { tool: "disassemble", args: { first, last } };
  const item = (text) => lines.find((line) => line.text.startsWith(text)).item;
  async function* propose(at, text) {
    const { base_hash } = yield { tool: "disassemble", args: { first: at, last: at + 1 } };
    const edits = [{ first: at, last: at + 1, base_hash, text }];
    return yield { tool: "propose", args: { edits, auto_waits: true, direction: "instruction-simplification", model: "codex" } };
  }
  verdicts.push(yield* propose(item("v_add_f32"), "v_mov_b32_e32 v1, 0"));
  verdicts.push(yield* propose(item("s_movk_i32 s8"), "s_movk_i32 s8, 0x10"));
  yield "The kernel is faster now.";
}
writeFileSync("home/config.toml", `${provider}
[mcp_servers.asmevo]
command = "${asmevo}"
args = ["mcp", "twice.hsaco", "--launch", "twice.json", "-o", "codex.hsaco", "--force"]
`);
model = worker();
const worked = await run(codex, [...quiet, "-"], "Make the kernel that asmevo serves faster.");
assert.equal(worked.status, 0, worked.err);
assert.deepEqual(verdicts.map((verdict) => verdict.outcome), ["divergence", "accepted"], worked.err);
const verified = await run(asmevo, ["verify", "twice.hsaco", "codex.hsaco", "--launch", "twice.json", "--seed", "99"]);
assert.equal(verified.status, 0, verified.out + verified.err);

// As the program that is asked for proposals.
model = {
  next(heard) {
    const prompt = heard.at(-1).content.map((part) => part.text).join("");
    const row = prompt.split("\n").find((line) => line.includes("s_movk_i32 s8"));
    const at = Number(row.trim().split(/\s+/)[0]);
    const edits = [{ first: at, last: at + 1, text: "s_movk_i32 s8, 0x10" }];
    return { value: `This is shorter:\n${JSON.stringify({ edits, rationale: "a shorter delay" })}` };
  },
};
writeFileSync("home/config.toml", provider);
const options = ["--driver", "exec", "--exec-mode", "prompt", "--budget", "1", "--force", "--json"];
const optimized = await run(asmevo, ["optimize", "twice.hsaco", "--launch", "twice.json", "-o", "exec.hsaco", ...options, "--",
  codex, ...quiet, "-"]);
assert.equal(optimized.status, 0, optimized.err);
const { speedup, verdicts: counts } = JSON.parse(optimized.out);
assert.equal(counts.accepted, 1, optimized.out);

server.close();
console.log(`Codex CLI: ${verdicts[1].best_speedup.toFixed(2)}x accepted over MCP, ${speedup.toFixed(2)}x as program of --driver exec`);
process.exit(0);
