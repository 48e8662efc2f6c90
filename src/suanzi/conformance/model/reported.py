"""The parts of a report that are read back, as types: they check it and write its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from suanzi.base.decode import Numbers

Count = Annotated[int, Numbers(0)]
Measure = Annotated[float, Numbers(0, ("inf", "nan"))]
"""A number of 0 or more; one that JSON does not have is a string."""
Filter = list[str] | None


class Subject(TypedDict, total=False):
    """The backend that was tested, as it was named and as it describes itself."""

    title: str
    name: str
    version: str
    rules: str
    """The rule set by which it promotes."""
    statuses: bool
    """Whether it has status codes."""
    mapping: dict[str, str]
    """What each interface maps to."""
    missing: dict[str, str]
    """Why it does not have an interface."""
    notes: list[str]
    python: str
    adapter: str
    interpreter: str
    device: str
    """Where its tensors are made; empty on the CPU."""
    dtypes: Filter
    """The dtypes that it declares."""


class Part(TypedDict):
    """Which part of a run a shard is."""

    number: Annotated[int, Numbers(1)]
    of: Annotated[int, Numbers(1)]
    unused: list[str]
    """Known deviations that match none of its cases."""


class Settings(TypedDict, total=False):
    """What was selected. A filter that was not given is null or false."""

    rules: str
    seed: int
    quick: bool
    minimal: bool
    catalogue: str | None
    """The catalogue that was tested, if not the standard."""
    ops: Filter
    categories: Filter
    dtypes: Filter
    groups: Filter
    cases: Filter
    timeout: float
    normative: bool
    """Whether only what the standard requires was run."""
    strict: bool
    """Whether failures in quality and extensions count, too."""
    has: Filter
    """The dtypes that --has declares."""
    unclaimed: dict[str, str]
    """The interfaces that were not tested, because the backend does not have them, and why."""
    jobs: int
    deviations: list[str]
    """The files of known deviations."""
    folder: str | None
    """Where the cases were read from; null if they were generated."""
    frozen: str | None
    """The hash of the cases that were read."""
    ids: str
    """The SHA-256 of the ids of the cases, sorted, one a line."""
    suanzi: str
    """The version of the kit."""
    interrupted: str
    """What ended the run before its end."""
    shard: Part
    cluster: str
    """The Dask cluster that ran it."""
    rules_file: str | None
    """Where the rules were read from; null for built-in ones."""
    started: str


class Content(TypedDict):
    """The required cases of an interface, with arguments and expected results."""

    cases: Count
    sha256: str


class Evidence(TypedDict, total=False):
    """What ran and what was asked, so that a report is about one library and one kit."""

    kit: dict[str, str]
    """Version, commit, and the SHA-256 of its own files."""
    backend: dict[str, str]
    """The SHA-256 of its files; and the compiler, where a library says it."""
    host: dict[str, str]
    """Machine, system, processor, drivers."""
    contents: dict[str, Content]
    """By interface. The group promotion is left out: it follows the rule set."""
    mustpass: dict[str, str]
    """The frozen list, and how far the run is the same as it."""


class Block(TypedDict, total=False):
    """Cases of an interface and a group with the same titles: op/group/dtype/title."""

    op: str
    group: str
    outcome: Literal["passed", "unsupported", "skipped"]
    titles: list[str]
    all: dict[str, Any]
    """What `dtypes` says, where it is the same for all of them."""
    dtypes: dict[str, dict[str, Any]]
    """What else a result says: one value for all titles, or a list of them."""
