# A module includes only itself and modules above it in the table of docs/architecture.md (the order below), and LLVM's
# headers stay in object/, isa/ and recover/.
set -euo pipefail
cd "${ASMEVO_SOURCE:-$(dirname "$0")/../..}/src"

layers=(support object isa recover analysis machine prove timing launch device oracle profile gate search agent report cli)
declare -A level
for i in "${!layers[@]}"; do level[${layers[$i]}]=$i; done

bad=0
while IFS=: read -r file line include; do
  from=${file%%/*}
  to=$(sed -E 's/.*#include "([a-z]+)\/.*/\1/' <<<"$include")
  if [ -z "${level[$to]:-}" ]; then
    echo "src/$file:$line: includes \"$to/...\", which is no module"; bad=1
  elif [ "${level[$to]}" -gt "${level[$from]}" ]; then
    echo "src/$file:$line: $from/ includes $to/, which lies below it"; bad=1
  fi
done < <(grep -rnE '^ *#include "[a-z]+/' --include='*.h' --include='*.cpp' . | sed 's|^\./||')

while IFS= read -r hit; do
  echo "src/$hit: LLVM headers outside object/, isa/, recover/"; bad=1
done < <(grep -rnE '^ *#include [<"](llvm|lld)/' --include='*.h' --include='*.cpp' . | sed 's|^\./||' | grep -vE '^(object|isa|recover)/' || true)
exit $bad
