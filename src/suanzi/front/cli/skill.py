"""``suanzi skill``: a SKILL.md for agents, made of the commands' own help."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from suanzi.base.lang import say

if TYPE_CHECKING:
    from suanzi.front.agents.skill import Option


def options_of(app: App, command: str) -> list[Option]:
    """Return the options of a command, with their help."""
    from suanzi.front.agents.skill import Option

    found = []
    for one in app[command].assemble_argument_collection(parse_docstring=True):
        names = [name for name in one.names if name.startswith("-")]
        if one.index is not None:  # by its position, and by a name that no example uses
            names = [one.names[-1].strip("-").upper()]
        shown = ", ".join(f"`{name}`" for name in names)
        found.append(Option(shown, str(one.parameter.help or "")))
    return found


def command_of(app: App) -> Callable[..., int]:
    """Return the command `skill` of an app, whose other commands it describes."""

    def skill(
        target: Annotated[str | None, Parameter(name="DIR|FILE")] = None,
        /,
        *,
        schema: Literal["judge", "explain", "port", "blame", "blame-run"] | None = None,
    ) -> int:
        """Write a SKILL.md for agents: how to use judge, explain, port and blame, with schemas.

        It follows the format of Agent Skills. It is made of the help and the codes of this version:
        write it again after an update.

        ```
        suanzi skill
        suanzi skill .claude/skills
        suanzi skill .agents/skills
        suanzi skill AGENT.md
        suanzi skill --schema judge
        ```

        Parameters
        ----------
        target
            A folder of skills, in which `suanzi/SKILL.md` is written, or a file that ends in `.md`;
            without it, the text is printed.
        schema
            Print the JSON Schema of what a command prints with `--json` instead, or of a line of a
            file that `blame --record` writes.
        """
        return _run(app, target, schema)

    return skill


def _run(app: App, target: str | None, command: str | None) -> int:
    from suanzi.base.status import InvalidArgument
    from suanzi.front.agents.schemas import NAMES, schema
    from suanzi.front.agents.skill import text, write
    from suanzi.front.cli.printing import show_json

    if command is not None:
        if target is not None:
            raise InvalidArgument("skill: --schema prints a schema; leave the file out.")
        show_json(schema(command))
        return 0
    content = text({name: options_of(app, name) for name in NAMES})
    if target is None:
        print(content, end="")
    else:
        print(say(f"Written: {write(target, content)}"))
    return 0
