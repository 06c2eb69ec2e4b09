. "$(dirname "$0")/common.sh"
twice
path_of() { case $1 in openai) echo /v1/chat/completions ;; openai-responses) echo /v1/responses ;; anthropic) echo /v1/messages ;; esac; }
for provider in openai openai-responses anthropic; do
  serve_model chat good zeros include tolerant good
  expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o $provider.hsaco --driver llm --provider $provider --model m1 --budget 5
  expect_text 'tokens in'
  expect_exit 0 asmevo verify twice.hsaco $provider.hsaco --launch twice.json --seed 99
  grep -q "\"path\": \"$(path_of $provider)\"" requests.jsonl || fail "the wrong path: $(cat requests.jsonl)"
  grep -q "$TEST_API_KEY" requests.jsonl || fail 'no key was sent'
  # A refused answer comes back with the reason, in the same conversation, and costs no evaluation.
  [ "$(sed -n 2p requests.jsonl | grep -c '"turns": 3')" -eq 1 ] || fail 'the refusal was not told'
  [ "$(wc -l <requests.jsonl)" -eq 7 ] || fail "not 7 requests: $(cat requests.jsonl)"
  outcomes=$(sqlite3 $provider.hsaco.asmevo/lineage.sqlite 'SELECT group_concat(outcome) FROM (SELECT outcome FROM attempts ORDER BY number)')
  [ "$outcomes" = accepted,divergence,static_inconsistency,accepted,accepted ] || fail "outcomes: $outcomes"
  expect_exit 0 asmevo lineage $provider.hsaco.asmevo --proposals
  cp out proposals.jsonl
  head -1 proposals.jsonl >first.json
  [ "$(json first.json '$.origin.model')" = m1 ] || fail 'no model in the record'
  [ "$(json first.json '$.origin.input_tokens')" = 6000 ] || fail 'the tokens of both answers are not in the record'
  expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o again.hsaco --force --driver replay --proposals proposals.jsonl --budget 5
  story $provider.hsaco.asmevo >first.txt
  story again.hsaco.asmevo >second.txt
  expect_same first.txt second.txt
  expect_same $provider.hsaco again.hsaco
  ! grep -rq "$TEST_API_KEY" $provider.hsaco.asmevo || fail 'the key is stored with the run'
done
