#!/bin/sh
# Real clients against asmevo: what npm has is installed under the build directory and used from there. The official
# MCP client calls every tool; the Codex CLI, with a model that the test plays, works over MCP and as program of
# --driver exec. Nothing of it needs a network but the installation.
# usage: test-agents.sh ASMEVO BUILD
set -eu
asmevo=$(realpath "$1")
source=$(realpath "$(dirname "$0")/..")
skip() {
  echo "SKIPPED: $1; $2" >&2
}
for tool in node npm llvm-mc-22 ld.lld-22; do
  command -v $tool >/dev/null || { skip "$tool is not installed" 'no official client was tried'; exit 0; }
done
mkdir -p "$2/agents"
cd "$2/agents"
llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -o twice.o "$source/tests/behaviour/twice.s"
ld.lld-22 -shared -o twice.hsaco twice.o
cp "$source/tests/behaviour/twice.json" "$source"/tests/agents/*.mjs .

# try PACKAGE SCRIPT WHAT
try() {
  if [ -d "node_modules/$1" ] || timeout 300 npm install --no-audit --no-fund --silent "$1"; then
    ASMEVO=$asmevo timeout 300 node "$2" "$1"
  else
    skip "npm cannot install $1" "$3 was not tried"
  fi
}
for package in @modelcontextprotocol/sdk @modelcontextprotocol/client; do
  try $package sdk_client.mjs "the official MCP client ($package)"
done
try @openai/codex codex_client.mjs 'the Codex CLI'
