"""``suanzi mcp`` as a client sees it: a session over standard input and output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from suanzi.front.agents.tools import tools
from suanzi.front.cli import main

SERVER = ["-m", "suanzi", "mcp"]
GOOD = """
import numpy as np
def softmax(x):
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)
"""
KERNELS = {
    "JD002": "import os\ndef f(x):\n    os.abort()",
    "JD003": "import time\ndef f(x):\n    print('x' * 100_000)\n    time.sleep(500)",
    "JD001": "import numpy as np\ndef f(x):\n    return np.ones(2**40)",
}
SMALL = {"op": "softmax", "dtypes": ["float32"], "shapes": [[2, 5]], "timeout": 0.5}


def test_without_the_package_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "suanzi.front.agents.server", raising=False)
    assert main(["mcp"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "pip install 'suanzi[mcp]'" in said.err


@asynccontextmanager
async def session() -> Any:
    mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")
    server = mcp.StdioServerParameters(command=sys.executable, args=SERVER, cwd=os.getcwd())
    async with mcp.stdio_client(server) as streams, mcp.ClientSession(*streams) as found:
        await found.initialize()
        yield found


def run(function: Callable[[Any], Awaitable[None]]) -> None:
    """Call a function with a session."""
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    import anyio

    async def whole() -> None:
        async with session() as one:
            await function(one)

    anyio.run(whole)


async def call(client: Any, name: str, arguments: dict[str, Any]) -> tuple[bool, str, Any]:
    """Return whether a call failed, its first text, and its data."""
    made = (await client.call_tool(name, arguments)).model_dump(by_alias=True)
    texts = [one["text"] for one in made["content"]]
    if not made["isError"]:
        assert json.loads(texts[1]) == made["structuredContent"]
    return made["isError"], texts[0], made["structuredContent"]


def test_a_session(tmp_path: Path) -> None:
    """Good calls, kernels that crash, hang and take all memory, bad calls; and it still answers."""
    (tmp_path / "k.py").write_text(GOOD)

    async def use(client: Any) -> None:
        import anyio

        listed = (await client.list_tools()).model_dump(by_alias=True)["tools"]
        assert {one["name"]: one["inputSchema"] for one in listed} == {
            one.name: one.takes for one in tools()
        }
        found: dict[str, Any] = {}

        async def judge(key: str, **more: Any) -> None:
            found[key] = await call(client, "judge", {**SMALL, **more})

        async with anyio.create_task_group() as group:  # at once: each has its own process
            group.start_soon(lambda: judge("good", kernel=f"{tmp_path}/k.py::softmax", timeout=30))
            for code, source in KERNELS.items():
                group.start_soon(lambda code=code, source=source: judge(code, source=source))
        failed, text, data = found.pop("good")
        assert (failed, data["right"]) == (False, True), text
        assert "k.py::softmax is right as nn:softmax" in text
        for code, (failed, text, data) in found.items():
            assert not failed, text
            assert (data["right"], data["findings"][0]["code"]) == (False, code), text
            jsonschema.validate(data, next(t.returns for t in tools() if t.name == "judge"))

        given = {"op": "softmax", "inputs": [{"values": [0, 1], "dtype": "bf16"}]}
        failed, text, data = await call(client, "truth", given)
        assert data["outputs"][0]["values"] == [0.26953125, 0.73046875]
        failed, text, _ = await call(client, "truth", {**given, "seconds": 0.01})
        assert (failed, "no answer within 0.01 seconds" in text) == (True, True)
        failed, text, _ = await call(client, "truth", {**given, "op": "softmx"})
        assert failed
        assert "Did you mean 'softmax'?" in text
        for name, arguments, said in (
            ("judge", {**SMALL, "source": 3}, "source is 3; expected: The text of a Python"),
            ("judge", {}, "judge: 'op' is missing: The operator"),
            ("explain", {"operands": ["int33"]}, "int33"),
            ("explian", {}, "there is no tool 'explian'; there are explain, judge, truth."),
        ):
            failed, text, _ = await call(client, name, arguments)
            assert failed
            assert said in text
        failed, text, data = await call(client, "explain", {"operands": ["i32", "bf16"]})
        assert data["explanations"][0]["dtype"] == "bfloat16"

    run(use)


def processes(mark: str) -> Iterator[int]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                text = Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in text:
                yield int(name)


def wait_until(condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + 30
    while not condition() and time.monotonic() < until:
        time.sleep(0.1)
    return condition()


def started(source: str) -> subprocess.Popen[str]:
    """Return a server that judges a kernel, after a line that is no message."""
    server = subprocess.Popen(
        [sys.executable, *SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    hello = {"protocolVersion": "2025-06-18", "capabilities": {},
             "clientInfo": {"name": "test", "version": "1"}}  # fmt: skip
    server.stdin.write("this is not JSON\n")  # it lives on
    for number, method, params in (
        (1, "initialize", hello),
        (None, "notifications/initialized", {}),
        (2, "tools/call",
         {"name": "judge", "arguments": {**SMALL, "source": source, "timeout": 400}}),
    ):  # fmt: skip
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        if number is None:
            del message["id"]
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        while number == 1 and json.loads(server.stdout.readline()).get("id") != 1:
            pass
    return server


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")
@pytest.mark.parametrize("by_force", [False, True])
def test_a_server_that_ends_leaves_nothing(by_force: bool) -> None:
    """A kernel hangs and has started a process; the client leaves, or kills the server."""
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    mark = f"mark-{uuid.uuid4().hex}"
    source = (
        "import subprocess, sys, time\ndef f(x):\n"
        "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(500)', "
        f"'{mark}'], start_new_session=True)\n"
        "    while True: time.sleep(1)\n"
    )
    server = started(source)
    try:
        assert wait_until(lambda: bool(list(processes(mark))))
        if by_force:
            server.kill()
        assert server.stdin is not None
        server.stdin.close()
        server.wait(60)
        assert wait_until(lambda: not list(processes(mark)))
    finally:
        server.kill()
        server.wait()
        assert server.stdout is not None
        server.stdout.close()
