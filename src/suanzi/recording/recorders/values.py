"""What values the tensors of a program have: their extremes, and what float16 would lose of them.

Integers and 0-d tensors of the CPU are measured at every call; others when a call is made for the
first, 4th, 16th, 64th time: a loop soon costs nothing. Nothing is drawn at random, so that
two runs measure the same. Nothing here imports suanzi or a framework.
"""

try:
    from . import private_parts
except ImportError:  # as a script, where suanzi need not be
    import private_parts

MODES = ("none", "sampled", "all")
ELEMENTS = 1 << 16
"""Elements of a tensor that are looked at, evenly spaced, unless all values are asked for."""
FEW = 1 << 12
"""Elements of which it is counted what float16 loses."""
SMALLEST, SUBNORMAL = 2.0**-25, 2.0**-14
"""What float16 rounds to zero, inclusive, and where its numbers with all bits begin."""
INF, MINUS_INF, NAN = 1, 2, 4
# What is kept of a tensor: least and greatest finite value, which values that are not finite it
# had, then of the elements that were counted: how many, not zero, lost as zero, as subnormals.
LEAST, GREATEST, ODD, COUNTED, NONZERO, ZEROED, SUBNORMALS = range(7)


def joined(old, new):
    """Return what is known of a tensor after it was measured again."""
    if old is None or new is None:
        return old or new
    least = [x for x in (old[LEAST], new[LEAST]) if x is not None]
    greatest = [x for x in (old[GREATEST], new[GREATEST]) if x is not None]
    counts = [a + b for a, b in zip(old[COUNTED:], new[COUNTED:])]
    odd = old[ODD] | new[ODD]
    return [min(least, default=None), max(greatest, default=None), odd, *counts]


class Values:
    """What is measured of the tensors of calls.

    `measure(tensor, whole, counts)` returns what is kept of one, None where it cannot be read;
    with `counts` it is counted what float16 loses. `is_float16(tensor)` is whether that is its
    dtype, `is_cheap(tensor)` whether it is measured at every call, and `may_look()` whether
    anything may be computed just now.
    """

    def __init__(self, mode, Tensor, measure, is_float16, is_cheap, may_look):
        self.whole = mode == "all"
        self.Tensor, self.measure, self.may_look = Tensor, measure, may_look
        self.is_float16, self.is_cheap = is_float16, is_cheap

    def see(self, kept, count, args, kwargs, result):
        """Add to what is kept of a call, for each of its tensors and its result."""
        # Powers of four, of which the one bit is at an even position.
        every = self.whole or (count & (count - 1) == 0 and count.bit_length() & 1)
        if not (every or kept is None or kept["cheap"]):
            return kept
        tensors = [*self.tensors(args, kwargs), result]
        if kept is None:
            cheap = [i for i, x in enumerate(tensors) if self.is_cheap(x)]
            kept = {"cheap": cheap, "seen": [None] * len(tensors)}
        seen = kept["seen"]
        if len(seen) == len(tensors) and self.may_look():
            counts = self.whole or self.is_float16(result)
            for i in range(len(seen)) if every else kept["cheap"]:
                seen[i] = joined(seen[i], self.of(tensors[i], counts))
        return kept

    def of(self, x, counts):
        """Return what is measured of a tensor; a kind that cannot be read is none of ours."""
        try:
            return self.measure(x, self.whole, counts)
        except Exception:
            return None

    def tensors(self, args, kwargs):
        """Yield the tensors of a call, in the order in which it is recorded."""
        for x in (*args, *kwargs.values()):
            if isinstance(x, self.Tensor):
                yield x
            elif isinstance(x, (tuple, list)) and x and isinstance(x[0], self.Tensor):
                yield from (one for one in x if isinstance(one, self.Tensor))


def of_number(x):
    """Return what is kept of a tensor of one number."""
    if isinstance(x, (bool, complex)):
        return None
    if x != x or x in (float("inf"), -float("inf")):
        return [None, None, INF if x > 0 else MINUS_INF if x < 0 else NAN, 0, 0, 0, 0]
    if isinstance(x, int):
        return [x, x, 0, 0, 0, 0, 0]
    size = abs(x)
    return [x, x, 0, 1, int(x != 0), int(0 < size <= SMALLEST), int(SMALLEST < size < SUBNORMAL)]


def may_compute(torch):
    """Tell whether a computation now is nobody's to see: no mode, trace or graph is on."""
    modes = getattr(torch._C, "_len_torch_dispatch_stack", None)
    if (modes is not None and modes()) or torch._C._get_tracing_state() is not None:
        return False
    return not (torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())


