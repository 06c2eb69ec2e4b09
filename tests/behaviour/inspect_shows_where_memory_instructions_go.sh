. "$(dirname "$0")/common.sh"
expect_exit 0 asmevo inspect "$corpus/rowsum.hsaco" --addresses
grep -Eq '0x1660 +global_load_dword .* arg\+8 +4\*item\.x .*1024\*round@.* align 4 +stride 4$' out ||
  fail 'the load of a row is not described'
grep -Eq 'ds_read2st64_b32 .* lds +4\*item\.x .* stride 4$' out || fail 'an access of LDS is not described'
grep -Eq 'global_store_dword .* arg\+0 .* uniform$' out || fail 'the one result of a row is not uniform'
expect_exit 0 asmevo inspect "$corpus/rowsum.hsaco" --addresses --json
expect_json out
[ "$(json out '$.kernels[0].addresses[2].base')" = 'arg+8' ] || fail 'JSON does not name the base'
[ "$(json out '$.kernels[0].addresses[2].lane_stride')" = 4 ] || fail 'JSON does not say the stride'
expect_exit 0 asmevo inspect "$corpus/rowsum.hsaco"
expect_no_text 'stride'
