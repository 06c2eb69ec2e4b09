. "$(dirname "$0")/common.sh"
twice
optimize() { asmevo optimize twice.hsaco --launch twice.json -o out.hsaco --force --driver llm --provider openai --model m1 --budget 9 "$@"; }

# Each answer takes 3100 tokens, as the server counts.
serve_model good
expect_exit 0 optimize --token-budget 11000 --json
expect_json out
expect_text 'the budget of 11000 tokens is spent'
first=$(wc -l <requests.jsonl)
[ "$first" -ge 2 ] && [ "$first" -le 3 ] || fail "$first requests"
[ "$(json out '$.spent.input_tokens')" -eq $((3000 * first)) ] || fail 'wrong account'
# The last one was not allowed to write more than what was left.
python3 -c 'import json
longest = [json.loads(line)["longest"] for line in open("requests.jsonl")]
assert longest == sorted(longest, reverse=True) and longest[-1] < 11000, longest' || fail 'answers may be too long'
# The account outlives the session, until there is a new budget.
expect_exit 0 asmevo optimize --resume out.hsaco.asmevo
expect_text 'the budget of 11000 tokens is spent'
[ "$(wc -l <requests.jsonl)" -eq "$first" ] || fail 'more was spent after the budget'
expect_exit 0 asmevo optimize --resume out.hsaco.asmevo --token-budget 100000
[ "$(wc -l <requests.jsonl)" -gt "$first" ] || fail 'the new budget was not used'

# Money: at the prices of the configuration file.
expect_exit 2 optimize --cost-budget 1
expect_text 'no price of model m1 is known'
mkdir -p config/asmevo
echo '{"providers": {"openai": {"prices": {"m1": {"input": 10, "output": 100}}}}}' >config/asmevo/config.json
serve_model good
expect_exit 0 optimize --cost-budget 0.2 --json
expect_text 'the budget of 0.2 is spent'
python3 -c 'import json
spent = json.load(open("out"))["spent"]["cost"]
assert 0 < spent <= 0.2, spent' || fail 'more was spent than allowed'

# Wrong usage.
expect_exit 2 asmevo optimize twice.hsaco --launch twice.json -o x.hsaco --driver llm --model m1
expect_text 'needs --provider'
expect_exit 2 asmevo optimize twice.hsaco --launch twice.json -o x.hsaco --driver llm --provider nobody --model m1
expect_text 'no such provider'
expect_exit 2 asmevo optimize twice.hsaco --launch twice.json -o x.hsaco --model m1
expect_text 'for --driver llm'
