"""Hostile input made of valid input: bytes, JSON, archives and folders, each changed a little.

What is changed, and how, follows from a random source alone. Nothing here knows what a file means.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import struct
import warnings
import zipfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

MARKER = "suanzi-was-here"
"""A folder that is made where what is read is executed."""
_BLOCK, _BOMB = b"0" * (1 << 20), 600
"""What is repeated, and how often, to be large when it is unpacked."""
_HUGE = (0, 1, -1, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, -(2**63))
_WORDS = (
    "", "\0", "../../../../etc/passwd", "/etc/passwd", "/dev/zero", "C:\\x", "a" * 70_000, "\ud800",
    "\u202e\x1b[2J", "<script>alert(1)</script>", "__class__", "nan", "1e999", "9" * 5000, "{}",
    "%s", "float128", "O", "|O", "<f8" * 1000, "'); import os; os.abort()", "${HOME}", "con",
)  # fmt: skip


class Bomb:
    """What runs code where somebody unpickles it."""

    def __reduce__(self) -> Any:
        return os.makedirs, (MARKER,)


def pickled() -> bytes:
    """Return a pickle that makes a folder, in memory and on the disk."""
    return pickle.dumps(Bomb())


# ---- bytes ---------------------------------------------------------------------------------------


def of_bytes(random: Random, content: bytes) -> bytes:
    """Return other bytes: some are missing, changed, repeated or added; lengths become huge."""
    raw = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        at = random.randrange(len(raw) + 1) if random.random() < 0.5 else random.randrange(
            min(len(raw), 128) + 1
        )  # fmt: skip
        match random.randrange(8):
            case 0:
                del raw[at:]
            case 1:
                del raw[at : at + random.choice((1, 2, 7, 64, 1000))]
            case 2 if at < len(raw):
                raw[at] ^= 1 << random.randrange(8)
            case 3:
                raw[at : at + 4] = random.randbytes(4)
            case 4:
                wide = random.choice("HIQ")
                value = random.choice(_HUGE) % (1 << 8 * struct.calcsize(wide))
                order = random.choice("<<>")
                raw[at : at + struct.calcsize(wide)] = struct.pack(f"{order}{wide}", value)
            case 5:
                raw[at:at] = raw[at : at + 64] * random.choice((1, 2, 100))
            case 6:
                raw[at:at] = random.choice((pickled(), b"\xff\xfe", b"\0" * 64, b"[" * 20_000))
            case _:
                raw[at : at + 1] = random.choice(
                    (b"\n", b"\xff", b"'", b'"', b"}", b"-", b"9" * 400)
                )
    return bytes(raw)


# ---- JSON ----------------------------------------------------------------------------------------


def value(random: Random) -> Any:
    """Return what nobody expects at a place of a file."""
    return random.choice((
        None, True, False, [], {}, "", 0, -1, 1.5, float("nan"), float("inf"), -0.0, 10**30,
        random.choice(_HUGE), random.choice(_WORDS), random.choice(_WORDS), [[]] * 3, {"": None},
        _nested(random.choice((5, 60, 900))), [0] * 5000, {str(i): i for i in range(300)},
    ))  # fmt: skip


def _nested(depth: int) -> Any:
    found: Any = []
    for i in range(depth):
        found = [found] if i % 2 else {"a": found}
    return found


def of_data(random: Random, data: Any) -> Any:
    """Return data with another value at some places, keys that are missing, or twice there."""
    whole = [json.loads(json.dumps(data))]
    for _ in range(random.choice((1, 1, 2, 3))):
        places = list(_places(whole))
        holder, key = random.choice(places)
        match random.randrange(6):
            case 0 if holder is not whole:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[random.choice(_WORDS)] = holder.pop(key)
            case 2:
                other, there = random.choice(places)
                holder[key] = json.loads(json.dumps(other[there]))
            case 3 if isinstance(holder[key], list) and holder[key]:
                holder[key] = holder[key] * random.choice((2, 50))
            case _:
                holder[key] = value(random)
    return whole[0]


def _places(whole: Any) -> Any:
    """Yield every place in data: what holds it, and its key."""
    left = [whole]
    while left:
        one = left.pop()
        for key in list(one) if isinstance(one, dict) else range(len(one)):
            yield one, key
            if isinstance(one[key], dict | list):
                left.append(one[key])


def as_json(random: Random, data: Any) -> str:
    """Return changed data as JSON: sometimes with keys twice, or not quite JSON."""
    text = json.dumps(of_data(random, data), ensure_ascii=random.random() < 0.8)
    way = random.random()
    if way < 0.05:
        return text.replace("{", '{"a": 1, "a": 2, ', 3)
    if way < 0.1:
        return "[" * random.choice((100, 50_000)) + text
    return text


def of_json(random: Random, content: bytes) -> bytes:
    """Return other JSON, or bytes that are no JSON at all."""
    if random.random() < 0.3:
        return of_bytes(random, content)
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):  # a line that was changed before
        return of_bytes(random, content)
    return as_json(random, data).encode("utf-8", "surrogatepass")


def of_lines(random: Random, content: bytes) -> bytes:
    """Return other lines of JSON: missing, repeated, in another order, or changed."""
    if random.random() < 0.25:
        return of_bytes(random, content)
    lines = content.splitlines()
    for _ in range(random.choice((1, 1, 2))):
        at = random.randrange(len(lines))
        match random.randrange(5):
            case 0 if len(lines) > 1:
                del lines[at]
            case 1:
                lines.insert(at, random.choice(lines))
            case 2:
                random.shuffle(lines)
            case _:
                lines[at] = of_json(random, lines[at]) if lines[at][:1] == b"{" else lines[at]
    return b"\n".join(lines) + b"\n"


@cache
def bomb() -> bytes:
    """Return a small file that is large when it is unpacked."""
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb", compresslevel=1) as file:
        for _ in range(_BOMB):
            file.write(_BLOCK)
    return made.getvalue()


def of_gzip(random: Random, content: bytes) -> bytes:
    """Return a compressed file whose lines, or whose own bytes, are others; or a bomb."""
    way = random.random()
    if way < 0.3:
        return of_bytes(random, content)
    if way < 0.35:
        return bomb()
    return gzip.compress(of_lines(random, gzip.decompress(content)), 1)


# ---- archives and folders ------------------------------------------------------------------------


def of_zip(random: Random, content: bytes) -> bytes:
    """Return an archive with other entries: links, bombs, pickles, names twice or elsewhere."""
    if random.random() < 0.35:
        return of_bytes(random, content)
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        entries = [(name, old.read(name)) for name in old.namelist()]
    at = random.randrange(len(entries))
    name, raw = entries[at]
    info = zipfile.ZipInfo(name)
    match random.randrange(8):
        case 0:
            return _zip_bomb(content, name)
        case 1:
            raw = pickled()
        case 2:
            info.external_attr, raw = 0o120777 << 16, b"/etc/passwd"  # a symbolic link
        case 3:
            info = zipfile.ZipInfo(random.choice(_WORDS[2:7])[:60_000])
        case 4:
            entries.append((name, of_bytes(random, raw)))
        case 5:
            del entries[at]
            info = zipfile.ZipInfo("another")
        case 6 if raw[:1] in (b"{", b"["):
            raw = of_json(random, raw)
        case _:
            raw = of_bytes(random, raw)
    made = io.BytesIO()
    kind = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    changed: list[tuple[Any, bytes]] = [*entries[:at], (info, raw), *entries[at + 1 :]]
    with zipfile.ZipFile(made, "w", kind) as new, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that is twice there
        for one, inside in changed:
            known = one if isinstance(one, zipfile.ZipInfo) else zipfile.ZipInfo(one)
            known.compress_type = kind
            with new.open(known, "w", force_zip64=True) as file:
                file.write(inside)
    return made.getvalue()


@cache
def _zip_bomb(content: bytes, bomb: str) -> bytes:
    """Return an archive of which one entry is large when it is unpacked."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for name in old.namelist():
            with new.open(name, "w", force_zip64=True) as file:
                for _ in range(_BOMB if name == bomb else 1):
                    file.write(_BLOCK if name == bomb else old.read(name))
    return made.getvalue()


def of_folder(random: Random, folder: Path, change: Any) -> None:
    """Change a file of a folder by `change(random, path)`, or put something else in its place."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path = random.choice(files)
    match random.randrange(8):
        case 0:
            path.unlink()
        case 1:
            path.unlink()
            path.symlink_to(random.choice(("/dev/zero", "/etc/passwd", path.name, "..")))
        case 2:
            path.unlink()
            path.mkdir()
        case 3:
            path.unlink()
            os.mkfifo(path)
        case 4:
            (path.parent / random.choice(("extra", "\udcff", "a" * 200))).write_bytes(b"?")
        case _:
            put(path, change(random, path))


def put(path: Path, content: bytes) -> None:
    """Write a new file: some file systems write old content back before they overwrite it."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def of_name(random: Random, path: Path) -> bytes:
    """Return other content of a file, by what its name says that it is."""
    content = path.read_bytes()
    for ending, change in (
        (".gz", of_gzip), (".jsonl", of_lines), (".json", of_json), (".npz", of_zip),
        (".sz", of_zip),
    ):  # fmt: skip
        if path.name.endswith(ending):
            return change(random, content)
    return of_bytes(random, content)
