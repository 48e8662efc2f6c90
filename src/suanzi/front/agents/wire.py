"""Messages of MCP as lines: what the package mcp leaves unanswered is answered here.

It drops what it cannot read, and takes a request whose id is 1.5 for a notification: the client
then waits for ever. Here each line is read first. What is no request that mcp answers gets an error
of JSON-RPC, with the request's id where that can be found; mcp receives everything else.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, BinaryIO

import anyio
import anyio.to_thread

from suanzi.base.hints import cut, shown

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
LONGEST_LINE = 1 << 26
"""Bytes of a message: a tensor of a million elements has some twenty million."""
LONGEST_ID = 1024
MOST_OF_A_BATCH = 100
LONGEST_ERROR = 2000
"""Characters of each text of an error."""

Reads = Callable[[str], bool]
"""Says whether mcp reads a line as a request; raises ValueError where it cannot read it."""

_KEY_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_ID = r'\s*:\s*(-?\d{1,4000}(?:\.\d{1,40})?|"(?:[^"\\]|\\.){0,1024}")\s*'
_ID_HERE = re.compile(_ID + "[,}]")
_ID_LAST = re.compile(rf'"id"{_ID}(?:,\s*"\w+"\s*:\s*"[^"\\]*"\s*)*\}}\s*$')
_LOOKED_AT = 1 << 14
"""Characters at the beginning and the end of what is no JSON in which its id is looked for."""


def unanswered(line: bytes, reads: Reads) -> Any:
    """Return the answer to a line that mcp does not answer; None where it does, or none is due.

    >>> unanswered(b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', lambda line: False)["id"]
    1.5
    >>> unanswered(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', lambda line: True)
    """
    if len(line) > LONGEST_LINE:
        return _error(
            _id_of(line.decode(errors="surrogateescape")), INVALID_REQUEST,
            f"a message has at most {LONGEST_LINE:,} bytes; give large tensors as files.",
        )  # fmt: skip
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        found = _id_of(line.decode(errors="surrogateescape"))
        return _error(found, PARSE_ERROR, f"the message is not UTF-8: {error}")
    if not text.strip():
        return None
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _error(_id_of(text), PARSE_ERROR, f"the message is not JSON that is read: {error}")
    if isinstance(given, list):
        return _of_a_batch(given)
    return _of_one(given, text, reads)


def _of_one(given: Any, text: str, reads: Reads) -> Any:
    """Return the answer to a message."""
    if not isinstance(given, dict):
        said = f"the message is {shown(given)}; a request is an object."
        return _error(None, INVALID_REQUEST, said)
    if "id" not in given and "method" in given:
        return None  # a notification, which has no answer
    if "method" not in given and {"result", "error"} & given.keys():
        return None  # the answer to a request, which has none either
    number, code = _echoed(given.get("id")), INVALID_REQUEST
    if "method" not in given:
        said = "the request has no method."
    elif not isinstance(given["method"], str):
        said = f"the method is {shown(given['method'])}; give its name."
    elif not _is_id(given["id"]):
        said = f"the id is {shown(given['id'])}; give a whole number or a string."
    elif given.get("jsonrpc") != "2.0":
        said = f"jsonrpc is {shown(given.get('jsonrpc'))}; give '2.0'."
    elif not isinstance(given.get("params", {}), dict):
        code = INVALID_PARAMS
        said = f"params is {shown(given['params'])}; give an object of arguments by their names."
    else:
        try:
            if reads(text):
                return None
            said = "it is not read as a request; leave out what is not id, method and params."
        except ValueError as error:
            said = f"the request is not read: {error}"
    return _error(number, code, said)


def _of_a_batch(given: list[Any]) -> Any:
    """Return the answer to a list of messages, which MCP no longer has."""
    said = "a list of messages is not taken; send each on a line of its own."
    ids = [_echoed(one["id"]) for one in given if isinstance(one, dict) and "id" in one]
    if not 0 < len(ids) <= MOST_OF_A_BATCH:
        return _error(None, INVALID_REQUEST, said)
    return [_error(one, INVALID_REQUEST, said) for one in ids]


def _is_id(x: Any) -> bool:
    return isinstance(x, int | str) and not isinstance(x, bool) and _echoed(x) is not None


def _echoed(x: Any) -> Any:
    """Return an id as an answer has it: None for what no answer can have."""
    if isinstance(x, str):
        return x if len(x) <= LONGEST_ID else None
    if isinstance(x, float):
        return x if math.isfinite(x) else None
    return x if type(x) is int and x.bit_length() <= LONGEST_ID else None


def _id_of(text: str) -> Any:
    """Return the id of a request that is no JSON, or too deep or too long; None if not found."""
    depth = 0
    for found in _KEY_OR_BRACKET.finditer(text[:_LOOKED_AT]):
        word = found.group()
        depth += (word in "{[") - (word in "}]")
        here = _ID_HERE.match(text, found.end()) if (depth, word) == (1, '"id"') else None
        if here is not None:
            return _read_id(here.group(1))
    last = _ID_LAST.search(text[-_LOOKED_AT:])
    return None if last is None else _read_id(last.group(1))


def _read_id(text: str) -> Any:
    if not text.isascii() and any("\udc80" <= c <= "\udcff" for c in text):
        return None  # bytes that are not UTF-8: an answer has nobody else's id
    try:
        return _echoed(json.loads(text))
    except ValueError:
        return None


def _error(number: Any, code: int, said: str) -> dict[str, Any]:
    error = {"code": code, "message": cut(said, LONGEST_ERROR)}
    return {"jsonrpc": "2.0", "id": number, "error": error}


def shortened(line: str) -> str:
    """Return a line that mcp answers, with the texts of an error cut: it may repeat the request."""
    if len(line) <= LONGEST_ERROR:
        return line
    said = json.loads(line)
    if "error" not in said:
        return line
    error = said["error"]
    for name, value in error.items():
        if name != "code":
            text = value if isinstance(value, str) else json.dumps(value)
            error[name] = cut(text, LONGEST_ERROR) if len(text) > LONGEST_ERROR else value
    return json.dumps(said) + "\n"


class Answers:
    """Where answers go, a line each, from mcp and from here."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._lock = stream, anyio.Lock()

    async def write(self, line: str) -> None:
        """Write a line of mcp."""
        await self._put(shortened(line).encode())

    async def answer(self, answer: Any) -> None:
        """Write an answer that was found here; ASCII has every text, even no Unicode."""
        await self._put(json.dumps(answer).encode() + b"\n")

    async def _put(self, line: bytes) -> None:
        def put() -> None:
            self._stream.write(line)
            self._stream.flush()

        async with self._lock:
            await anyio.to_thread.run_sync(put)

    async def flush(self) -> None:
        """Do nothing: each line is written at once."""


class Requests:
    """The lines that mcp receives; the others are answered as they are read."""

    def __init__(self, stream: BinaryIO, reads: Reads, answers: Answers) -> None:
        self._stream, self._reads, self._answers = stream, reads, answers

    def __aiter__(self) -> Requests:
        return self

    async def __anext__(self) -> str:
        while line := await anyio.to_thread.run_sync(self._line):
            answer = await anyio.to_thread.run_sync(unanswered, line, self._reads)
            if answer is None and line.strip():
                return str(line, "utf-8", "replace")
            if answer is not None:
                await self._answers.answer(answer)
        raise StopAsyncIteration

    def _line(self) -> bytes:
        """Return the next line: of one that is too long its beginning, and its end for the id."""
        line = self._stream.readline(LONGEST_LINE + 1)
        last, more = b"", line
        while more and not more.endswith(b"\n"):
            more = self._stream.readline(1 << 20)
            last = (last + more)[-_LOOKED_AT:]
        return line + last
