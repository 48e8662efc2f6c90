"""Writing ONNX models whose weights may be in separate files, as torch.onnx.export has it."""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

from suanzi.base.status import InvalidArgument


def check(model: str | PathLike[str], sentence: str, *, full_check: bool = False) -> None:
    """Let ONNX's own checker look at a file, which finds the weights in its folder."""
    import onnx

    try:
        onnx.checker.check_model(str(model), full_check=full_check)
    except Exception as error:  # of several classes
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise InvalidArgument(f"{sentence}: {said[0]}") from None


def write(
    model: Any, path: str | PathLike[str], out: str | PathLike[str], sentence: str | None
) -> None:
    """Write the model that was read from `path`, with its weights in the same folder.

    It has to pass ONNX's checker, or no model is written and `sentence` is said; None: it need not.
    """
    import onnx

    there = Path(out)
    if not there.name or "\0" in str(out):
        raise InvalidArgument(f"port: {str(out)!r} names no file; name one with --fix.")
    names = sorted(set(_weights(model.graph)))
    for name in names:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise InvalidArgument(f"{str(path)!r} has weights outside of its folder: {name!r}.")
        if there.resolve() in {
            (beside / name).resolve() for beside in (there.parent, Path(path).parent)
        }:
            raise InvalidArgument(
                f"port: {str(out)!r} is where the weights of the model are, or would be; name "
                "another file with --fix."
            )
        folder = Path(path).parent.resolve()
        if not (folder / name).resolve().is_relative_to(folder):  # by a link
            raise InvalidArgument(f"{str(path)!r} has weights outside of its folder: {name!r}.")
        if not (Path(path).parent / name).is_file():
            raise InvalidArgument(
                f"port: {str(path)!r} has weights in {name!r}, which does not exist in its folder."
            )
    part = there.with_name(f".{there.name}.part")
    made: list[Path] = []
    try:
        for name in names:
            _copy(Path(path).parent / name, there.parent / name, made)
        onnx.save(model, part)
        if sentence is not None:
            check(part, sentence, full_check=True)
        part.replace(there)
        made.clear()
    except OSError as error:
        raise InvalidArgument(f"{str(out)!r} cannot be written: {error.strerror}.") from None
    finally:
        with suppress(OSError):  # as where a folder of it is a file
            part.unlink()
        for one in reversed(made):
            with suppress(OSError):
                one.rmdir() if one.is_dir() else one.unlink()


def _copy(source: Path, target: Path, made: list[Path]) -> None:
    """Copy a file of weights to the folder of the new model, and note that it was created."""
    if target.exists():
        if not target.samefile(source) and not filecmp.cmp(source, target, shallow=False):
            raise InvalidArgument(
                f"port: {str(target)!r} exists, and the weights of the model would overwrite "
                "it; name a file in another folder with --fix."
            )
        return
    for folder in reversed(target.parents):
        if not folder.exists():
            made.append(folder)
            folder.mkdir()
    made.append(target)
    shutil.copyfile(source, target)


def _weights(graph: Any) -> Iterator[str]:
    """Yield the files that hold tensors of a graph, and of the graphs inside of it."""
    tensors = list(graph.initializer)
    for node in graph.node:
        for attribute in node.attribute:
            tensors += [attribute.t, *attribute.tensors]
            for inner in (attribute.g, *attribute.graphs):
                yield from _weights(inner)
    for tensor in tensors:
        yield from (one.value for one in tensor.external_data if one.key == "location")
