# A client of the Model Context Protocol for tests: starts `asmevo mcp`, speaks JSON-RPC over its pipes.
import json
import os
import queue
import subprocess
import sys
import threading

ASMEVO = os.environ["ASMEVO"]


def check(condition, message):
    if not condition:
        sys.exit(f"FAIL: {message}")


class Client:
    def __init__(self, *arguments, protocol="2025-11-25", handshake=True):
        self.process = subprocess.Popen([ASMEVO, "mcp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines = queue.Queue()
        self.next_id = 0
        self.notifications = []
        threading.Thread(target=self._read, daemon=True).start()
        if handshake:
            self.server = self.request("initialize", {"protocolVersion": protocol, "capabilities": {},
                                                      "clientInfo": {"name": "test", "version": "1"}})["result"]
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def receive(self, timeout=240):
        line = self.lines.get(timeout=timeout)
        check(line is not None, "the server closed its output")
        message = json.loads(line)
        check(message.get("jsonrpc") == "2.0", f"no JSON-RPC message: {line[:200]}")
        return message

    def answer(self, wanted):
        """The answer to request `wanted`; what comes before it must be notifications."""
        while True:
            message = self.receive()
            if "id" in message:
                check(message["id"] == wanted, f"an answer to {message['id']} instead of {wanted}")
                return message
            self.notifications.append(message)

    def begin(self, method, params=None):
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params or {}})
        return self.next_id

    def request(self, method, params=None):
        return self.answer(self.begin(method, params))

    def call(self, tool, arguments=None, token=None):
        """The result of a call, error results included."""
        params = {"name": tool, "arguments": arguments or {}}
        if token is not None:
            params["_meta"] = {"progressToken": token}
        message = self.request("tools/call", params)
        check("result" in message, f"{tool}: {message}")
        return message["result"]

    def good(self, tool, arguments=None, token=None):
        """The structured content of a call that must succeed."""
        result = self.call(tool, arguments, token)
        check(not result.get("isError"), f"{tool} {arguments}: {result['content'][0]['text']}")
        check(json.loads(result["content"][0]["text"]) == result["structuredContent"], f"{tool}: text and structure differ")
        return result["structuredContent"]

    def bad(self, tool, arguments=None):
        """What a call says that must fail."""
        result = self.call(tool, arguments)
        check(result.get("isError"), f"{tool} {arguments} did not fail: {json.dumps(result)[:300]}")
        return result["content"][0]["text"]

    def item(self, text):
        """The number of the first item whose text begins so."""
        kernel = self.good("inspect")
        lines = self.good("disassemble", {"first": kernel["first"], "last": kernel["last"]})["lines"]
        return next(line["item"] for line in lines if line["text"].startswith(text))

    def edit(self, first, last, text, version=None):
        """An edit of items [first, last) as they are now."""
        of_version = {} if version is None else {"version": version}
        window = self.good("disassemble", {"first": first, "last": last, **of_version})
        return {"first": first, "last": last, "base_hash": window["base_hash"], "text": text}

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=240)
