. "$(dirname "$0")/common.sh"
twice
delays 70 >proposals.jsonl
common="twice.hsaco --launch twice.json --driver replay --proposals proposals.jsonl --budget 70"
expect_exit 0 asmevo optimize $common -o undisturbed.hsaco
story undisturbed.hsaco.asmevo >undisturbed.txt
"$ASMEVO" optimize $common -o killed.hsaco >out 2>err &
pid=$!
committed=0
for wanted in 1 6 15 16 40; do
  until [ "$(sqlite3 killed.hsaco.asmevo/lineage.sqlite "SELECT count(*) >= $wanted FROM attempts" 2>/dev/null)" = 1 ]; do
    kill -0 $pid 2>/dev/null || fail 'it ended before it could be killed'
    sleep 0.01
  done
  kill -KILL $pid
  wait $pid 2>/dev/null
  now=$(sqlite3 killed.hsaco.asmevo/lineage.sqlite 'SELECT count(*) FROM attempts')
  [ "$now" -ge "$committed" ] || fail "$committed evaluations were committed and $now are left"
  committed=$now
  story killed.hsaco.asmevo | grep -c '|' >/dev/null || fail 'the lineage cannot be read'
  "$ASMEVO" optimize --resume killed.hsaco.asmevo >out 2>err &
  pid=$!
done
wait $pid || fail 'the last session failed'
story killed.hsaco.asmevo >killed.txt
expect_same undisturbed.txt killed.txt
expect_same undisturbed.hsaco killed.hsaco
