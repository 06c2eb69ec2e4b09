. "$(dirname "$0")/common.sh"
twice
delays 70 >proposals.jsonl
common="twice.hsaco --launch twice.json --driver replay --proposals proposals.jsonl --budget 70"
expect_exit 0 asmevo optimize $common -o undisturbed.hsaco
"$ASMEVO" optimize $common -o stopped.hsaco >out 2>err &
pid=$!
until [ "$(sqlite3 stopped.hsaco.asmevo/lineage.sqlite 'SELECT count(*) >= 8 FROM attempts' 2>/dev/null)" = 1 ]; do
  kill -0 $pid || fail 'it ended before it could be interrupted'
  sleep 0.02
done
kill -INT $pid
wait $pid
[ $? -eq 130 ] || fail 'the exit status is not 130'
expect_text 'asmevo optimize --resume stopped.hsaco.asmevo'
[ ! -e stopped.hsaco ] || fail 'an output was written'
before=$(sqlite3 stopped.hsaco.asmevo/lineage.sqlite 'SELECT count(*) FROM attempts')
[ "$before" -lt 70 ] || fail 'it was not interrupted'
expect_exit 0 asmevo optimize --resume stopped.hsaco.asmevo
story undisturbed.hsaco.asmevo >undisturbed.txt
story stopped.hsaco.asmevo >stopped.txt
expect_same undisturbed.txt stopped.txt
expect_same undisturbed.hsaco stopped.hsaco
