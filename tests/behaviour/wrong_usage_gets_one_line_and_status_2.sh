. "$(dirname "$0")/common.sh"
for usage in 'bogus' 'inspect' 'inspect a b' 'inspect --bogus a' 'verify a b' 'optimize' 'optimize a' 'time a --draws many --launch l' \
  'optimize a --launch l -o o --driver bogus' 'optimize a --launch l -o o --budget none' 'optimize a --launch l -o o --workers 0' \
  'optimize a --resume r'; do
  expect_exit 2 asmevo $usage
  [ "$(wc -l <err)" -eq 1 ] || fail "not one line for: $usage"
  [ ! -s out ] || fail "something on stdout for: $usage"
done
expect_exit 2 asmevo
