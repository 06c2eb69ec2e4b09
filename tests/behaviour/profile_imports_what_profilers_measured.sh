. "$(dirname "$0")/common.sh"
need llvm-mc-22 ld.lld-22
twice
row() { # ADDRESS TEXT ISSUED STALLED REASONS
  printf '["%s",0,1,"",1,%d,0,0,0,0,%d,%d,[%s]]' "$2" "$1" "$3" "$4" "$5"
}
# Addresses and texts as the listing has them.
asmevo recover twice.hsaco >listing.s || fail "cannot recover"
wait=$(grep -m1 -E 's_waitcnt (vmcnt|lgkmcnt)\(0\)' listing.s)
address=$(sed -nE 's/.*(\/\/|;) *0x([0-9a-f]+).*/\2/p' <<<"$wait" | head -1)
text=$(sed -E 's/^[[:space:]]*//; s/[[:space:]]*(\/\/|;).*//' <<<"$wait")
[ -n "$address" ] || fail "no address in: $wait"
header='"header":["ISA","_","LineNumber","Source","Codeobj","Vaddr","Hit","Latency","Stall","Idle","PC_Issued","PC_Stalled","Stall_Reasons"]'
mkdir ui
echo "{\"code\":[$(row $((16#$address)) "$text" 3 9 0,0,0,9)],$header}" >ui/code.json
expect_exit 0 asmevo profile twice.hsaco --import ui
expect_text '12 samples: '
expect_text "$text"
expect_exit 0 asmevo profile twice.hsaco --import ui --json
expect_json out
[ "$(json out '$.total')" = 12.0 ] || fail "not 12 samples"

# Another instruction at that address: says which and what each side has.
echo "{\"code\":[$(row $((16#$address)) "v_nop" 3 9 0,0,0,9)],$header}" >ui/code.json
expect_exit 2 asmevo profile twice.hsaco --import ui
expect_one_line ui/code.json
expect_text "address 0x$address: the profile says \`v_nop\`, twice.hsaco has \`$text\`"

expect_exit 2 asmevo profile twice.hsaco --import missing.csv
expect_one_line missing.csv
expect_exit 2 asmevo profile twice.hsaco
expect_text '--launch'
expect_exit 2 asmevo profile twice.hsaco --import ui --launch twice.json
