"""The command line: ``suanzi promote i32 bf16 --rules all``, and the rest.

Every command prints in colour on a terminal, plain text into a pipe, and data with
``--json``. The exit status is 0 for an answer, 1 for a refusal or a difference, 2 for bad usage,
3 for a failure that is not the user's.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Parameter

from suanzi import _core
from suanzi.base.dtypes import (
    BYTE_COUNTING,
    DOCUMENTS,
    DTYPES,
    bfloat16,
    document_name,
    finfo,
    iinfo,
    int32,
)
from suanzi.base.lang import language, said, say
from suanzi.base.lang.choosing import choose, split
from suanzi.base.status import InternalError, InvalidArgument, StatusError
from suanzi.base.text import printable
from suanzi.front.cli import accuracy as cli_accuracy
from suanzi.front.cli import blame as cli_blame
from suanzi.front.cli import check as cli_check
from suanzi.front.cli import config as cli_config
from suanzi.front.cli import demo as cli_demo
from suanzi.front.cli import judge as cli_judge
from suanzi.front.cli import mcp as cli_mcp
from suanzi.front.cli import port as cli_port
from suanzi.front.cli import render as _render
from suanzi.front.cli import site as cli_site
from suanzi.front.cli import skill as cli_skill
from suanzi.front.cli import standards as cli_standards
from suanzi.front.cli import submit as cli_submit
from suanzi.front.cli.catalogue import counts, entries, entry
from suanzi.front.cli.helping import translated_help
from suanzi.front.cli.printing import number as _number
from suanzi.front.cli.printing import show as _print
from suanzi.front.cli.printing import show_json
from suanzi.front.cli.printing import show_rows as _show_rows
from suanzi.front.cli.streams import console, print_no_more, repair_streams
from suanzi.front.cli.typed import Flag, Json, Op, Operand, Python, Rules
from suanzi.front.cli.typed import note_other_readings as _note_other_readings
from suanzi.front.cli.typed import rules as _rules
from suanzi.front.cli.typed import several_rules as _several_rules
from suanzi.promote import questions
from suanzi.promote.facts import facts_of, lines_of
from suanzi.promote.library import DEFAULT, rule_sets
from suanzi.promote.live import live as run_live
from suanzi.promote.operands import typed_operand as _operand
from suanzi.promote.questions import rules_for

ANSWER, DIFFERENCE, BAD_USAGE, FAILURE = 0, 1, 2, 3


def _version() -> str:
    """Return the version, the instruction-set level in use and those this machine has."""
    return f"{_core.VERSION} (level {_core.level()} of {', '.join(_core.levels())})"


app = App(
    name="suanzi",
    suppress_keyboard_interrupt=False,  # `main` says so, and gives the status that is documented
    help="""Dtypes, porting and conformance of AI operators (T/AI 131.1-2025).

    Which dtype comes out, what is lost, and why; what changes when a program moves to another
    framework; and whether a backend satisfies the standard. `suanzi demo` shows an example of each.

    ```
    suanzi promote i32 bf16 --rules all
    suanzi port model.py --to torch_npu,paddle
    suanzi check --backend numpy
    ```

    An operand is a dtype in any spelling (`int32`, `i32`, `s32`, `ACL_INT32`, `half`), a 0-d
    tensor (`0d:f32`), a Python number (`2`, `2.5`, `1j`, `true`) or any number of a type
    (`py:int`).

    `--lang zh` prints Chinese; so do `SUANZI_LANG=zh` and a Chinese locale.""",
    version=_version,
    help_format="markdown",
)


@app.command
def promote(*operands: Operand, rules: str = DEFAULT, op: Op = None, json: Json = False) -> int:
    """Show which dtype operands are promoted to, under one rule set, several or all.

    ```
    suanzi promote i32 bf16
    suanzi promote i32 bf16 --rules all
    suanzi promote u8 0d:i64 --rules torch,paddle --op add
    suanzi promote i8 300 --rules numpy --json
    ```

    Parameters
    ----------
    rules
        A rule set, several joined by commas, or `all`; a file is a rule set of yours.
    """
    chosen = [*rules_for(op)] if rules == "all" else _several_rules(rules)
    _note_other_readings(operands, chosen)
    found = questions.explain_all(*map(_operand, operands), rules=chosen, op=op)
    _print(found, _render.explanations, json)
    return DIFFERENCE if all(e.refused for e in found) else ANSWER


@app.command
def explain(
    *operands: Operand,
    rules: Rules = DEFAULT,
    op: Op = None,
    like: str | None = None,
    autocast: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
) -> int:
    """Explain one promotion: the layer, the cell, the source, the loss and the fix.

    ```
    suanzi explain i32 bf16
    suanzi explain u64 i64 --rules openvino+unsafe+u64=i64
    suanzi explain i32 f32 --rules paddle_compare_fix --op ==
    suanzi explain bf16 0d:f32 --op mul --rules cann --like torch
    suanzi explain f32 f32 --op bmm --rules torch,paddle --autocast
    ```

    Parameters
    ----------
    like
        The rule set of the original program; the fix is the cast that keeps its dtype. The exit
        status is also 1 where the two differ.
    autocast
        Show what autocast gives instead: by device or level of each rule set, which may be several
        joined by commas, or `all`. The operator has PyTorch's name.
    """
    if autocast:
        return _explain_autocast(operands, rules, op, like, json)
    if rules == "all":
        raise InvalidArgument(
            "explain: give one rule set; `suanzi promote --rules all` compares all."
        )
    chosen = _rules(rules)
    _note_other_readings(operands, [chosen])
    kept = None if like is None else _rules(like)
    found = questions.explain(*map(_operand, operands), rules=chosen, op=op, like=kept)
    _print(found, _render.explanation, json)
    return DIFFERENCE if found.refused or found.differs else ANSWER


def _explain_autocast(
    operands: Sequence[str], rules: str, op: str | None, like: str | None, json: bool
) -> int:
    from suanzi.port.autocast import LISTS
    from suanzi.port.under_autocast import explain_autocast

    if op is None or like is not None:
        wrong = "needs an operator (--op bmm)" if op is None else "does not take --like"
        raise InvalidArgument(f"explain: --autocast {wrong}.")
    chosen = [*LISTS] if rules == "all" else _several_rules(rules)
    found = explain_autocast(*map(_operand, operands), op=op, rules=chosen)
    _print(found, _render.autocast, json)
    return ANSWER


@app.command
def table(rules: Rules = DEFAULT, *, op: Op = None, json: Json = False) -> int:
    """Print the tables of a rule set in the order and the names of their document.

    ```
    suanzi table cann
    suanzi table paddle --op ==
    ```
    """
    found = questions.table(_rules(rules), op=op)
    _print(found, _render.table, json)
    return ANSWER


@app.command
def diff(a: str, b: str, *, op: Op = None, dtype: str | None = None, json: Json = False) -> int:
    """List every pair on which two rule sets disagree, 0-d tensors and numbers included.

    ```
    suanzi diff cann torch
    suanzi diff paddle paddle_compare_fix --op ==
    suanzi diff torch cann --dtype bf16,f32,i64
    ```

    Parameters
    ----------
    a
        A rule set.
    b
        The rule set to compare it with.
    dtype
        Only these dtypes, joined by commas.
    """
    dtypes = None if dtype is None else [one for one in dtype.split(",") if one.strip()]
    found = questions.diff(_rules(a), _rules(b), op=op, dtypes=dtypes)
    _print(found, _render.diff, json)
    return DIFFERENCE if found else ANSWER


@app.command
def laws(
    rules: Rules = DEFAULT,
    *,
    op: Op = None,
    all: Annotated[bool, Parameter(negative="", help="List every counter-example.")] = False,
    json: Json = False,
) -> int:
    """Show which laws a rule set satisfies: commutative, associative, semilattice, lossless.

    ```
    suanzi laws cann
    suanzi laws numpy --all
    ```
    """
    found = questions.laws(_rules(rules), op=op)
    _print(found, _render.laws, json)
    if all and not json:
        for name, examples in found.to_dict().items():
            if isinstance(examples, list) and examples:
                print(f"\n{say(name.replace('_', ' '))} ({len(examples)})")
                print("\n".join(f"  {say(example)}" for example in examples))
    return ANSWER


@app.command
def rules(name: str | None = None, *, json: Json = False) -> int:
    """List the rule sets, or show everything about one.

    ```
    suanzi rules
    suanzi rules paddle
    ```

    Parameters
    ----------
    name
        A rule set, or a file of your own; without it, all are listed.
    """
    chosen = rule_sets() if name is None else (name,)
    facts = [facts_of(_rules(one)) for one in chosen]
    if json:
        show_json(facts if name is None else facts[0])
    elif name is None:
        header = ("name", "title", "version", "dtypes", "source")
        rows = [[str(f[k]) if k != "dtypes" else str(len(f[k])) for k in header] for f in facts]
        _show_rows(said([header])[0], rows)
    else:
        quoted = ("title", "source", "notes", "deviations")  # in the words of others
        lines = [
            (say(key), text if key.endswith(quoted) else say(text))
            for key, text in lines_of(facts[0])
        ]
        _show_rows((), lines)
    return ANSWER


@app.command
def dtypes(*, json: Json = False) -> int:
    """List the dtypes: code, width, limits, and what each document calls them.

    ```
    suanzi dtypes
    ```
    """
    rows: list[dict[str, Any]] = []
    for dt in DTYPES:
        info: Any = finfo(dt) if dt.exponent_bits else iinfo(dt)
        names = {document: document_name(dt, document) for document in DOCUMENTS}
        rows.append({
            "name": dt.name, "kind": dt.kind, "code": dt.code, "bits": dt.bits,
            "bytes": dt.itemsize, "min": info.min, "max": info.max,
            "eps": getattr(info, "eps", None),
            "names": {document: name for document, name in names.items() if name != dt.name},
        })  # fmt: skip
    if json:
        show_json(rows)
        return ANSWER
    header = ("name", "kind", "code", "bits", "bytes", "min", "max", "eps", "also called")
    lines = []
    for row in rows:
        also = (
            f"{name} ({of})" if of in BYTE_COUNTING else name for of, name in row["names"].items()
        )
        lines.append([*(_number(row[key]) for key in header[:-1]), ", ".join(dict.fromkeys(also))])
    _show_rows(said([header])[0], said(lines, names=(0, 8)))
    return ANSWER


@app.command
def ops(
    *,
    category: str | None = None,
    minimal: Annotated[bool, Parameter(negative="", help="Only those of the minimal set.")] = False,
    missing: Annotated[bool, Parameter(negative="", help="Only those not implemented.")] = False,
    catalogue: str = "standard",
    json: Json = False,
) -> int:
    """List the interfaces of the standard by clause, and which of them are implemented.

    ```
    suanzi ops
    suanzi ops --category "linear algebra" --minimal
    suanzi ops --missing --json
    ```

    Parameters
    ----------
    category
        Only those of a category, by its name (`arithmetic`) or its clause (`7.2.4`).
    catalogue
        Another catalogue of operators, which an installed package adds.
    """
    found = entries(category, minimal=minimal, missing=missing, of=catalogue)
    count = counts(found)
    if json:
        show_json({"counts": count, "interfaces": [one.to_dict() for one in found]})
        return ANSWER
    header = ("clause", "name", "category", "direction", "minimal", "implemented")
    rows = [[_number(one.to_dict()[key]) for key in header] for one in found]
    if rows:
        _show_rows(said([header])[0], said(rows, names=(0, 1)))
        print()
    print(
        say(
            f"{count['interfaces']} interfaces: {count['forward']} forward, {count['backward']} "
            f"backward; {count['minimal']} in the minimal set; {count['implemented']} implemented."
        )
    )
    return ANSWER


@app.command
def op(name: str, *, json: Json = False) -> int:
    """Show everything about one interface: calls, dtypes, statuses, accuracy, an example.

    ```
    suanzi op add
    suanzi op op_floordiv
    suanzi op 7.2.13.1 --json
    ```

    Parameters
    ----------
    name
        Its name, the standard's own (`op_add`, misprints included) or its clause (`7.2.4.1`);
        `NAME:OP` for an operator of another catalogue.
    """
    found = entry(name)
    if json:
        show_json(found.to_dict(bounds=True))
        return ANSWER
    _show_rows((), found.said())
    for part in found.said_documentation():
        if part is not None:
            print(f"\n{part}")
    return ANSWER


@app.command
def live(
    framework: str,
    *,
    rules: str | None = None,
    dtypes: Flag = False,
    results: Flag = False,
    differences: Flag = False,
    write: str | None = None,
    python: Python = None,
    device: str | None = None,
    json: Json = False,
) -> int:
    """Compare a rule set with an installed framework, cell by cell, and print the differences.

    The framework runs in another process, in any interpreter you name; suanzi need not be installed
    there. With `--dtypes` its operators are called with every dtype, and what they take is compared
    with the list that `suanzi port` uses; with `--results`, the dtypes that they give are compared
    with suanzi's tables; with `--differences`, what operators of the same name compute.

    ```
    suanzi live numpy
    suanzi live torch --python ~/envs/torch/bin/python
    suanzi live paddle --dtypes --write paddle.txt
    suanzi live numpy --results
    suanzi live paddle --differences
    ```

    Parameters
    ----------
    framework
        torch, numpy, jax, paddle, mindspore or openvino.
    rules
        The rule set to compare it with, if not the one of its name.
    dtypes
        Ask which dtypes the operators take on the CPU: paddle, mindspore or openvino.
    results
        Ask which dtype operators give that do not promote: sums, indices, `full`.
    differences
        Ask what they compute where frameworks differ, such as `median` of an even count.
    write
        Write the list, or the tables, to this file; `suanzi port --dtypes` takes the list.
    device
        Where the operands are, for torch and jax: `cuda`, `cuda:1`, `npu`; the CPU by default.
    """
    if dtypes or results or differences or write is not None:
        if device is not None:
            raise InvalidArgument("live: --device does not go with --dtypes or --results.")
        from suanzi.port.asking import live_questions

        ask = live_questions(dtypes, results, differences)
        with _render.waiting(say(f"asking {framework}")):
            asked = ask(framework, python)
        if write is not None:
            from suanzi.base.files import write_file

            write_file(write, asked.text)
        show_json(asked.to_dict()) if json else print(asked)
        return DIFFERENCE if asked.differences else ANSWER
    with _render.waiting(say(f"asking {framework}")):
        found = run_live(framework, rules=rules and _rules(rules), python=python, device=device)
    _print(found, _render.live, json)
    return DIFFERENCE if found.drift else ANSWER


@app.command
def demo(*, json: Json = False) -> int:
    """Show the main questions that suanzi answers, each with a small example."""
    if json:
        show_json(questions.explain_all(int32, bfloat16).to_dict())
        return ANSWER
    cli_demo.show(_print)
    return ANSWER


for _command in (
    cli_port.port, cli_check.check, cli_check.merge, cli_submit.submit, cli_submit.verify,
    cli_check.compare, cli_check.header, cli_config.config, cli_judge.judge, cli_blame.blame,
    cli_accuracy.accuracy, cli_site.site, cli_standards.standards, cli_skill.command_of(app),
    cli_mcp.mcp,
):  # fmt: skip
    app.command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    if arguments is None:
        repair_streams()
    try:
        given, asked = split(sys.argv[1:] if arguments is None else arguments)
        with language(choose(asked)), translated_help(app):
            status = app(
                given,
                exit_on_error=False,
                print_error=False,
                result_action="return_value",
                console=console(),
            )
        if sys.stdout is not None:  # as it is where it was closed
            sys.stdout.flush()
        return int(status or ANSWER)
    except CycloptsError as error:
        return _fail(str(error), BAD_USAGE)
    except InternalError as error:
        return _fail(str(error), FAILURE)
    except StatusError as error:
        return _fail(str(error), BAD_USAGE)
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough.
        print_no_more()
        return ANSWER
    except OSError as error:
        print_no_more()
        return _fail(str(error), FAILURE)
    except KeyboardInterrupt:
        return _fail("interrupted", FAILURE)


def _fail(message: str, status: int) -> int:
    safe = "\n".join(printable(line) for line in message.split("\n"))
    print(f"suanzi: {safe}", file=sys.stderr)
    return status
