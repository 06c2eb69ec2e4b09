. "$(dirname "$0")/common.sh"
expect_exit 0 asmevo inspect "$corpus/softmax.hsaco" --json
cp out whole.json
size=$(stat -c %s "$corpus/softmax.hsaco")
boundaries=$(sqlite3 :memory: "SELECT DISTINCT b FROM (SELECT value->>'offset' AS b FROM json_each(CAST(readfile('whole.json') AS TEXT), '\$.sections')
  UNION SELECT (value->>'offset') + (value->>'size') FROM json_each(CAST(readfile('whole.json') AS TEXT), '\$.sections')) WHERE b < $size ORDER BY b")
[ "$(echo "$boundaries" | wc -l)" -ge 10 ] || fail "too few boundaries: $boundaries"
echo kept >faster.hsaco
for boundary in $boundaries; do
  head -c "$boundary" "$corpus/softmax.hsaco" >cut.hsaco
  expect_exit 2 asmevo inspect cut.hsaco
  expect_one_line cut.hsaco
  expect_exit 2 asmevo optimize cut.hsaco --launch "$corpus/softmax.json" -o faster.hsaco
  expect_one_line cut.hsaco
done
[ "$(cat faster.hsaco)" = kept ] || fail 'the output was overwritten'
[ ! -e faster.hsaco.asmevo ] || fail 'a run directory was left behind'
