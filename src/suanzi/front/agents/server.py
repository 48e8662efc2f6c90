"""The tools over MCP, on standard input and output; with mcp 1.x and 2.x.

A call of judge or truth has a process of its own, which is ended when the call is cancelled: what
a kernel does, or how much memory an answer takes, does not end the server.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from inspect import signature
from typing import Any, BinaryIO, cast

import anyio
import anyio.lowlevel
import anyio.to_thread
import mcp.types
from anyio.abc import Process
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from pydantic import ValidationError

from suanzi._core import VERSION
from suanzi.base.hints import cut, nearest
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.base.text import ending, printable
from suanzi.front.agents.tools import SECONDS, Answer, Tool, check, tools
from suanzi.front.agents.wire import Answers, Requests

INSTRUCTIONS = (
    "judge decides whether a kernel computes an operator correctly; never choose a tolerance "
    "yourself. truth gives the exact answer for given inputs. explain shows which dtype operands "
    "are promoted to in a framework, and why."
)
_LONGEST_WORDS = 2000
"""Characters of an error: a call may be as long as it likes, and is not repeated whole."""
_NO_UNICODE = re.compile("[\ud800-\udfff]")
"""Halves of characters, which mcp cannot write; a kernel may say them."""
_AT_ONCE = 16
"""Calls that have a process at the same time; others wait."""
_limits = anyio.lowlevel.RunVar[anyio.CapacityLimiter]("limits")
_ENDING_SECONDS = 10.0
"""How long a process that is to end has for ending what it started."""


def serve() -> None:
    """Serve until the client ends."""
    anyio.run(_serve)


async def _serve() -> None:
    server = _server()
    with _standard_streams() as (given, taken):
        answers = Answers(taken)
        requests: Any = Requests(given, _is_request, answers)
        async with stdio_server(requests, cast(Any, answers)) as (read, write):
            await server.run(read, write, server.create_initialization_options())


@contextmanager
def _standard_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Give standard input and output to the protocol alone: what else is printed is no message."""
    sys.stdout.flush()
    kept = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    try:
        yield os.fdopen(kept[0], "rb"), os.fdopen(kept[1], "wb")
    finally:
        for number, descriptor in enumerate(kept):
            os.dup2(descriptor, number)


def _is_request(line: str) -> bool:
    """Say whether mcp reads a line as a request; raise ValueError where it cannot read it."""
    adapter = getattr(mcp.types, "jsonrpc_message_adapter", None)
    try:
        if adapter is not None:
            return isinstance(adapter.validate_json(line, by_name=False), mcp.types.JSONRPCRequest)
        message: Any = mcp.types.JSONRPCMessage
        found = message.model_validate_json(line)
        return isinstance(found.root, mcp.types.JSONRPCRequest)
    except ValidationError as error:
        raise ValueError(error.errors(include_url=False)[0]["msg"]) from None


def _server() -> Any:
    """Return a server with the handlers; mcp 2 takes them as arguments, mcp 1 by decorators."""
    known: dict[str, Any] = {"version": VERSION, "instructions": INSTRUCTIONS}
    listed = [mcp.types.Tool.model_validate(_described(one)) for one in tools()]
    make: Any = Server
    if "on_call_tool" in signature(Server.__init__).parameters:

        async def list_tools(context: Any, params: Any) -> Any:
            return mcp.types.ListToolsResult(tools=listed)

        async def call_tool(context: Any, params: Any) -> Any:
            return await _result(params.name, params.arguments or {})

        return make("suanzi", on_list_tools=list_tools, on_call_tool=call_tool, **known)
    server = make("suanzi", **known)

    async def list_tools_1() -> Any:
        return listed

    server.list_tools()(list_tools_1)
    server.call_tool(validate_input=False)(_result)
    return server


def _described(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name, "title": tool.title, "description": tool.description,
        "inputSchema": tool.takes, "outputSchema": tool.returns,
    }  # fmt: skip


async def _result(name: str, arguments: dict[str, Any]) -> Any:
    """Return what a tool answers; what is wrong is an error with words, and the server stays."""
    try:
        data, text = await call(name, arguments)
    except Exception as error:
        words = str(error) if isinstance(error, StatusError) else f"{type(error).__name__}: {error}"
        words = printable(cut(words, _LONGEST_WORDS))
        return mcp.types.CallToolResult.model_validate(
            {"content": [{"type": "text", "text": words}], "isError": True}
        )
    written = _NO_UNICODE.sub("\ufffd", json.dumps(data, ensure_ascii=False))
    data, text = json.loads(written), _NO_UNICODE.sub("\ufffd", text)
    said = (text, written)
    return mcp.types.CallToolResult.model_validate(
        {"content": [{"type": "text", "text": one} for one in said], "structuredContent": data}
    )


async def call(name: str, arguments: Mapping[str, Any]) -> Answer:
    """Call a tool by its name."""
    known = {one.name: one for one in tools()}
    if name not in known:
        raise InvalidArgument(
            f"there is no tool {name!r}; there are {', '.join(known)}.{nearest(name, known)}"
        )
    tool = known[name]
    check(tool, arguments)
    if not tool.apart:
        found: Answer = await anyio.to_thread.run_sync(tool.call, arguments)
        return found
    async with _limit():
        return await _apart(tool, arguments)


def _limit() -> anyio.CapacityLimiter:
    try:
        return _limits.get()
    except LookupError:
        _limits.set(anyio.CapacityLimiter(_AT_ONCE))
        return _limits.get()


async def _apart(tool: Tool, arguments: Mapping[str, Any]) -> Answer:
    """Call a tool in a process, and end that with everything below it if the call is cancelled."""
    command = [sys.executable, "-m", "suanzi.front.agents.worker", tool.name]
    async with AsyncExitStack() as stack:
        process = await anyio.open_process(command, start_new_session=True)
        stack.push_async_callback(_end, process)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        answer, errors = bytearray(), bytearray()
        async with anyio.create_task_group() as group:
            group.start_soon(_read, process.stderr, errors)
            limit = arguments.get("seconds", SECONDS) if tool.name == "truth" else None
            with anyio.move_on_after(limit) as scope:
                await process.stdin.send(json.dumps(arguments).encode())
                await process.stdin.aclose()
                await _read(process.stdout, answer)
                await process.wait()
            if scope.cancelled_caught:
                group.cancel_scope.cancel()
    if scope.cancelled_caught:
        raise InvalidArgument(
            f"{tool.name}: no answer within {limit:g} seconds; give smaller inputs or more time."
        )
    return _read_answer(tool, process, bytes(answer), bytes(errors))


def _read_answer(tool: Tool, process: Process, answer: bytes, errors: bytes) -> Answer:
    try:
        found = json.loads(answer)
    except ValueError:
        last = (errors.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(
            f"{tool.name}: its process ended with {ending(process.returncode or 0)}: {last}"
        ) from None
    if "error" in found:
        raise InvalidArgument(found["error"])
    return Answer(found["data"], found["text"])


async def _read(stream: Any, into: bytearray) -> None:
    async for part in stream:
        into += part


async def _end(process: Process) -> None:
    """End a process that runs: by a signal that lets it clean up, then by force."""
    with anyio.CancelScope(shield=True):
        if process.returncode is None:
            process.terminate()
            with anyio.move_on_after(_ENDING_SECONDS):
                await process.wait()
        if process.returncode is None:
            process.kill()
        await process.aclose()
