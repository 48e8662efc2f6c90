"""Arguments with which most operators of PyTorch can be called once; and where they are found."""

import torch

PLACES = (torch, torch.Tensor, torch.nn.functional)
X = torch.rand(3, 3) * 0.5 + 0.25
SPD = X @ X.T + torch.eye(3)
IMAGE, INDEX, WHOLE = torch.rand(1, 2, 4, 4), torch.tensor([[0, 1, 2]] * 3), torch.arange(1, 10)
MASK = X > 0.5
ARGUMENTS = (
    (SPD,), (X, X), (X, 1), (X, 0.5), (X, X, X), (X, 0, INDEX), (X, X, 0.5), (IMAGE,), (IMAGE, 2),
    (IMAGE, IMAGE), (WHOLE,), (WHOLE, WHOLE), (INDEX, X), (X, INDEX), (X, 0, INDEX, X), (X, MASK),
    (MASK,), (MASK, MASK), (X, MASK, X), (X, MASK, 1.0), ([X, X],), (X, (1, 1)), (X[0],),
    (X[0], X[0]), (X, X[0]), (X, 0, 1), (X, (0,)), (X, [0, 1], [1, 0]), (X, 2, 0), (MASK, X, X),
    (X.to(torch.complex64),), (X.unsqueeze(0), X.unsqueeze(0)), (IMAGE, (2, 2)), (X, 0, INDEX[0]),
    (X, (INDEX[0],), X), (X, 0, INDEX[0], X), (X, X[0], X[0]), (X, INDEX[0]), (IMAGE, IMAGE[:, :1]),
    (X, 0, INDEX, 1.0), (X[0], 3), (IMAGE, X[0, :2], X[0, :2]), (X, (3,)), (X, 0, 0, 1),
)  # fmt: skip


def function_of(name):
    """Return the function or method of a name; None where there is none."""
    for prefix, place in (
        ("linalg_", torch.linalg),
        ("special_", torch.special),
        ("fft_", torch.fft),
    ):
        if name.startswith(prefix) and callable(getattr(place, name[len(prefix) :], None)):
            return getattr(place, name[len(prefix) :])
    functions = [getattr(place, name, None) for place in PLACES]
    return next((f for f in functions if callable(f)), None)


def results(function, given):
    """Return the tensors that a call gives; None where it cannot be made."""
    given = tuple(x.clone() if isinstance(x, torch.Tensor) else x for x in given)
    try:
        result = function(*given)
    except Exception:
        return None
    parts = result if isinstance(result, (tuple, list)) else (result,)
    return [x for x in parts if isinstance(x, torch.Tensor)] or None
