"""The C header, and the prototypes it is made of."""

import re
import subprocess

import pytest

from helpers.c_compiler import HEADER, compiler
from suanzi.base.status import InvalidArgument, Status
from suanzi.conformance import header_words
from suanzi.conformance.header import defaults, header, write
from suanzi.standard import interfaces
from suanzi.standard.prototypes import as_printed, enumerations, prototype, prototypes

LENGTHS_OF_C = {"expand": ["shape_len"], "flip": ["axis_len"], "meshgrid": ["len"]}


@pytest.mark.parametrize("name", interfaces())
def test_a_prototype_has_the_names_and_the_order_of_its_interface(name):
    facts, function = interfaces()[name], prototype(name)
    own = [item.name for item in function.parameters]
    assert own[: len(facts.parameters)] == [p.name for p in facts.parameters]
    assert own[len(facts.parameters) :] == LENGTHS_OF_C.get(name, [])
    assert [item.name for item in function.outputs] == list(facts.outputs)


@pytest.mark.parametrize("name", interfaces())
def test_what_the_standard_forgot_stands_behind_the_outputs(name):
    facts, function = interfaces()[name], prototype(name)
    added = [p.name for p in facts.parameters if p.added] + LENGTHS_OF_C.get(name, [])
    outputs = [function.items.index(output) for output in function.outputs]
    behind = function.items[max(outputs) + 1 :] if outputs else ()
    assert [item.name for item in behind] == added


def test_every_array_has_a_length():
    for function in prototypes():
        measured = {*function.lengths.values(), *function.elements}
        for item in function.parameters:
            if item.pointer and item.base in ("int", "int64_t", "float", "Tensor"):
                single = item.name == "channel_axis" or function.interface.name == "destroy"
                assert single or item.name in measured, str(function)


def test_outputs_are_pointers_that_are_not_const():
    for function in prototypes():
        assert all(item.pointer and not item.const for item in function.outputs)
        inputs = [i for i in function.parameters if function.interface.name != "destroy"]
        assert all(item.const for item in inputs)


def test_an_optional_parameter_can_be_left_out_in_c():
    """None is NULL, so its parameter is a pointer; the precision of lstsq has a value."""
    for function in prototypes():
        for item in function.parameters:
            none = defaults(function.interface.name).get(item.name, 0) is None
            if none and item.name not in function.lengths:
                assert item.pointer or item.base == "Tensor" or item.name in ("prec", "n_bytes")


def test_every_mode_is_a_member():
    known = enumerations()
    for function in prototypes():
        for item in function.parameters:
            if item.base in known and item.name in defaults(function.interface.name):
                assert defaults(function.interface.name)[item.name] in known[item.base]


def test_every_interface_is_declared_once_with_its_clause():
    text = header()
    for facts in interfaces().values():
        forms = 2 if as_printed(facts.name) else 1
        assert len(re.findall(rf"^Status {facts.c_name}\(", text, re.M)) == forms
        assert f"/* {facts.clause}: " in text
    printed = [name for name in interfaces() if as_printed(name)]
    assert printed == ["unstack", "pad", "dot_bwd2"]
    assert len(re.findall(r"^Status op_(?!library)", text, re.M)) == len(interfaces()) + 4, (
        "and op_ifft"
    )


def test_every_status_of_a_clause_stands_above_its_function():
    for block in header().split("/* 7.")[1:]:
        found = re.search(r"^Status op_(\w+)\(", block, re.M)
        if found is None:
            continue
        told = set(re.findall(r"STATUS_(\w+): \w", block.partition("*/")[0]))
        statuses = {s.name for s in interfaces()[found[1]].statuses} - {"SUCCESS"}
        assert told == statuses, found[1]


def test_the_words_are_those_of_c_and_contradict_no_demand():
    """What only this library promises, of NaN, of promotion, of ties, is no word of the header."""
    for block in re.findall(r"/\* 7\.\d.*?\*/", header(), re.S):
        assert not re.search(
            r"NaN (below|wins|stays|outside)|promoted|infinity|None\b|a tuple", block
        )
    for op in interfaces():
        assert header_words.summary(op).endswith("."), op


def test_modes_may_have_a_prefix(tmp_path):
    text = header("AI_")
    for members in enumerations().values():
        for member in members:
            assert re.search(rf"^    AI_{member} = ", text, re.M)
            assert not re.search(rf"^    {member} = ", text, re.M)
    assert "left out: mode AI_SUM" in text
    assert header() != text
    with pytest.raises(InvalidArgument, match="begins no name"):
        header("1-")


def test_the_statuses_are_those_of_the_program():
    found = re.findall(r"STATUS_(\w+) = (\d+)", header())
    assert {name: int(value) for name, value in found} == {s.name: s.value for s in Status}


def test_misprinted_names_are_macros():
    printed = {p: f.c_name for f in interfaces().values() for p in f.printed}
    assert dict(re.findall(r"^#define (op_\w+) (op_\w+)$", header(), re.M)) == printed


@pytest.mark.parametrize(
    ("names", "suffix", "standard"),
    [(("cc", "gcc", "clang"), ".c", "c99"), (("c++", "g++", "clang++"), ".cc", "c++11")],
)
def test_it_compiles_without_a_warning(names, suffix, standard, tmp_path):
    tool = compiler(*names)
    write(tmp_path / HEADER)
    source = tmp_path / f"user{suffix}"
    # Twice, for its guard; a use of each kind of thing.
    source.write_text(
        f'#include "{HEADER}"\n#include "{HEADER}"\n'
        "Status user(Tensor x, Tensor *y) {\n"
        "    int axis[] = {0};\n"
        "    if (x->storage->dtype.code == kReal) return op_reduce(x, SUM, axis, 1, false, y);\n"
        "    return op_rsqrtn(x, y);\n}\n"
    )
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
    done = subprocess.run([tool, *flags, str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_lines_are_short_and_ascii():
    assert header().isascii()
    assert max(map(len, header().splitlines())) <= 100


def test_write(tmp_path, capsys):
    write()
    assert capsys.readouterr().out == header()
    write(tmp_path / "a.h")
    assert (tmp_path / "a.h").read_text() == header()
    with pytest.raises(InvalidArgument, match="cannot be written"):
        write(tmp_path / "no folder" / "a.h")
