#!/bin/sh
# Real clients against `asmevo mcp`: what npm has is installed under the build directory and used from there.
# usage: test-agents.sh ASMEVO BUILD
set -eu
asmevo=$(realpath "$1")
source=$(realpath "$(dirname "$0")/..")
skip() {
  echo "SKIPPED: $*; no official client was tried" >&2
  exit 0
}
for tool in node npm llvm-mc-22 ld.lld-22; do command -v $tool >/dev/null || skip "$tool is not installed"; done
mkdir -p "$2/agents"
cd "$2/agents"
[ -d node_modules/@modelcontextprotocol/sdk ] ||
  timeout 300 npm install --no-audit --no-fund --silent @modelcontextprotocol/sdk || skip 'npm cannot install @modelcontextprotocol/sdk'
llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -o twice.o "$source/tests/behaviour/twice.s"
ld.lld-22 -shared -o twice.hsaco twice.o
cp "$source/tests/behaviour/twice.json" "$source/tests/agents/sdk_client.mjs" .
ASMEVO=$asmevo timeout 300 node sdk_client.mjs
