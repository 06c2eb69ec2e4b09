. "$(dirname "$0")/common.sh"
need clang-22 gcc
bundles
asmevo extract packed.hipfb --target gfx942 -o old.hsaco >/dev/null || fail "cannot extract"
asmevo recover old.hsaco --no-addresses >old.s
sed -E '0,/^.*s_endpgm/s//  s_nop 3\n&/' old.s >new.s
expect_different old.s new.s
expect_exit 0 asmevo build new.s --like old.hsaco -o new.hsaco
for file in plain.hipfb packed.hipfb; do
  expect_exit 0 asmevo bundle new.hsaco --into $file -o copy
  expect_text "entry 0.2 (gfx942) replaced"
  asmevo extract copy -d after >/dev/null
  asmevo extract $file -d before >/dev/null
  expect_same after/gfx942/0.2.hsaco new.hsaco
  expect_same after/gfx90a_xnack-/0.1.hsaco before/gfx90a_xnack-/0.1.hsaco
done
# A program keeps its other bundle, its code and that it can be run.
expect_exit 2 asmevo bundle new.hsaco --into program -o copy
expect_text "0.2, 1.2"
expect_exit 0 asmevo bundle new.hsaco --into program --entry 0.2 -o copy
./copy || fail "the program does not run any more"
[ "$(stat -c %s copy)" = "$(stat -c %s program)" ] || fail "the program has another size"
for entry in 0.1 1.1 1.2; do
  asmevo extract program --entry $entry -o before.hsaco >/dev/null
  asmevo extract copy --entry $entry -o after.hsaco >/dev/null
  expect_same before.hsaco after.hsaco
done
# Only what could be loaded in its place goes in.
kernel_text scale >other.s
assemble other.s other.hsaco
expect_exit 2 asmevo bundle other.hsaco --into plain.hipfb -o never
expect_one_line plain.hipfb
expect_exit 2 asmevo bundle other.hsaco --into plain.hipfb --entry 0.2 -o never
expect_text "not a drop-in replacement"
[ ! -e never ] || fail "a file was written"
