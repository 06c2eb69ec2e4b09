. "$(dirname "$0")/common.sh"
for page in 'completion bash' 'completion zsh' 'completion fish' man; do
  expect_exit 0 asmevo $page
  for word in inspect recover build roundtrip check run verify prove time optimize lineage isa; do expect_text "$word"; done
  expect_text launch
done
asmevo completion bash >completion.bash
COMP_WORDS=(asmevo opt) COMP_CWORD=1
. ./completion.bash
_asmevo
[ "${COMPREPLY[*]}" = optimize ] || fail "opt completes to ${COMPREPLY[*]}"
COMP_WORDS=(asmevo verify --lau) COMP_CWORD=2
_asmevo
[ "${COMPREPLY[*]}" = --launch ] || fail "--lau completes to ${COMPREPLY[*]}"
expect_exit 2 asmevo completion tcsh
