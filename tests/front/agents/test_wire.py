"""`suanzi mcp` answers every request, whatever it is, soon, and repeats little of it."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.mcp_client import Client, request
from suanzi.base.hints import nearest
from suanzi.front.agents import tools as of_agents

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mcp") is None, reason="the extra mcp is not installed"
)
LONG = "q" * 20_000_000
MOST = 10_000
"""Bytes of an answer to what is wrong."""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client() as found:
        yield found


def raw(
    number: str = "1", method: str = '"ping"', params: str = "{}", version: str = '"2.0"'
) -> str:
    return f'{{"jsonrpc": {version}, "id": {number}, "method": {method}, "params": {params}}}'


def nested(depth: int) -> str:
    return raw("5", '"tools/call"', '{"name": "explain", "arguments": ' + "[" * depth + "]" * depth
               + "}")  # fmt: skip


# Lines, the id of the answer, and what it says.
REFUSED: dict[str, tuple[str | bytes, Any, str]] = {
    "half a character as name": (raw("2", '"tools/call"', r'{"name": "\ud800"}'), 2, "not read"),
    "half a character as id": (raw(r'"\udc00"'), "\udc00", "not read"),
    "half a character as method": (raw("1", r'"\ud800"'), 1, "not read"),
    "id 1.5": (raw("1.5"), 1.5, "the id is 1.5"),
    "id 1e2": (raw("1e2"), 100.0, "the id is 100.0"),
    "id null": (raw("null"), None, "the id is None"),
    "id true": (raw("true"), None, "the id is True"),
    "id list": (raw("[1]"), None, r"the id is [1]"),
    "id object": (raw('{"a": 1}'), None, "the id is {'a': 1}"),
    "id NaN": (raw("NaN"), None, "the id is nan"),
    "id infinite": (raw("1e999"), None, "the id is inf"),
    "id of 5000 digits": (raw("1" * 5000), None, "not JSON that is read"),
    "long id": (raw('"' + "x" * 5000 + '"'), None, "the id is a str"),
    "params list": (raw(params="[1, 2]"), 1, "params is [1, 2]"),
    "params null": (raw(params="null"), 1, "params is None"),
    "params text": (raw(params='"x"'), 1, "params is 'x'"),
    "no method": ('{"jsonrpc": "2.0", "id": 3}', 3, "no method"),
    "method 5": (raw("3", "5"), 3, "the method is 5"),
    "method unknown": (raw("3", '"no/such"'), 3, ""),
    "method long": (raw("3", '"' + LONG + '"'), 3, ""),
    "no version": ('{"id": 3, "method": "ping"}', 3, "jsonrpc is None"),
    "version 1": (raw("3", version='"1.0"'), 3, "jsonrpc is '1.0'"),
    "number": ("5", None, "the message is 5"),
    "text": ('"x"', None, "the message is 'x'"),
    "null": ("null", None, "the message is None"),
    "nothing in it": ("{}", None, "no method"),
    "empty batch": ("[]", None, "on a line of its own"),
    "batch of numbers": ("[1, 2]", None, "on a line of its own"),
    "notification with an id": (raw("3", '"notifications/initialized"'), 3, ""),
    "deep": (nested(150), 5, ""),
    "deeper": (nested(300), 5, "not read"),
    "deepest": (nested(100_000), 5, "not JSON"),
    "open lists": (raw("6", '"ping"')[:-1] + ', "x": ' + "[" * 100_000, 6, "not JSON"),
    "id last": ('{"method": "ping", "params": ' + "[" * 90_000 + "]" * 90_000 + ', "id": 7}', 7,
                "not JSON"),
    "cut": (raw("8")[:-5], 8, "not JSON"),
    "not UTF-8": (raw("9").encode().replace(b"ping", b"p\xffng"), 9, "not UTF-8"),
    "an id that is not UTF-8": (raw('"?"').encode().replace(b"?", b"\xed\xa0\x80"), None,
                                "not UTF-8"),
    "mark of order": (b"\xef\xbb\xbf" + raw("10").encode(), 10, "BOM"),
    "too long": (raw("11") + " " * (1 << 26), 11, "at most 67,108,864 bytes"),
    "request and error": (raw("12")[:-1] + ', "error": {"code": 1, "message": "m"}}', 12, ""),
    "no name": (raw("13", '"tools/call"'), 13, ""),
    "arguments list": (raw("13", '"tools/call"', '{"name": "explain", "arguments": [1]}'), 13, ""),
    "initialize again": (raw("14", '"initialize"'), 14, ""),
    "token": (raw("15", params='{"_meta": {"progressToken": [1]}}'), 15, ""),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_every_request_has_an_answer(client: Client, kind: str) -> None:
    line, number, said = REFUSED[kind]
    client.send(line if isinstance(line, bytes) else line.encode("utf-8"))
    text = client.line()
    answer = json.loads(text)
    assert len(text) < MOST
    assert answer["id"] == number
    error = answer.get("error") or {"message": answer["result"]["content"][0]["text"]}
    assert said in error["message"]


def test_a_batch_has_an_answer_for_each(client: Client) -> None:
    one = json.loads(raw("1"))
    batch = [one, {**one, "id": "b"}, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    found = client.asked(json.dumps(batch).encode())
    assert [answer["id"] for answer in found] == [1, "b"]
    found = client.asked(json.dumps([one] * 1000).encode())
    assert found["id"] is None


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc": "2.0", "method": "notifications/no/such"}',
        b'{"jsonrpc": "2.0", "method": "notifications/initialized", "params": [1, 2]}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}}',
        b'{"jsonrpc": "2.0", "id": 1, "result": 5}',
        b'{"jsonrpc": "2.0", "id": 1.5, "error": {"code": "x"}}',
        b"", b"   ", b"\t",
    ],
)  # fmt: skip
def test_what_is_no_request_has_no_answer(client: Client, line: bytes) -> None:
    assert client.answers(line) == []


@pytest.mark.parametrize(
    "number", [0, -1, 2**31, 2**64, 10**30, "", "7", "x" * 1024, "\u7b97", "\U0001d7d9"]
)
def test_ids_come_back(client: Client, number: Any) -> None:
    assert client.asked(request(number, "ping")) == {"jsonrpc": "2.0", "id": number, "result": {}}


def test_the_last_of_keys_that_are_twice_there_counts(client: Client) -> None:
    assert client.asked(b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}')["id"] == 2


TENSOR = {"values": [1, 2]}
WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "tool": (LONG, {}),
    "argument": ("explain", {LONG: 1}),
    "dtype": ("explain", {"operands": [LONG]}),
    "rules": ("explain", {"operands": ["i8"], "rules": LONG}),
    "rules of zero": ("explain", {"operands": ["i8"], "rules": "a\0b"}),
    "op": ("explain", {"operands": ["i8"], "op": LONG}),
    "like": ("explain", {"operands": ["i8"], "like": LONG}),
    "operands": ("explain", {"operands": ["i8"] * 100_000}),
    "dtype of a tensor": ("truth", {"op": "softmax", "inputs": [{**TENSOR, "dtype": LONG}]}),
    "op of truth": ("truth", {"op": LONG, "inputs": [TENSOR]}),
    "file": ("truth", {"op": "softmax", "inputs": [{"npy": LONG}]}),
    "file of zero": ("truth", {"op": "softmax", "inputs": [{"npy": "a\0b"}]}),
    "file without end": ("truth", {"op": "softmax", "inputs": [{"npy": "/dev/zero"}]}),
    "parameter": ("truth", {"op": "softmax", "inputs": [TENSOR], "params": {LONG: 1}}),
    "value": ("truth", {"op": "softmax", "inputs": [{"values": [LONG]}]}),
    "number": ("truth", {"op": "softmax", "inputs": [{"values": [10**4000]}]}),
    "output": ("truth", {"op": "softmax", "inputs": [TENSOR], "output": "a\0.npy"}),
    "source": ("judge", {"op": "softmax", "source": LONG}),
    "name": ("judge", {"op": "softmax", "source": "def f(x): return x", "name": LONG}),
    "kernel": ("judge", {"op": "softmax", "kernel": LONG}),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_long_is_cut(client: Client, kind: str) -> None:
    name, arguments = WRONG[kind]
    client.send(request(1, "tools/call", name=name, arguments=arguments))
    text = client.line()
    found = json.loads(text)
    assert len(text) < MOST
    assert found["result"]["isError"]
    words = found["result"]["content"][0]["text"]
    assert "RuntimeError" not in words, words


def test_a_kernel_may_say_half_a_character(client: Client) -> None:
    source = "def f(x):\n    raise ValueError('\\ud800')\n"
    given = {"op": "softmax", "source": source, "dtypes": ["float32"], "shapes": [[2]]}
    found = client.asked(request(1, "tools/call", name="judge", arguments=given))["result"]
    assert "ValueError: \ufffd" in found["content"][0]["text"]
    assert client.asked(request(2, "ping"))["id"] == 2


def test_names_are_compared_with_what_they_may_be() -> None:
    assert nearest("softmx", ["softmax"]) == " Did you mean 'softmax'?"
    assert nearest(LONG, ["softmax"] * 1000) == ""
    assert nearest("softmax", [LONG, "softmax"]) == " Did you mean 'softmax'?"
    assert nearest(LONG, [LONG[:-1]]) == ""
    assert nearest("x" * 100, (f"{i}" * 100 for i in range(10**9))) == ""
    with pytest.raises(of_agents.InvalidArgument, match="no argument"):
        of_agents.check(of_agents.tools()[0], {LONG: 1})