def of_torch(mode):
    """Return what measures tensors of PyTorch; None for the mode "none"."""
    if mode == "none":
        return None
    import torch

    exactly = frozenset([torch.Tensor, torch.nn.Parameter])
    floats = frozenset([torch.float32, torch.float64, torch.bfloat16, torch.float16])
    integers = frozenset([torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
    private_parts.take("torch._C._len_torch_dispatch_stack")  # a warning where it is missing
    is_wrapped = private_parts.take("torch._C._functorch.is_functorch_wrapped_tensor")
    is_wrapped = is_wrapped or (lambda x: False)
    functions = torch._C.DisableTorchFunction

    def may_look():
        return may_compute(torch)

    def is_cheap(x):
        return x.device.type == "cpu" and (x.ndim == 0 or x.dtype in integers)

    def measure(x, whole, counts):
        """Return what is kept of a tensor, from its mark if it has not been written since."""
        counts = counts or x.dtype is torch.bfloat16
        if type(x) not in exactly or x.layout is not torch.strided or is_wrapped(x):
            return None
        if x.device.type == "meta" or not (x.dtype in floats or x.dtype in integers):
            return None
        if x.ndim == 0:
            with functions():
                return of_number(x.item())
        if x.numel() == 0:
            return None
        version = None if x.is_inference() else (x._version, x.data_ptr())
        mark = getattr(x, "_suanzi_values", None)
        if mark is not None and mark[0] == version and mark[1] >= counts:
            return mark[2]
        with functions(), torch.no_grad():
            found = extremes(x.detach(), whole, counts)
        if version is not None:
            x._suanzi_values = version, counts, found
        return found

    def extremes(x, whole, counts):
        some = x if whole or x.numel() <= ELEMENTS else spaced(x, ELEMENTS)
        low, high = torch.aminmax(some)
        low, high = low.item(), high.item()
        if x.dtype in integers:
            return [low, high, 0, 0, 0, 0, 0]
        odd = 0
        if low != low or high == float("inf") or low == -float("inf"):
            odd = NAN * bool(some.isnan().any()) | INF * bool((some == float("inf")).any())
            odd |= MINUS_INF * bool((some == -float("inf")).any())
            some = some[some.isfinite()]
            if some.numel() == 0:
                return [None, None, odd, 0, 0, 0, 0]
            low, high = (one.item() for one in torch.aminmax(some))
        if not counts or x.dtype is torch.float16:
            return [low, high, odd, 0, 0, 0, 0]
        few = (some if whole or some.numel() <= FEW else spaced(some, FEW)).abs()
        count = few.numel()
        zeros = count - int(few.count_nonzero())
        zeroed = int((few <= SMALLEST).count_nonzero())
        small = int((few < SUBNORMAL).count_nonzero())
        return [low, high, odd, count, count - zeros, zeroed - zeros, small - zeroed]

    def is_float16(x):
        return x.dtype is torch.float16

    return Values(mode, torch.Tensor, measure, is_float16, is_cheap, may_look)


def of_numpy(mode, Tensor, dtype_name, as_numpy):
    """Return what measures the tensors of a framework by NumPy; None for the mode "none"."""
    if mode == "none":
        return None
    floats = ("float16", "float32", "float64", "bfloat16")

    def is_cheap(x):
        return x.ndim == 0 or dtype_name(x) not in floats

    def is_float16(x):
        return dtype_name(x) == "float16"

    def measure(x, whole, counts):
        name = dtype_name(x)
        if name not in floats and not name.startswith(("int", "uint")):
            return None
        array = as_numpy(x)
        if name == "bfloat16":
            array = widened(array)
        if array.size == 0:
            return None
        if array.ndim == 0:
            return of_number(array.item())
        some = array if whole or array.size <= ELEMENTS else spaced(array, ELEMENTS)
        return extremes(some, name, whole, counts or name == "bfloat16")

    def widened(array):
        """Return bfloat16 as float32: Paddle gives its bits."""
        if array.dtype.name != "uint16":
            return array.astype("float32")
        return (array.astype("uint32") << 16).view("float32")

    def extremes(some, name, whole, counts):
        if name not in floats:
            return [int(some.min()), int(some.max()), 0, 0, 0, 0, 0]
        is_finite = abs(some) < float("inf")
        odd = 0
        if not is_finite.all():
            odd = NAN * bool((some != some).any()) | INF * bool((some == float("inf")).any())
            odd |= MINUS_INF * bool((some == -float("inf")).any())
            some = some[is_finite]
            if some.size == 0:
                return [None, None, odd, 0, 0, 0, 0]
        low, high = float(some.min()), float(some.max())
        if not counts or name == "float16":
            return [low, high, odd, 0, 0, 0, 0]
        few = abs(some if whole or some.size <= FEW else spaced(some, FEW))
        zeros = int((few == 0).sum())
        zeroed = int((few <= SMALLEST).sum())
        small = int((few < SUBNORMAL).sum())
        return [low, high, odd, few.size, few.size - zeros, zeroed - zeros, small - zeroed]

    return Values(mode, Tensor, measure, is_float16, is_cheap, lambda: True)


def spaced(x, most):
    """Return at most so many elements of a tensor, evenly spaced, without a copy of it."""
    steps, left = [1] * x.ndim, 1
    for size in x.shape:
        left *= size
    while left > most:
        i = max(range(x.ndim), key=lambda i: -(-x.shape[i] // steps[i]))
        steps[i] = steps[i] * max(2, -(-left // most) if x.ndim == 1 else 2)
        left = 1
        for size, step in zip(x.shape, steps):
            left *= -(-size // step)
    return x[tuple(slice(None, None, step) for step in steps)]
