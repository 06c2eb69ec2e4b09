# What behaviour tests share. A test sources this file, works in a directory of its own and uses the built tool as
# `asmevo`. Its name is the sentence that is true when it passes.
set -u
corpus=$ASMEVO_SOURCE/corpus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME=$work/cache # receipts of other runs are none here

asmevo() { "$ASMEVO" "$@"; }

fail() {
  echo "FAIL: $*"
  for stream in out err; do
    [ -f "$stream" ] && { echo "--- $stream"; head -c 3000 "$stream"; }
  done
  exit 1
}

# A test that cannot run here says why; ctest shows it as skipped.
skip() {
  echo "SKIPPED: $*"
  exit 77
}
need() { for tool in "$@"; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done; }

# expect_exit STATUS COMMAND...: runs it; its stdout is in `out`, its stderr in `err`.
expect_exit() {
  local wanted=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  [ "$status" -eq "$wanted" ] || fail "exit status $status instead of $wanted: $*"
}

# What the last expect_exit printed, on either stream.
expect_text() { grep -qF -- "$1" out err || fail "no \"$1\" in the output"; }
expect_no_text() { ! grep -qF -- "$1" out err || fail "\"$1\" in the output"; }

# One clear line on stderr, which begins with a file (or other place).
expect_one_line() {
  [ "$(wc -l <err)" -eq 1 ] || fail "not one line of message"
  case $(cat err) in "$1: "* | "$1:"*) ;; *) fail "the message does not begin with $1" ;; esac
}

expect_same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }
expect_different() { ! cmp -s "$1" "$2" || fail "$1 and $2 are the same"; }
expect_json() { [ "$(sqlite3 :memory: "SELECT json_valid(CAST(readfile('$1') AS TEXT))")" = 1 ] || fail "$1 is not one JSON document"; }
# json FILE PATH: the value at a path like $.verdicts.accepted
json() { sqlite3 :memory: "SELECT json_extract(CAST(readfile('$1') AS TEXT), '$2')"; }

# listing NAME: the assembly of a corpus object.
listing() { asmevo recover "$corpus/$1.hsaco" --no-addresses; }

# edit NAME SCRIPT OUT: a corpus object with its listing changed by a sed script that must change something.
edit() {
  listing "$1" >edit.before || fail "cannot recover $1"
  sed -E "$2" edit.before >edit.after
  expect_different edit.before edit.after
  asmevo build edit.after --like "$corpus/$1.hsaco" -o "$3" 2>edit.err || fail "cannot build: $(cat edit.err)"
}

# assemble TEXT OUT: a code object for gfx942 from assembly of one's own.
assemble() {
  need llvm-mc-22 ld.lld-22
  llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -o assemble.o "$1" && ld.lld-22 -shared -o "$2" assemble.o ||
    fail "cannot assemble $1"
}

# kernel_text NAME: a kernel that does nothing.
kernel_text() {
  cat <<END
.text
.globl $1
.p2align 8
.type $1,@function
$1:
  s_endpgm
.size $1, .-$1
.rodata
.amdhsa_kernel $1
  .amdhsa_next_free_vgpr 1
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 4
.end_amdhsa_kernel
END
}

# The small kernel `twice` with its launch: twice.hsaco and twice.json here.
twice() {
  assemble "$ASMEVO_SOURCE/tests/behaviour/twice.s" twice.hsaco
  cp "$ASMEVO_SOURCE/tests/behaviour/twice.json" .
}

# Two kernels for two targets as plain.hipfb, as packed.hipfb (compressed), and as `program`, which holds both.
bundles() {
  cat >kernels.hip <<'END'
extern "C" __attribute__((global)) void scale(float* p) { p[0] = p[1] * 2.f; }
extern "C" __attribute__((global)) void shift(float* p) { p[0] = p[1] + 2.f; }
END
  local compile="clang-22 -x hip --offload-arch=gfx90a:xnack- --offload-arch=gfx942 --offload-device-only -nogpuinc -nogpulib -fuse-cuid=none"
  $compile -O3 --gpu-bundle-output kernels.hip -o plain.hipfb 2>/dev/null || skip "clang-22 compiles no HIP here"
  $compile -O3 --gpu-bundle-output --offload-compress kernels.hip -o packed.hipfb 2>/dev/null || fail "cannot compress"
  cat >fatbin.s <<'END'
.section .hip_fatbin,"a",@progbits
.p2align 12
.incbin "packed.hipfb"
.p2align 12
.incbin "plain.hipfb"
.section .note.GNU-stack,"",@progbits
END
  echo 'int main(void) { return 0; }' >main.c
  gcc main.c fatbin.s -o program || fail "cannot link a program"
}

# item OBJECT GLOB: the number of the first item of its listing that looks so.
item() {
  asmevo recover "$1" --json >items.json || fail "cannot recover $1"
  sqlite3 :memory: "SELECT key FROM json_each(CAST(readfile('items.json') AS TEXT), '\$.items') WHERE value GLOB '$2' LIMIT 1"
}

# propose FIRST LAST TEXT: a recorded proposal, one line of JSON.
propose() {
  sqlite3 :memory: "SELECT json_object('edits', json_array(json_object('first', $1, 'last', $2, 'text', '$3')), 'rule', 'test', 'rationale', '')"
}

# story RUN: everything a run decided, without times of day.
story() {
  sqlite3 "$1/lineage.sqlite" "SELECT number, parent, proposal, text_hash, artifact_hash, outcome, evidence, version FROM attempts ORDER BY number;
    SELECT id, parent, evaluation, artifact, speedup, cv FROM versions ORDER BY id"
}

# Many proposals, each a little faster than the one before, every third a wrong one: enough work to be interrupted in.
delays() { # COUNT
  local delay add i
  delay=$(item twice.hsaco 's_movk_i32 s8*')
  add=$(item twice.hsaco 'v_add_f32*')
  for i in $(seq "$1"); do
    case $((i % 3)) in
      0) printf '{"edits":[{"first":%d,"last":%d,"text":"v_mul_f32_e32 v1, %d.0, v1"}],"rule":"wrong"}\n' "$add" $((add + 1)) $((i + 2)) ;;
      *) printf '{"edits":[{"first":%d,"last":%d,"text":"s_movk_i32 s8, %d"}],"rule":"shorter"}\n' "$delay" $((delay + 1)) $((4096 - 30 * i)) ;;
    esac
  done
}

# serve_model STEP...: a server that answers like a language model's (model_server.py), instead of the one before. The
# environment leads to it, with a key that must not appear anywhere; what it was asked is in requests.jsonl.
serve_model() {
  need python3
  [ -z "${model_server:-}" ] || kill "$model_server"
  rm -f port requests.jsonl
  export TEST_API_KEY=very-secret-value-0123
  python3 "$ASMEVO_SOURCE/tests/behaviour/model_server.py" port requests.jsonl "$@" &
  model_server=$!
  trap 'kill "$model_server"; rm -rf "$work"' EXIT
  for _ in $(seq 100); do [ -f port ] && break; sleep 0.1; done
  [ -f port ] || fail 'the server does not start'
  export OPENAI_API_KEY=$TEST_API_KEY OPENAI_BASE_URL=http://127.0.0.1:$(cat port)/v1
  export ANTHROPIC_API_KEY=$TEST_API_KEY ANTHROPIC_BASE_URL=http://127.0.0.1:$(cat port)
  export XDG_CONFIG_HOME=$work/config
}
