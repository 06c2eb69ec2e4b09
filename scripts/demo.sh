#!/usr/bin/env bash
# The quick start: a faster softmax out of the compiled one, then an independent verification of what came out.
#   demo.sh ASMEVO [DIRECTORY]    results go to DIRECTORY, default out/
set -euo pipefail
asmevo=$(realpath "${1:?usage: demo.sh ASMEVO [DIRECTORY]}")
cd "$(dirname "$0")/.."
out=${2:-out}
mkdir -p "$out"
rm -rf "$out/softmax.hsaco" "$out/softmax.hsaco.asmevo"

"$asmevo" optimize corpus/softmax.hsaco --launch corpus/softmax.json --budget 60 -o "$out/softmax.hsaco"
echo
"$asmevo" verify corpus/softmax.hsaco "$out/softmax.hsaco" --launch corpus/softmax.json
"$asmevo" time corpus/softmax.hsaco "$out/softmax.hsaco" --launch corpus/softmax.json
