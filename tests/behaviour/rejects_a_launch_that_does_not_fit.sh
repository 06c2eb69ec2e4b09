. "$(dirname "$0")/common.sh"
echo kept >faster.hsaco
refuse() { # NAME SCRIPT: the rowsum launch, changed
  sed -E "$2" "$corpus/rowsum.json" >"$1.json"
  expect_different "$1.json" "$corpus/rowsum.json"
  for command in "run $corpus/rowsum.hsaco" "optimize $corpus/rowsum.hsaco -o faster.hsaco"; do
    expect_exit 2 asmevo $command --launch "$1.json"
    expect_one_line "$1.json"
  done
}
refuse bad_json 's/"kernel": /"kernel" /'
refuse missing_argument 's/, \{"name": "columns", "i32": "columns"\}//'
refuse wrong_size 's/"i32": "columns"/"i64": "columns"/'
refuse unknown_buffer 's/\[\{"buffer": "out"\}/[{"buffer": "result"}/'
refuse unknown_type 's/"dtype": "f32"/"dtype": "f31"/'
[ "$(cat faster.hsaco)" = kept ] || fail 'the output was overwritten'
[ ! -e faster.hsaco.asmevo ] || fail 'a run directory was left behind'
