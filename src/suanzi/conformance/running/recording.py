"""What a run leaves as evidence: a hash of every required case, and the answers, if asked for.

A recorded line has the whole case, with its expected result, and the answer of the backend. So it
can be judged again without the backend.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, cast, get_args

from suanzi.base.status import InvalidArgument
from suanzi.conformance.cases.frozen import case_of, line_of
from suanzi.conformance.judging.verdict import Answer
from suanzi.conformance.model.case import Case, Expected
from suanzi.conformance.model.results import Kept, Result
from suanzi.conformance.running.process import Backend, Facts, NoAnswer, Unanswered, read_answer
from suanzi.conformance.subjects.wire import to_json

_LONGEST, _LONGEST_LINE = 1 << 30, 1 << 26
"""Bytes of the answers of one interface; a forged file may unpack to more."""


def kept(case: Case, expected: Expected, answer: Answer | Unanswered, *, record: bool) -> Kept:
    """Return the hash of a case and, to be recorded, the case with its answer."""
    line = line_of(replace(case, expect=lambda: expected))
    content = hashlib.sha256(line.encode()).hexdigest()
    if not record:
        return Kept(content)
    said = json.dumps(_written(answer), separators=(",", ":"))
    return Kept(content, zlib.compress(f'{{"answer":{said},"case":{line}}}\n'.encode()))


def content_of(case: Case, expected: Expected) -> str:
    """Return the hash of a case with its arguments and expected result."""
    return kept(case, expected, Unanswered("skipped", ""), record=False).content


def _written(answer: Answer | Unanswered) -> dict[str, Any]:
    if isinstance(answer, Answer):
        outputs = [to_json(x) for x in answer.outputs]
        return {"status": answer.status, "outputs": outputs, "error": answer.words}
    return {"none": answer.outcome, "words": answer.words}


def without_line(result: Result) -> Result:
    """Return a result without the recorded answer, which is long."""
    if result.kept is None:
        return result
    return replace(result, kept=Kept(result.kept.content))


def write_answers(folder: str | PathLike[str], op: str, results: Iterable[Result]) -> None:
    """Write the recorded answers of an interface."""
    with gzip.GzipFile(Path(folder) / f"{op}.jsonl.gz", "wb", 6, mtime=0) as file:
        for result in sorted(results, key=lambda r: r.id):
            if result.kept is not None and result.kept.line is not None:
                file.write(zlib.decompress(result.kept.line))


@dataclass
class Recorded:
    """A case and the answer that was recorded; it can be asked like a backend."""

    case: Case
    content: str
    said: Mapping[str, Any]
    facts: Facts
    backend: Backend

    def ask(self, case: Case) -> Answer | Unanswered:
        """Return the answer to its own case."""
        if "none" not in self.said:
            return read_answer(dict(self.said))
        outcome, words = str(self.said["none"]), str(self.said.get("words", ""))
        if outcome not in get_args(NoAnswer):
            raise InvalidArgument(f"{self.case.id}: {outcome!r:.60} is not an outcome.")
        return Unanswered(cast(NoAnswer, outcome), words)


def read_answers(path: Path, facts: Facts, backend: Backend) -> Iterator[Recorded]:
    """Give the recorded answers of a file, which nobody need trust."""
    try:
        with gzip.open(path, "rb") as file:
            left = _LONGEST
            while line := file.readline(min(left, _LONGEST_LINE)):
                left -= len(line)
                if len(line) >= _LONGEST_LINE:
                    raise InvalidArgument(f"{path.name} has a line of {_LONGEST_LINE} bytes.")
                if left <= 0:
                    raise InvalidArgument(f"{path.name} has more than {_LONGEST} bytes.")
                yield _read(line.decode("utf-8"), path.name, facts, backend)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise InvalidArgument(f"{path.name} cannot be read: {error}.") from None


def _read(line: str, name: str, facts: Facts, backend: Backend) -> Recorded:
    try:
        said = json.loads(line)
        answer, text = said["answer"], json.dumps(said["case"], separators=(",", ":"))
        if not isinstance(answer, dict):
            raise TypeError(f"the answer is {answer!r:.60}")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidArgument(
            f"{name} has a line that is not a recorded answer: {error}."
        ) from None
    found = case_of(text, name.partition(".")[0])
    return Recorded(found, hashlib.sha256(text.encode()).hexdigest(), answer, facts, backend)
