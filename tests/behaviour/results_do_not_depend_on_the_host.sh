# Bit for bit the same at every instruction set level of the host and on one core as on all of them.
. "$(dirname "$0")/common.sh"
need taskset
sed 's/"rows": 2048, "columns": 2048/"rows": 40, "columns": 700/' "$corpus/softmax_rows.json" >softmax_rows.json
sed 's/"rows": 2048, "columns": 2048/"rows": 24, "columns": 500/' "$corpus/layernorm.json" >layernorm.json
sed 's/"M": 512, "N": 512, "K": 512/"M": 256, "N": 128, "K": 128/' "$corpus/matmul.json" >matmul.json
sed 's/"n": 4194304/"n": 40000/' "$corpus/gelu.json" >gelu.json
for kernel in softmax_rows layernorm matmul gelu; do
  for level in v2 v3 v4; do
    ASMEVO_ISA_LEVEL=$level asmevo run "$corpus/$kernel.hsaco" --launch $kernel.json --json >$level.json 2>err ||
      fail "$kernel at $level"
  done
  taskset -c 0 "$ASMEVO" run "$corpus/$kernel.hsaco" --launch $kernel.json --json >one.json 2>err || fail "$kernel on one core"
  grep -q sha256 v4.json || fail "no digest in the output"
  for other in v2 v3 one; do expect_same v4.json $other.json; done
done
