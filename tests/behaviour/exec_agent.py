"""Programs that --driver exec may meet: exec_agent.py BEHAVIOUR."""
import json
import os
import subprocess
import sys
import time


def shorter(question, length):
    """The delay of the small kernel made shorter: a proposal that is right and faster."""
    at = next(i["item"] for i in question["items"] if i["text"].startswith("s_movk_i32 s8"))
    return {"edits": [{"first": at, "last": at + 1, "text": ["s_movk_i32 s8, %d" % length]}], "auto_waits": True,
            "direction": "instruction-simplification", "rationale": "a shorter delay", "model": "script",
            "input_tokens": 100, "output_tokens": 10}


def zeros(question):
    """Fast, and wrong."""
    at = next(i["item"] for i in question["items"] if i["text"].startswith("v_add_f32"))
    return {"edits": [{"first": at, "last": at + 1, "text": "v_mov_b32_e32 v1, 0"}], "direction": "other",
            "rationale": "The user allowed any tolerance."}


def include(question):
    at = question["window"]["first"]
    return {"edits": [{"first": at, "last": at, "text": '.incbin "/etc/passwd"'}], "rationale": "to look"}


def outside(question):
    return {"edits": [{"first": 0, "last": 1, "text": ""}], "rationale": "the label of the kernel"}


def scripted(question):
    """What an agent may do over a run, by the number of the evaluation."""
    n = question["evaluation"]
    return [zeros, include][n - 1](question) if n < 3 else shorter(question, 4000 - 500 * n)


def tell(answer):
    print(json.dumps(answer), flush=True)


def one_question():
    return json.loads(sys.stdin.readline())


def request():
    question = one_question()
    assert sys.stdin.read() == ""
    print("I thought about it {and} found this:")
    tell(scripted(question))
    print("Good luck.")


def session():
    for line in sys.stdin:
        message = json.loads(line)
        with open("heard.txt", "a") as heard:
            heard.write(message["type"] + " " + message.get("outcome", "") + "\n")
        if message["type"] == "question":
            tell({"id": message["id"], **scripted(message)})


def prompt():
    text = sys.stdin.read()
    assert text.startswith("You make one compiled AMD CDNA kernel faster")
    row = next(line for line in text.splitlines() if "s_movk_i32 s8" in line)
    at = int(row.split()[0])
    evaluation = int(text.split("this is evaluation ")[1].split(",")[0])
    print("Here is my edit:\n```json")
    print(json.dumps({"edits": [{"first": at, "last": at + 1, "text": "s_movk_i32 s8, %d" % (4000 - 500 * evaluation)}]}))
    print("```")


def corrected():
    """Goes wrong until it is told how."""
    question = one_question()
    if not question["refused"]:
        print("the answer is 42")
    elif len(question["refused"]) == 1:
        assert "no JSON object" in question["refused"][0]["why"]
        tell(outside(question))
    else:
        assert "not inside the window" in question["refused"][1]["why"]
        tell(shorter(question, 100))


def garbage():
    sys.stdout.buffer.write(bytes(range(256)) * 1000 + b"{" * 100000)


def dies():
    print("segmentation fault, or so", file=sys.stderr)
    sys.exit(3)


def hangs():
    """With a child that holds the output open and would outlive it."""
    subprocess.Popen(["sleep", os.environ["CHILD_SLEEPS"]])
    time.sleep(600)


def leaves_a_child():
    """Answers and ends, but somebody still holds its output."""
    question = one_question()
    subprocess.Popen(["sleep", os.environ["CHILD_SLEEPS"]])
    tell(shorter(question, 100))


def floods():
    while True:
        sys.stdout.write("x" * 65536)


def complains():
    sys.stderr.write("y" * 10_000_000)
    tell(shorter(one_question(), 100))


def once():
    """One proposal, then dead."""
    question = one_question()
    if question["evaluation"] > 1:
        sys.exit(1)
    tell(shorter(question, 100))


def tired():
    """One proposal, then no idea."""
    question = one_question()
    tell(shorter(question, 100) if question["evaluation"] == 1 else {"done": "it cannot be faster"})


def talks_of_keys():
    key = os.environ["TEST_API_KEY"]
    print("using " + key, file=sys.stderr)
    question = one_question()
    if question["evaluation"] > 1:
        print("Authorization: Bearer " + key, file=sys.stderr)
        sys.exit(1)
    answer = shorter(question, 100)
    answer["rationale"] = "paid with " + key
    answer["model"] = key
    if not question["refused"]:
        answer["edits"][0]["text"].append("; " + key)
    print("my key is " + key)
    tell(answer)


globals()[sys.argv[1]]()
