. "$(dirname "$0")/common.sh"
sed 's/"out": {"dtype": "f32", "shape": "rows"/"out": {"dtype": "f32", "shape": "rows-1"/' "$corpus/rowsum.json" >small.json
expect_different small.json "$corpus/rowsum.json"
echo kept >faster.hsaco
expect_exit 2 asmevo optimize "$corpus/rowsum.hsaco" --launch small.json -o faster.hsaco
expect_text 'out'
[ "$(tail -n 1 err | wc -l)" -eq 1 ] || fail 'no message'
[ "$(cat faster.hsaco)" = kept ] || fail 'the output was overwritten'
[ ! -e faster.hsaco.asmevo ] || fail 'a run directory was left behind'
