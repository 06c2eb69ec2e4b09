#!/usr/bin/env bash
# Kills a search with SIGKILL at random moments and resumes it each time, until it ends by itself; then compares it with one
# that was left alone. Nothing that was committed may be lost, no version may be there without an accepted attempt that
# names what it was compared with, and both runs must have decided the same and written the same object.
#   kill-test.sh ASMEVO COUNT [DRIVER [KERNEL [SEED]]]    COUNT kills at least; DRIVER of the search, default random; KERNEL
#   of corpus/, default softmax
set -euo pipefail
asmevo=$(realpath "${1:?usage: kill-test.sh ASMEVO COUNT [DRIVER [KERNEL [SEED]]]}")
count=${2:?usage: kill-test.sh ASMEVO COUNT [DRIVER [KERNEL [SEED]]]}
driver=${3:-random}
kernel=${4:-softmax}
RANDOM=${5:-1}
corpus=$(realpath "$(dirname "$0")/../corpus")
work=$(mktemp -d)
pid=
trap 'if [ -n "$pid" ]; then kill -KILL "$pid" 2>/dev/null || true; fi; rm -rf "$work"' EXIT
cd "$work"

search="$corpus/$kernel.hsaco --launch $corpus/$kernel.json --driver $driver --team 2 --seed 5 --budget $((8 * count))"
ask() { sqlite3 -cmd '.timeout 10000' "$1.asmevo/lineage.sqlite" "$2"; }
# Everything but times of day.
story() {
  ask "$1" "SELECT number, parent, worker, proposal, text_hash, artifact_hash, outcome, evidence, version FROM attempts ORDER BY number;
    SELECT id, parent, other_parent, evaluation, artifact, speedup FROM versions ORDER BY id;
    SELECT before, worker, kind, version, reason FROM decisions ORDER BY id"
}
fail() {
  echo "kill-test: $1"
  exit 1
}

began=$(date +%s%3N)
"$asmevo" optimize $search -o left_alone >/dev/null 2>&1
# Milliseconds that a session has at most: twice as many sessions as kills are asked for, however fast the machine is.
share=$((($(date +%s%3N) - began) / count + 50))
story left_alone >left_alone.txt

"$asmevo" optimize $search -o killed >/dev/null 2>err &
pid=$!
kills=0 attempts=0 versions=0 longest=$share
while true; do
  # Any moment from the first instruction of a session to some evaluations after it has caught up. A session that is killed
  # before it has done anything gives the next one more time: the machine may be slow, and must not decide how this ends.
  moment=$(((RANDOM * 32768 + RANDOM) % longest))
  sleep "$((moment / 1000)).$(printf '%03d' $((moment % 1000)))"
  kill -KILL $pid 2>/dev/null || break
  wait $pid 2>/dev/null && break || true
  kills=$((kills + 1))
  if [ -e killed.asmevo/lineage.sqlite ] && [ -n "$(sqlite3 killed.asmevo/lineage.sqlite '.tables' 2>/dev/null)" ]; then
    now=$(ask killed 'SELECT count(*) FROM attempts') now_versions=$(ask killed 'SELECT count(*) FROM versions')
    longest=$((now > attempts ? share : longest + share / 2))
    [ "$now" -ge "$attempts" ] || fail "kill $kills: $attempts evaluations were committed and $now are left"
    [ "$now_versions" -ge "$versions" ] || fail "kill $kills: $versions versions were committed and $now_versions are left"
    attempts=$now versions=$now_versions
    unverified=$(ask killed "SELECT count(*) FROM versions v LEFT JOIN attempts a ON a.number = v.evaluation
      WHERE v.id > 0 AND (a.outcome IS NOT 'accepted' OR a.receipt_candidate IS NOT v.artifact OR a.version IS NOT v.id)")
    [ "$unverified" = 0 ] || fail "kill $kills: $unverified versions were not verified"
    [ "$(ask killed 'PRAGMA integrity_check')" = ok ] || fail "kill $kills: the database is damaged"
    "$asmevo" optimize --resume killed.asmevo --workers $((1 + RANDOM % 3)) >/dev/null 2>err &
  else
    rm -rf killed.asmevo
    "$asmevo" optimize $search -o killed >/dev/null 2>err &
  fi
  pid=$!
done
wait $pid || fail "the last session failed: $(cat err)"
pid=
story killed >killed.txt
cmp -s left_alone.txt killed.txt || fail "the killed run decided otherwise: $(diff left_alone.txt killed.txt | head -5)"
cmp -s left_alone killed || fail 'the killed run wrote another object'
[ "$kills" -ge "$count" ] || fail "it ended after $kills kills, $count were asked for"
echo "kill-test: $kills kills, $(wc -l <killed.txt) lines of lineage and the object as without"
