. "$(dirname "$0")/common.sh"
sed '/s_waitcnt vmcnt(0)/d' "$ASMEVO_SOURCE/tests/behaviour/twice.s" >bad.s
expect_exit 1 asmevo check bad.s --only W001
expect_exit 1 asmevo check --only W001 bad.s # an option takes one value, and the file may come last
expect_exit 1 asmevo check bad.s --only 'W*' --without W002
expect_exit 1 asmevo check bad.s --without W001
expect_text W002
expect_exit 0 asmevo check bad.s --without W001 --without W002
expect_exit 0 asmevo check bad.s --only 'H*'
expect_exit 2 asmevo check bad.s --only W999
expect_one_line W999
expect_exit 0 asmevo check --rules
expect_text "W001  a vector memory result"
expect_exit 2 asmevo check
