"""A client of `suanzi mcp` that writes lines as they are, valid or not, and reads the answers."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from typing import Any

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {},
         "clientInfo": {"name": "test", "version": "1"}}  # fmt: skip


def request(number: Any, method: str, **params: Any) -> bytes:
    """Return a request as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


class Client:
    """A server of its own, initialized."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "suanzi", "mcp"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._rest = b""
        assert self.asked(request("hello", "initialize", **HELLO))["id"] == "hello"
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def send(self, line: bytes) -> None:
        """Write a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def line(self, seconds: float = 60) -> bytes:
        """Return the next line; raise if there is none in time."""
        assert self.process.stdout is not None
        stream, until = self.process.stdout.fileno(), time.monotonic() + seconds
        while b"\n" not in self._rest:
            if not select.select([stream], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError(f"no answer within {seconds:g} seconds")
            more = os.read(stream, 1 << 20)
            if not more:
                raise EOFError(f"the server ended with status {self.process.wait()}")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def asked(self, line: bytes, seconds: float = 60) -> Any:
        """Write a line and return the next answer."""
        self.send(line)
        return json.loads(self.line(seconds))

    def answers(self, line: bytes, seconds: float = 60) -> list[Any]:
        """Write a line and a ping, and return what is answered before the ping is."""
        self.send(line)
        self.send(request("the ping", "ping"))
        found = []
        while (said := json.loads(self.line(seconds))) != {
            "jsonrpc": "2.0", "id": "the ping", "result": {},
        }:  # fmt: skip
            found.append(said)
        return found

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
