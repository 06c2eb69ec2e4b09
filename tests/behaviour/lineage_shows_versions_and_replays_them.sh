. "$(dirname "$0")/common.sh"
twice
delays 9 >proposals.jsonl
expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o first.hsaco --driver replay --proposals proposals.jsonl
expect_exit 0 asmevo lineage first.hsaco.asmevo --attempts
expect_text 'the original'
expect_text divergence
expect_text VGPRs
expect_exit 0 asmevo lineage first.hsaco.asmevo --json
expect_json out
[ "$(json out '$.versions[1].resources.vgprs')" -gt 0 ] && [ "$(json out '$.versions[1].waves_per_simd')" -gt 0 ] || fail 'a version takes nothing'
last=$(sqlite3 first.hsaco.asmevo/lineage.sqlite 'SELECT max(id) FROM versions')
expect_exit 0 asmevo lineage first.hsaco.asmevo --version "$last" -o checked_out.hsaco
expect_same checked_out.hsaco first.hsaco
expect_exit 0 asmevo lineage first.hsaco.asmevo --version 0 -o original.hsaco
expect_same original.hsaco twice.hsaco
expect_exit 2 asmevo lineage first.hsaco.asmevo --version 999
expect_exit 0 asmevo lineage first.hsaco.asmevo --proposals
cp out again.jsonl
expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o second.hsaco --driver replay --proposals again.jsonl
story first.hsaco.asmevo >first.txt
story second.hsaco.asmevo >second.txt
expect_same first.txt second.txt
