. "$(dirname "$0")/common.sh"
expect_exit 0 asmevo roundtrip "$corpus"/*.hsaco
[ "$(grep -c ': exact: ' out)" -eq "$(ls "$corpus"/*.hsaco | wc -l)" ] || fail 'not all are exact'
expect_no_text DIFFERS
