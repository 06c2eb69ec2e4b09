. "$(dirname "$0")/common.sh"
twice
optimize() { asmevo optimize twice.hsaco --launch twice.json -o out.hsaco --force --driver llm --provider openai-responses --model m1 --budget ${budget:-1} "$@"; }
requests() { wc -l <requests.jsonl; }

# Passing trouble of every kind, and then an answer. The time that the server asks for is kept.
serve_model 500 429:2 truncated good
expect_exit 0 optimize
[ "$(requests)" -eq 4 ] || fail "$(requests) requests"
waited=$(python3 -c 'import json
times = [json.loads(line)["time"] for line in open("requests.jsonl")]
print(times[2] - times[1] >= 1.9)')
[ "$waited" = True ] || fail 'Retry-After was not kept'

serve_model malformed endless odd good
expect_exit 0 optimize
[ "$(requests)" -eq 4 ] || fail "$(requests) requests"

# A server that hangs is left after a while; the answer of the next request counts.
serve_model hang good
expect_exit 0 optimize --answer-timeout 1

# What does not pass is not tried again, and costs no run.
for step in 401 broke moved; do
  serve_model $step
  expect_exit 2 optimize
  [ "$(requests)" -eq 1 ] || fail "$step was tried again"
  expect_no_text "$TEST_API_KEY"
  [ ! -e out.hsaco.asmevo/lineage.sqlite ] || fail "$step left a run without evaluations behind"
done
serve_model 429:86400
expect_exit 2 optimize
expect_text 'asks to wait 86400 s'
expect_no_text "$TEST_API_KEY"

# Who only talks, or sends nonsense for ever.
serve_model chat
expect_exit 2 optimize
expect_text 'no JSON object'
serve_model done
expect_exit 0 optimize
expect_text 'no more ideas'

# In the middle of a run: the best version is kept, and the run goes on when the server is back.
serve_model good 401
budget=3 expect_exit 0 optimize
expect_text 'driver stopped'
expect_different out.hsaco twice.hsaco
serve_model good
expect_exit 0 asmevo optimize --resume out.hsaco.asmevo
[ "$(sqlite3 out.hsaco.asmevo/lineage.sqlite 'SELECT count(*) FROM attempts')" -eq 3 ] || fail 'the run did not go on'

# Ctrl-C while nobody answers.
serve_model hang
"$ASMEVO" optimize twice.hsaco --launch twice.json -o out.hsaco --force --driver llm --provider openai --model m1 >out 2>err &
search=$!
for _ in $(seq 100); do [ -f requests.jsonl ] && break; sleep 0.1; done
kill -INT $search
status=0
wait $search || status=$?
[ $status -eq 130 ] || fail "exit status $status"
expect_text 'asmevo optimize --resume'
