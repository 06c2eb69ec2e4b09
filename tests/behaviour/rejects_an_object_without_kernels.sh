. "$(dirname "$0")/common.sh"
printf '.text\ns_endpgm\n' >code.s
assemble code.s nothing.hsaco
expect_exit 2 asmevo inspect nothing.hsaco
expect_one_line nothing.hsaco
expect_text 'no kernel'
