"""The commands ``submit`` and ``verify``: a report as evidence, and how it is checked."""

from __future__ import annotations

import json as json_module

from suanzi.base.lang import language, say
from suanzi.base.text import pad, printable
from suanzi.conformance.decision import said_headline
from suanzi.front.cli.check import _named, _show, _split
from suanzi.front.cli.typed import CaseRules, Jobs, Json, Minimal, Python, Words
from suanzi.front.cli.typed import rules as read_rules


def submit(
    folder: str,
    *,
    backend: str = "suanzi",
    python: Python = None,
    op: Words = None,
    minimal: Minimal = False,
    has: Words = None,
    rules: CaseRules = None,
    jobs: Jobs = None,
    timeout: float = 10.0,
    deviations: Words = None,
    statement: str | None = None,
    waivers: str | None = None,
    sign: str | None = None,
) -> int:
    """Run the required cases and write a folder that others can verify.

    It has the report, the answers of the backend to every required case, the hashes of library,
    adapter and kit, and a statement to fill in. The exit status is that of `suanzi check`.

    ```
    suanzi submit evidence/ --backend ./libvendor.so --statement who.toml
    suanzi verify evidence/ --library ./libvendor.so
    ```

    Parameters
    ----------
    folder
        The folder to write; it must not exist, or be empty.
    backend
        What is tested, as for `suanzi check`.
    op
        Only these interfaces; then no level is reached in full.
    has
        The dtypes that the backend has (`float32,int32`).
    timeout
        Seconds after which a call counts as hung.
    deviations
        Files of known deviations; copied into the folder.
    statement
        A TOML file that says who submits what; without it, one to fill in is written.
    waivers
        A TOML file of waivers that were granted; copied into the folder.
    sign
        Sign the manifest with this secret key of minisign.
    """
    from suanzi.conformance.model.results import Run
    from suanzi.conformance.reports.summary import parts
    from suanzi.conformance.submission import submit as write
    from suanzi.front.cli.terminal import plain_parts, progress_bar

    def log(run: Run) -> str:
        with language("en"):  # evidence reads the same everywhere
            return plain_parts(parts(run, verbose=True))

    with progress_bar() as progress:
        run = write(
            folder, backend, statement=statement, deviations=deviations or (), waivers=waivers,
            sign=sign, progress=progress, log=log, python=python, ops=_named("op", op),
            minimal=minimal, has=_split(has), jobs=jobs, timeout=timeout,
            rules=None if rules is None else read_rules(rules),
        )  # fmt: skip
    _show(run, verbose=False)
    print(say(f"Written to {folder}: check it with `suanzi verify {folder}`."))
    return run.decision.status


def verify(
    folder: str,
    *,
    library: str | None = None,
    public_key: str | None = None,
    waivers: str | None = None,
    jobs: Jobs = None,
    json: Json = False,
) -> int:
    """Check a folder that `suanzi submit` wrote, without the backend.

    The hash of every file, the list of required cases, what the report says of itself, and every
    answer, judged again by this kit and by a second judge. The exit status is 0 if nothing
    contradicts the report, 1 if something does, and 2 if the folder is not a submission.

    ```
    suanzi verify evidence/
    suanzi verify evidence/ --library ./libvendor.so --public-key vendor.pub
    ```

    Parameters
    ----------
    folder
        The folder of the submission.
    library
        The library it is about: its hash must be the one that was tested.
    public_key
        The public key of minisign, or its file; the manifest must be signed with it.
    waivers
        A TOML file of the waivers that the authority of the tests has granted.
    """
    from suanzi.conformance.submission import verify as check_folder
    from suanzi.front.cli.terminal import progress_bar

    with progress_bar(first="reading the submission", by_itself=False) as progress:
        found = check_folder(
            folder, library=library, public_key=public_key, waivers=waivers, jobs=jobs,
            progress=progress,
        )  # fmt: skip
    if json:
        print(json_module.dumps(found.to_dict(), indent=2, ensure_ascii=True))
        return int(not found.genuine)
    for one in found.findings:
        mark = say({True: "ok", False: "WRONG", None: "-"}[one.ok])
        print(printable(f"{pad(mark, 6)}{pad(say(one.what), 14)}{say(one.words)}"))
    genuine = "Nothing contradicts the report" if found.genuine else "The report is not genuine"
    said = (
        f"{say(genuine)}: {said_headline(found.headline)}" if found.headline else f"{say(genuine)}."
    )
    print(printable(said))
    return int(not found.genuine)
