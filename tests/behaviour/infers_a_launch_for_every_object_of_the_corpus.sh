. "$(dirname "$0")/common.sh"
[ -z "${ASMEVO_SANITIZED:-}" ] || skip 'under sanitizers the probes take more than the seconds that they may'
for object in "$ASMEVO_SOURCE"/corpus/*.hsaco; do
  name=$(basename "$object" .hsaco)
  expect_exit 0 "$ASMEVO" launch "$object" -o "$name.json"
  first=$(grep -m1 '^case ' out)
  case $first in
    *": verified, "*"shows little"* | *": 0 results"*) fail "$name: the launch shows nothing: $first" ;;
    *": verified, "*) ;;
    *) fail "$name: the main case is not verified: $first" ;;
  esac
  [ "$(grep -c ': verified, ' out)" -ge 2 ] || fail "$name: no tail shape"
  # "19 of 29 basic blocks": Triton's objects have a second entry for old firmware, which never runs here.
  read -r covered _ blocks _ < <(grep 'basic blocks are executed' out)
  [ $((covered * 2)) -ge "$blocks" ] || fail "$name: only $covered of $blocks blocks"
done
for name in histogram rmsnorm softmax; do
  object=$ASMEVO_SOURCE/corpus/$name.hsaco
  expect_exit 0 "$ASMEVO" verify "$object" "$object" --launch "$name.json" --seed 5
  expect_text equivalent
done
