. "$(dirname "$0")/common.sh"
listing softmax >bad.s
line=$(grep -n 's_endpgm' bad.s | head -n 1 | cut -d: -f1)
sed -i "${line}i\\  v_bogus_f32 v0, v1" bad.s
echo kept >out.hsaco
expect_exit 2 asmevo build bad.s --like "$corpus/softmax.hsaco" -o out.hsaco
expect_one_line "bad.s:$line"
[ "$(cat out.hsaco)" = kept ] || fail 'the output was overwritten'
