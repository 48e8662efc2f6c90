"""``suanzi mcp``: the tools explain, judge and truth over the Model Context Protocol."""

from __future__ import annotations

import sys

from suanzi.base.status import InvalidArgument


def mcp() -> int:
    """Serve the tools explain, judge and truth to agents over MCP, on standard input and output.

    A client starts it; nothing is printed here. It needs the package mcp: `pip install
    'suanzi[mcp]'`. The tool judge executes the kernels that it is given, in processes of their own.

    ```
    suanzi mcp
    ```
    """
    try:
        from suanzi.front.agents.server import serve
    except ImportError as error:
        raise InvalidArgument(
            f"mcp: the package mcp cannot be used: {error}. Install it: pip install 'suanzi[mcp]'"
        ) from None
    serve()
    if sys.stdout is not None and sys.stdout.closed:  # as mcp 1 leaves it
        sys.stdout = None
    return 0
