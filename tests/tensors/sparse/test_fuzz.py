"""Random sparse tensors and nonsense: an answer or a status, never anything else."""

from __future__ import annotations

import inspect
import math
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from helpers.sparse_cases import NAMES, SHAPES, make, same
from helpers.standard_operators import REGISTRY
from suanzi.ops.sparse.dispatch import FORMS, form_of

WITH_FORM = sorted(name for name, op in REGISTRY.items() if form_of(op))
EVERY = sorted({*REGISTRY, *FORMS})


def anything(random: Random) -> Any:
    shape = random.choice(SHAPES)
    layout = random.choice(["coo", "csr"] if len(shape) == 2 else ["coo"])
    one = make(random, shape, random.choice(NAMES), layout, random.choice([0, 3]))
    return random.choice(
        [
            one, one, one, one.to_dense(), sz.tensor("text"), sz.tensor([1, 2], sz.QT_SYM_INT8),
            None, 0, 1, -1, 2.5, math.nan, 1j, 10**30, "text", b"", [1, 2], (), [one, one],
            np.ones(3), np.array("text"), object(), True, sz.float16, [[1], [2, 3]],
        ]
    )  # fmt: skip


@pytest.mark.parametrize("name", EVERY)
def test_an_answer_or_a_status(name: str) -> None:
    random = Random(name)
    counts, messages = 0, []
    for _ in range(25):
        x = make(random, random.choice(SHAPES), random.choice(NAMES), "coo", random.choice([0, 3]))
        args = [x, *(anything(random) for _ in range(random.randrange(4)))]
        random.shuffle(args)
        try:
            with sz.promotion(random.choice(["cann", "torch", "lossless"])):
                x.__suanzi_operator__(name, tuple(args), {})
        except sz.InternalError:
            raise
        except sz.StatusError as error:
            messages.append(str(error))
        except TypeError as error:  # about how many there are
            messages.append(f"{error}.")
            counts += "argument" not in str(error)
    assert all(message.endswith(".") for message in messages), messages
    assert counts == 0, messages


@pytest.mark.parametrize("name", WITH_FORM)
def test_wrong_numbers_of_arguments(name: str) -> None:
    x = make(Random(1), (2, 3), "int8")
    count = len(inspect.signature(REGISTRY[name].function).parameters)
    for args, kwargs in (((x,) * (count + 1), {}), ((x,), {"sideways": 1})):
        with pytest.raises((TypeError, sz.StatusError), match=rf"^{name} \("):
            x.__suanzi_operator__(name, args, kwargs)


@settings(max_examples=50)
@given(data=st.data())
def test_what_a_dictionary_of_sums_says(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), max_size=3).map(tuple))
    place = st.tuples(*(st.integers(0, n - 1) for n in shape))
    entry = st.tuples(place, st.integers(-(2**15), 2**15 - 1))
    made, sums = [], []
    for _ in range(2):
        entries = data.draw(st.lists(entry, max_size=12))
        total: dict[Any, int] = {}
        for where, value in entries:
            total[where] = total.get(where, 0) + value
        where = np.array([w for w, _ in entries], np.int64).reshape(len(entries), len(shape))
        made.append(sz.create_sparse_tensor(shape, where, [v for _, v in entries], sz.int32))
        sums.append(total)
    x, y = made
    a, b = sums
    assert x.coalesce().indices.tolist() == [list(w) for w in sorted(a)]
    assert x.coalesce().values.tolist() == [a[w] for w in sorted(a)]
    for got, expected in (
        (x + y, {w: a.get(w, 0) + b.get(w, 0) for w in {*a, *b}}),
        (x - y, {w: a.get(w, 0) - b.get(w, 0) for w in {*a, *b}}),
        (sz.max(x, y), {w: max(a.get(w, 0), b.get(w, 0)) for w in {*a, *b}}),
    ):
        left = {w: v for w, v in expected.items() if v}
        assert got.indices.tolist() == [list(w) for w in sorted(left)]
        assert got.values.tolist() == [left[w] for w in sorted(left)]
    same(x.transpose().transpose().to_dense(), x.to_dense())
    assert x.reduce("SUM").item() == sum(a.values())
