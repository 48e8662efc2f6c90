"""The compiled core of suanzi."""

from collections.abc import Sequence
from typing import TypeVar


from collections.abc import Callable, Mapping, Sequence
from typing import Any

from suanzi.tensors.tensor import Tensor

VERSION: str

F = TypeVar("F")

class DType:
    """
    The type of a tensor's elements. Every dtype is one object: compare with ``is``, or with ``==``, which also accepts names and dtypes of other libraries.
    """

    def __init__(self) -> None: ...

    @property
    def name(self) -> str:
        """The name, such as 'float16'."""

    @property
    def kind(self) -> str:
        """'bool', 'int', 'uint', 'float', 'complex', 'char' or 'quantized'."""

    @property
    def code(self) -> int:
        """The TypeCode of A.1; with `bits` it names the dtype."""

    @property
    def size(self) -> int:
        """The same as `bits`, as the standard calls it."""

    @property
    def bits(self) -> int:
        """Logical width in bits; complex dtypes count both parts."""

    @property
    def itemsize(self) -> int:
        """Bytes one element takes in storage."""

    @property
    def exponent_bits(self) -> int:
        """Exponent width of a float (or of one part of a complex); 0 for others."""

    @property
    def mantissa_bits(self) -> int:
        """
        Stored mantissa bits of a float (or of one part of a complex); 0 for others.
        """

    @property
    def has_infinity(self) -> bool:
        """Whether the format has infinities (float8_e4m3fn has none)."""

    @property
    def index(self) -> int:
        """Position in the dtype list."""

    @property
    def is_floating_point(self) -> bool:
        """Whether it is a real floating-point dtype."""

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex dtype."""

    @property
    def is_signed(self) -> bool:
        """Whether it has negative numbers."""

    @property
    def dtype(self) -> Any:
        """NumPy's dtype for it, used by np.dtype."""

    @property
    def __numpy_dtype__(self) -> Any:
        """NumPy's dtype for it, used by np.dtype."""

    def __repr__(self) -> str: ...

    def __str__(self) -> str: ...

    def __reduce__(self) -> tuple[object, ...]: ...

DTYPES: tuple[DType, ...]

class RuleTable:
    """The remembered answers of one rule set."""

    def __init__(self, own_rules: Sequence[str], for_unequal: Sequence[str], checks_integers: bool, saturates: bool) -> None: ...

    def _remember(self, operator_class: int, a: int, b: int, answer: DType) -> None:
        """Remembers the engine's answer to a cell."""

    def _remember_refusal(self, operator_class: int, a: int, b: int) -> None:
        """Remembers that the engine refuses a cell."""

ZERO_DIM_BASE: int = 30

NUMBER_BASE: int = 60

def use_rules(variable: object, by_name: dict[str, Any]) -> None:
    """
    Says where the rule set in force is found: a ContextVar, and the loaded rule sets.
    """

def rules_chosen() -> None:
    """To be called before the ContextVar gets its first value."""

def set_default_rules(rules: RuleTable) -> None:
    """The rule set in force where the ContextVar has no value."""

def use_operators(classes: dict[str, Any]) -> None:
    """Says which operator is of which class."""

def use_rounding(variable: object) -> None:
    """
    Says where the rounding in force is found: a ContextVar of whether it is the correct one.
    """

def rounding_chosen() -> None:
    """To be called before the ContextVar gets its first value."""

def set_default_rounding(correct: bool) -> None:
    """What is in force where the ContextVar has no value."""

def use_zero_dim(type: type) -> None:
    """Says which type stands for a 0-d tensor."""

def use_refusal(function: Any) -> None:
    """
    Says what raises for operands that the table refuses: it gets the rule set, the operator and codes.
    """

def accelerate(function: F, key: str = '', repeated: bool = False, /) -> F:
    """
    Puts the fast path of an operator's key, or else of its name, in front of a Python function, and before it, of calls on tensors of a device, what was kept of an earlier one.
    """

class Storage:
    """Memory that tensors share; its elements are of one dtype."""

    @property
    def device(self) -> Any:
        """The device it is on."""

    @property
    def dtype(self) -> DType:
        """The type of the elements."""

    @property
    def size(self) -> int:
        """Elements."""

    @property
    def nbytes(self) -> int:
        """Bytes."""

    @property
    def data(self) -> int:
        """The address of the first element."""

    @property
    def read_only(self) -> bool:
        """Whether the memory must not be written to."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    @property
    def memory(self) -> memoryview:
        """The bytes."""

def make_tensor_type(methods: F) -> F:
    """
    Makes the type Tensor, with the methods of a Python class and its bases.
    """

def empty(shape: Sequence[int], dtype: DType) -> Tensor:
    """A new tensor in row-major order, its elements not set."""

def wrap_memory(address: int, size: int, dtype: DType, shape: Sequence[int], strides: Sequence[int], offset: int, read_only: bool, owner: object) -> Tensor:
    """A tensor over memory that `owner` keeps alive."""

def view(base: Any, offset: int, shape: Sequence[int], strides: Sequence[int]) -> Tensor:
    """
    Another tensor on the storage of `base`; offset and strides count elements. It has the scale of `base`, but scales of channels only if it is the same elements: else set_quantization is to follow.
    """

def as_array_api(made: F, like: Any = None) -> F:
    """
    A new tensor as one of the array API's; with `like`, only if that is one.
    """

def set_quantization(tensor: Any, scale: Sequence[float], zero_point: int, channel_axis: int) -> None:
    """Sets the scales and zero points of a tensor of integers."""

def destroy(tensor: Any) -> None:
    """Releases the storage; the tensor cannot be used afterwards."""

def storage(tensor: Any) -> Storage:
    """The storage of a tensor."""

def blas_buffer() -> int:
    """What OpenBLAS takes for each call at the same time as others."""

def memory_is_limited() -> bool:
    """Whether this process may exhaust its address space before memory."""

def has_room(bytes: int) -> bool:
    """Whether so many bytes fit within the memory limit, if there is one."""

def pool_info() -> dict[str, int]:
    """Bytes in use, cached, the most that is cached; storages alive."""

def trim_pool() -> None:
    """Returns all cached memory to the system."""

def bound_pool(nbytes: int) -> None:
    """Sets how many bytes are kept for reuse."""

def declare_operator(name: str, kernel: str, count: int, operator_class: int, dtypes: Sequence[DType], expensive: bool, has_domain: bool, function: F, rules: RuleTable | None = None, symbol: str = '') -> F:
    """
    Puts the fast path for a kernel in front of the Python function of an operator: under the rules in force, or under its own, where it is also what a symbol of Python means.
    """

def declare_function(function: F, override: Any) -> F:
    """
    A function of the array API's namespace: its tensors are that's; `override` is called instead where an argument computes operators itself.
    """

def check_domains() -> None:
    """
    Leaves operators that have a domain to Python from here on, which asks whether it matters there.
    """

def declare_in_place(refuse: object) -> None:
    """
    Sets what is called with x, a result and the operator where x += y cannot write it.
    """

def use_operator_refusal(function: Any) -> None:
    """
    Says what raises for operands that the table refuses: it gets the rule set, the operator and codes.
    """

def use_shape_refusal(function: Any) -> None:
    """
    Says what raises for two shapes that do not go together: it gets the operator and the shapes.
    """

def declare_symbol(name: str, function: Any, rules: RuleTable | None = None) -> None:
    """
    Says which Python function is behind the symbol of an operator that has no fast path.
    """

def copy_into(target: Any, source: Any, saturate: bool = False) -> None:
    """
    Writes a tensor of the same dtype into another, to which it is broadcast.
    """

def overlap(a: Any, b: Any) -> bool:
    """Whether the elements of two tensors may share bytes."""

def run_operator(kernel: str, operands: Sequence[Any], promoted: DType) -> tuple[Tensor, int]:
    """
    Computes an operator in a dtype; the number says what it met: 1 a zero divisor, 2 a bad shift.
    """

def run_exact_compare(which: int, operands: Sequence[Any]) -> Tensor:
    """Compares real operands by value; ==, !=, >, >=, <, <= are 0 to 5."""

def cast(tensor: Any, dtype: DType, saturate: bool) -> Tensor:
    """A copy in another dtype."""

def row_major_copy(tensor: Any) -> Tensor:
    """A copy in row-major order."""

def levels() -> list[str]:
    """The instruction-set levels this machine has, best first."""

def level() -> str:
    """The level in use."""

def use_level(level: str) -> None:
    """Chooses the instruction-set level."""

def get_num_threads() -> int:
    """How many threads large loops use."""

def set_num_threads(count: int) -> None:
    """Sets how many threads large loops use, from 1 to 1024."""

def full(shape: Sequence[int], dtype: DType, value: complex) -> Tensor:
    """A new tensor in row-major order, every element of it one number."""

def from_bytes(buffer: Any, n_bytes: int, shape: Sequence[int], dtype: DType) -> Tensor:
    """
    A new tensor with the first bytes of a buffer, then zeros, in row-major order.
    """

def fill_sequence(tensor: Any, begin: int, end: int, start: complex, step: complex, shift: int, doubled: bool) -> None:
    """
    Writes start + (i - shift) * step, or twice that, to the elements i of a new tensor.
    """

def memory_of(buffer: Any) -> tuple[int, int, bool]:
    """
    Where the bytes of a buffer are, how many, and whether they must not be written to.
    """

def is_row_major(tensor: Any) -> bool:
    """Whether a tensor is dense, in row-major order."""

def random_uniform(tensor: Any, seed: int, low: complex, high: complex, last: complex, first: int = 0) -> None:
    """
    Fills a new tensor with uniform floats from `low` to `last`, which is below `high`.
    """

def random_integers(tensor: Any, seed: int, low: int, count: int, first: int = 0) -> None:
    """
    Fills a new tensor with uniform integers, `count` of them from `low` on.
    """

def random_normal(tensor: Any, seed: int, mean: complex, deviation: float, end: float, first: int = 0) -> None:
    """
    Fills a new tensor with normal numbers; what is beyond `end` becomes it.
    """

def random_bernoulli(tensor: Any, chances: Any, seed: int, first: int = 0) -> bool:
    """
    Fills a new tensor with 1 by each chance, else 0; False if one is no chance.
    """

def random_choices(tensor: Any, row: int, ends: Any, last: int, seed: int) -> None:
    """
    Fills a row of int64 with indices by weights, of which `ends` are the sums.
    """

def random_rings(tensor: Any, rates: Any, first: int, seed: int) -> None:
    """Fills float64 with the logarithms of when clocks of these rates ring."""

def random_permutation(tensor: Any, seed: int) -> None:
    """Shuffles the elements of a new tensor."""

def random_words(key: int, first: int, purpose: int, nonce: int, blocks: int) -> list[int]:
    """The words of blocks of Philox4x32-10."""

class Launcher:
    """A kernel of a device, and how its driver starts it."""

    def __init__(self, entry: int, function: int, threads: int, shared: int, types: str) -> None:
        """
        The address of the driver's entry point and of the kernel, and the types of the values: f, d, Q, or q for all others.
        """

    def __call__(self, *values: int | float) -> int:
        """
        The status of a start: the grid in three numbers, the stream, and the values.
        """

class Program:
    """Kernels that are started one after the other with aligned tensors."""

    def __init__(self, allocate: Any, stream: Any, device: int, makings: list[tuple[Any, ...]], steps: list[tuple[Launcher, int, list[int], list[Any]]]) -> None:
        """
        What makes tensors, and with which arguments; what returns the stream of a device; and of each step its launcher, the size of its grid, of each value the number of a tensor or -1, and the values.
        """

class KeptCall:
    """A plan for calls like one that was made, and its outcome."""

    def __init__(self, plan: Any, places: tuple[int, ...], like: Any) -> None:
        """
        The plan, which arguments are its tensors, and a tensor like the result.
        """

def use_repeated(type: type, plans: dict[Any, KeptCall], domains: object, rules: object, number: type, other: Any, status: type, wrap: Any) -> None:
    """
    Says what a kept call is found by, and what makes its result: see suanzi.runtimes.torch.repeating.
    """

def repeated_symbol(name: str, key: str, function: Any) -> Any:
    """
    A method for a symbol of Python that tries first what was kept, and then a function.
    """

def facts(key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """What the plan of a call depends on."""

def again(key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call whose plan was kept, or NotImplemented."""

def read_lists(data: Any) -> tuple[Tensor, str, int, int] | None:
    """
    A tensor of plain, regular lists of numbers: bool, int64 or float64, and their kind and range.
    """

def to_lists(tensor: Any) -> Any:
    """
    The elements as nested lists of Python numbers; None for dtypes that are not numbers.
    """

def warn_of_cycles(on: bool) -> None:
    """
    Whether transpose leaves axes that NumPy would move otherwise to Python, which warns of them.
    """

def try_view(name: str, *args: Any) -> Any:
    """
    What the fast path of that name makes of its arguments; None if it does not take them.
    """

def parts_of_axis(tensor: Any, axis: int, sizes: Sequence[int]) -> list[Tensor]:
    """Views on one part of an axis after the other."""

def declare_indexing(get: object, set: object) -> None:
    """
    Names the functions that x[key] and x[key] = value are left to where they are no plain views.
    """

def basic_view(tensor: Any, key: Any) -> Tensor | None:
    """
    The view that integers, slices, None and Ellipsis ask for; None for any other key.
    """

def join(tensors: Sequence[Any], axis: int, dtype: DType, stacks: bool) -> Tensor:
    """
    Tensors one behind the other along an axis, or stacked along a new one, in a dtype.
    """

def join_alike(tensors: Any, axis: Any, stacks: bool) -> Tensor | None:
    """
    The same of tensors that need no conversion, or None where they are something else.
    """

def tile(tensor: Any, repeats: Sequence[int]) -> Tensor:
    """A tensor repeated along each axis."""

def pad(tensor: Any, widths: Sequence[int], mode: int, value: Any) -> Tensor:
    """
    A tensor with padding before and after it along each axis: 0 a number, 1 periods, 2 mirror images.
    """

def roll(tensor: Any, shifts: Sequence[int]) -> Tensor:
    """
    A tensor shifted along each axis, what leaves it at the end coming in at the start.
    """

def index_offsets(indices: Sequence[Any], dims: Sequence[int], strides: Sequence[int], wraps: bool) -> Tensor | tuple[int, int]:
    """
    Where indices, one tensor for each axis, point to; or which tensor has a bad one, and where in it.
    """

def has_dense_rows(tensor: Any, first: int) -> bool:
    """Whether the axes from `first` on are dense, in row-major order."""

def gather(tensor: Any, axis: int, picked: int, offsets: Any) -> Tensor:
    """The rows at offsets, in place of the axes that they index."""

def scatter(target: Any, axis: int, picked: int, offsets: Any, updates: Any, adds: bool) -> None:
    """Writes rows to offsets, or adds them to what is there."""

def masked_select(input: Any, mask: Any) -> Tensor:
    """The elements that a mask picks."""

def mask_indices(mask: Any) -> Tensor:
    """Where a mask is true, counted in row-major order."""

def find_best(input: Any, axis: int, keepdim: bool, wide: bool, least: bool) -> Tensor:
    """
    The index of the first largest or smallest element along an axis, as int64 or int32.
    """

def order(input: Any, axis: int, descending: bool, k: int, longest: int = 4294967295) -> tuple[Tensor, Tensor]:
    """
    The first k elements along an axis in order, and where they were; rows above `longest` count in 64 bits.
    """

def unsort(gradient: Any, indices: Any, axis: int) -> Tensor | tuple[int, bool]:
    """
    Elements brought back to where indices say they were; or a wrong index, and whether it is there twice.
    """

def sort_values(input: Any, axis: int, descending: bool, longest: int = 4294967295) -> Tensor:
    """
    The elements along an axis in order; rows above `longest` are sorted by comparisons.
    """

def nonzero(input: Any, as_tuple: bool) -> Any:
    """
    The coordinates of elements that are not zero, in a tuple or as rows; None if there are none.
    """

def search_sorted(sorted: Any, keys: Any, right: bool) -> Tensor:
    """
    How many elements of a dense, sorted row come before each of dense keys of its dtype, equal ones too if `right`.
    """

def repeat_indices(counts: Any) -> Tensor:
    """
    Each index as often as its count says; counts are a dense row of int64, none of them negative.
    """

def repeat_few(x: Any, counts: Any, axis: Any) -> Tensor | None:
    """
    Elements along an axis, each as often as its count says, or None where these are many or something else.
    """

def diagonal(x: Any, offset: Any) -> Tensor | None:
    """
    A view of the diagonals of matrices, or None where these are something else.
    """

def order_complex(rows: Any, descending: bool) -> Tensor:
    """
    Where the elements of dense rows of complex numbers are, in order; equal ones keep theirs.
    """

def make_complex(real: Any, imag: Any) -> Tensor:
    """Complex numbers of two parts."""

def conjugate(input: Any) -> Tensor:
    """The conjugates of complex numbers."""

def part_view(input: Any, imaginary: bool) -> Tensor:
    """The real or the imaginary parts, on the same memory."""

def interpolate(tensor: Any, sizes: Sequence[int], mode: int) -> Tensor:
    """
    A tensor sampled at other sizes of its axes from the third on: 0 nearest, 1 linear, 2 area.
    """

def fourier(source: Any, target: Any, axis: int, forward: bool, scale: float) -> None:
    """
    Writes the transform along an axis of a dense complex tensor into another, or into itself, times a number.
    """

def fourier_real(source: Any, target: Any, axis: int, forward: bool, scale: float) -> None:
    """
    The same from real numbers to their spectrum, or to half of it, or from half of a spectrum to real numbers.
    """

def declare_reduce_modes(members: Sequence[object]) -> None:
    """Says which objects are the modes, in their order."""

def reduce(tensor: Any, mode: int, axes: Sequence[int], keep_dims: bool) -> Tensor:
    """Combines the elements along axes of a tensor that has some."""

def wide_sum(tensor: Any, axes: Sequence[int], keep_dims: bool) -> Tensor:
    """Adds up integers and bool along axes in 64 bits, without a copy."""

def squared_distances(tensor: Any, axes: Sequence[int], keep_dims: bool) -> Tensor:
    """
    Adds up squares of the distances from the mean along axes, of float32 or float64.
    """

def norm(tensor: Any, part: int, axes: Sequence[int], keep_dims: bool) -> Tensor:
    """
    Sums of magnitudes (0), the largest (1) or roots of sums of squares (2) of a tensor with elements.
    """

def exact_reduce(matrix: Any, kind: int, to_odd: bool) -> Tensor:
    """
    Of each row, exactly and rounded once to float64, to nearest or to odd: the sum (0), the mean (1), the sum of magnitudes (2), the root of the sum of squares (3).
    """

def exact_products(matrix: Any, transposed: Any, to_odd: bool) -> Tensor:
    """
    The inner products of each row of a matrix with each of another, exactly and rounded once to float64.
    """

def partial_size(mode: int, norm: bool, dtype: DType) -> int:
    """The bytes of a partial result of reduce, or of a part of norms."""

def reduce_partly(tensor: Any, mode: int, norm: bool, axes: Sequence[int], out: Any) -> None:
    """Writes partial results along axes into bytes."""

def combine_partly(a: Any, b: Any, mode: int, norm: bool, dtype: DType, count: int) -> None:
    """
    Combines partial results with those of elements that come after them, in place.
    """

def finish_partly(partials: Any, mode: int, norm: bool, dtype: DType, n: int, out: Any) -> None:
    """Makes results of partial ones, each of n elements."""

def cumulative_sum(tensor: Any, axis: int, backwards: bool, in_place: bool = False) -> Tensor:
    """
    The sums of the elements along an axis up to each, from the first element or from the last; `in_place` writes them over the elements.
    """

def cumulative_sum_onto(tensor: Any, axis: int, backwards: bool, onto: Any) -> Tensor:
    """
    The same for real floats, added to preceding sums: `onto` is float64 with size 1 along the axis.
    """

def cumulative_product(tensor: Any, axis: int, single: bool, in_place: bool = False) -> Tensor:
    """
    The products of the elements along an axis up to each; `single` multiplies float32 in float32, `in_place` writes them over the elements.
    """

def unite_rows(a_pointers: Any, a_columns: Any, a_values: Any, b_pointers: Any, b_columns: Any, b_values: Any) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """
    Row pointers and columns of both, the values of each with zeros between, and where columns are from: 1, 2 or 3.
    """

def coordinates_of(places: Any, shape: Sequence[int]) -> Tensor:
    """
    A row of coordinates for each axis, of places counted through a dense tensor.
    """

def common_rows(a_pointers: Any, a_columns: Any, b_pointers: Any, b_columns: Any) -> tuple[Tensor, Tensor, Tensor]:
    """
    Row pointers of the places that are in both, and where these are in each.
    """

def sum_rows(pointers: Any, values: Any) -> Tensor:
    """The sum of each row of float32, made in float64."""

def sum_columns(columns: Any, values: Any, count: int) -> Tensor:
    """The sum of the float32 values in each column, made in float64."""

def fill_rows(target: Any, pointers: Any, columns: Any, values: Any) -> None:
    """
    Writes zeros, and the values in their columns, to a tensor seen as rows.
    """

def sort_rows(pointers: Any, columns: Any, values: Any) -> tuple[Tensor, Tensor]:
    """
    Columns, of int32 and at least 0, in rising order within each row, as int64; and the values with them.
    """

def rows_in_order(rows: Any, columns: Any, values: Any, count: int) -> tuple[Tensor, Tensor, Tensor, tuple[Tensor, Tensor, Tensor] | None] | None:
    """
    Row pointers, columns and values in row-major order, the first of each place; where some are repeated, which these are, and where the values of each begin among all of theirs. None where they are in order already.
    """

def dequantize(tensor: Any, dtype: DType, saturate: bool) -> Tensor:
    """What a quantised tensor stands for, rounded once to a dtype."""

def quantize(tensor: Any, dtype: DType, scale: Sequence[float], zero_point: int, channel_axis: int, down: bool) -> Tensor:
    """
    Real numbers as integers of a quantised dtype, to the nearest or down; what is out of range is limited.
    """

def quantize_above(tensor: Any, dtype: DType, least: float, scale: float, zero_point: int, down: bool) -> Tensor:
    """
    As quantize, by the exact differences from the least element, which becomes the least integer.
    """

def value_range(tensor: Any, channel_axis: int) -> tuple[list[float], list[float], bool]:
    """
    The least and the largest element of each channel, and whether all are finite.
    """

def multiply(a: Any, b: Any, dtype: DType, bias: Any = None, transposed: bool = False) -> Tensor:
    """
    The product of matrices, vectors or batches of them, each converted to a dtype; with `transposed`, b is transposed.
    """

def products_by_instruction() -> list[str]:
    """
    The dtypes whose products this processor has instructions for that are in use.
    """

def products_in_tiles() -> bool:
    """
    Whether large matrices of floats are multiplied by our own kernels, if no other provider was chosen.
    """

def provider() -> str | None:
    """
    The name of what BLAS and LAPACK come from; None before they are loaded.
    """

def use_provider_again(name: str) -> bool:
    """Whether a provider was loaded before; then it is in use."""

def use_capsules(name: str, blas: Mapping[str, object], lapack: Mapping[str, object], limit: Callable[[bool], None] | None, addresses: tuple[int, int] | None) -> None:
    """Takes BLAS and LAPACK from capsules by name."""

def use_file(name: str, path: str, prefix: str, suffix: str, get_threads: str, set_threads: str, choices: tuple[tuple[str, int], ...] = ()) -> None:
    """
    Takes BLAS and LAPACK from a shared library, whose functions have a prefix and a suffix, after functions of its have been called with a number each.
    """

def dlpack_capsule(tensor: Any, versioned: bool) -> object:
    """The memory of a tensor, for another library."""

def take_capsule(capsule: object) -> Tensor:
    """A tensor over the memory of another library."""

def solve(mat: Any, rhs: Any, adjoint: bool) -> Tensor:
    """Solves equations of one dtype; or Refused."""

def inverse(mat: Any) -> Tensor:
    """Inverts matrices; or Refused."""

def lu(mat: Any) -> tuple[Tensor, Tensor]:
    """L and U of matrices in one, and row swaps; or Refused."""

def cholesky(mat: Any, upper: bool) -> Tensor:
    """Triangular factors of matrices; or Refused."""

def qr(mat: Any, mode: str) -> tuple[Tensor | None, Tensor]:
    """Orthogonal and triangular factors of matrices; or Refused."""

def svd(mat: Any, reduced: bool) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V of matrices; or Refused."""

def singular_values(mat: Any) -> Tensor:
    """Singular values of matrices, falling; or Refused."""

def eig(mat: Any) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of matrices; or Refused."""

def eigenvalues(mat: Any) -> Tensor:
    """Eigenvalues of matrices, complex; or Refused."""

def hermitian_eigenvalues(mat: Any, vectors: bool) -> tuple[Tensor, Tensor | None]:
    """
    Eigenvalues, rising, of matrices of which the lower triangle is read, and their vectors if wanted; or Refused.
    """

def determinant(mat: Any) -> Tensor:
    """Determinants; or Refused."""

def log_determinant(mat: Any) -> tuple[Tensor, Tensor]:
    """
    Signs of determinants, and the logarithms of their magnitudes; or Refused.
    """

def lstsq(mat: Any, rhs: Any, cut: float) -> Tensor:
    """Least-squares solutions; or Refused."""

def attention(q: Any, k: Any, v: Any, mask: Any, sink: Any, scale: float, softcap: float, left: int, right: int, offset: int, zero_rows: bool) -> Tensor:
    """
    Attention of tensors (batch..., heads, rows, columns) of one dtype; a query i sees the keys from i + offset - left to i + offset + right, -1 being no limit.
    """

def attention_bwd(out_grad: Any, q: Any, k: Any, v: Any, mask: Any, sink: Any, scale: float, softcap: float, left: int, right: int, offset: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """
    The gradients of q, k and v, as attention takes them, and that of the sink in float64, (batch, heads).
    """

def rotary(x: Any, cosines: Any, sines: Any, interleaved: bool, back: bool) -> Tensor:
    """
    Pairs of the last axis turned by angles; with `back`, by their negatives. All are of one dtype; the tables broadcast to x but for the last axis.
    """

def nn_activation(name: str, tensors: Sequence[Tensor], parameters: Sequence[float]) -> Any:
    """
    An activation or its gradient, by its name in kernels/nn/activations.def: a tensor, or a tuple of two.
    """

def nn_pair_loss(kind: int, x: Any, target: Any, weight: Any, positive: Any, parameter: float, reduces: bool, divisor: float) -> Tensor:
    """The losses of pairs of dense tensors, or their sum by a divisor."""

def nn_pair_loss_bwd(kind: int, out_grad: Any, x: Any, target: Any, weight: Any, positive: Any, parameter: float, divisor: float) -> tuple[Tensor, Tensor]:
    """The gradients of losses of pairs by x and by the target."""

def nn_row_loss(x: Any, target: Any, weight: Any, is_log: bool, ignore: int, smoothing: float, reduces: int, empty_mean: float) -> Tensor:
    """
    The losses of rows of classes: 0 as they are, 1 their sum, 2 their mean, or empty_mean where none counts.
    """

def nn_row_loss_bwd(out_grad: Any, x: Any, target: Any, weight: Any, is_log: bool, ignore: int, smoothing: float, reduces: int) -> Tensor:
    """The gradient of losses of rows by x."""

def nn_bad_class(target: Any, classes: int, ignore: int) -> int:
    """
    The first index that is neither a class nor ignored; -1: there is none.
    """

def nn_softmax(x: Any, axis: int, kind: int, keep_dims: bool = True) -> Tensor:
    """
    softmax (0), its logarithm (1), or the logarithm of the sum of exponentials (2) along an axis.
    """

def nn_softmax_bwd(out_grad: Any, x: Any, axis: int, kind: int) -> Tensor:
    """
    The gradient of the same; that of a result without the axis has one element along it.
    """

def nn_norm(tensors: tuple[Any, ...], kind: int, size: int, groups: int, centred: bool, eps: float, offset: float) -> tuple[Tensor, Tensor]:
    """
    Rows of `size` elements (kind 0), groups of `size` channels (1) or channels over the batch (2), normalised, and the mean and the variance of each. `tensors` are x, weight, bias and fixed statistics, or None.
    """

def nn_norm_bwd(tensors: tuple[Any, ...], out_grad: Any, kind: int, size: int, groups: int, centred: bool, eps: float, offset: float) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """
    The gradients of nn_norm: of x, and as float64 those of weight and bias.
    """

def nn_normalize(x: Any, n: int, p: float, eps: float) -> Tensor:
    """
    Dense rows of n elements by their lengths of order p, which are eps at least.
    """

def nn_normalize_bwd(out_grad: Any, x: Any, n: int, eps: float) -> Tensor:
    """The gradient of nn_normalize for p = 2."""

def nn_cosines(x: Any, y: Any, n: int, eps: float, together: bool) -> Tensor:
    """
    The cosines of pairs of dense rows, as float64; `together`: the product of the lengths is eps at least, not each of them.
    """

def nn_cosines_bwd(out_grad: Any, x: Any, y: Any, n: int, eps: float, together: bool) -> Tensor:
    """
    The gradient of nn_cosines with respect to x; that of the result is float64.
    """

def nn_convolve(x: Any, weight: Any, bias: Any, stride: Sequence[int], start: Sequence[int], dilation: Sequence[int], sizes: Sequence[int], groups: int, transposed: bool) -> Tensor:
    """
    A convolution, or a transposed one, with results of some sizes; `start` is the padding before each axis.
    """

def nn_convolve_weights(x: Any, gradient: Any, stride: Sequence[int], start: Sequence[int], dilation: Sequence[int], sizes: Sequence[int], groups: int) -> Tensor:
    """
    The gradient of a convolution's weights, whose kernel has some sizes, from that of its result.
    """

def nn_unfold(x: Any, kernel: Sequence[int], dilation: Sequence[int], start: Sequence[int], stride: Sequence[int], positions: Sequence[int]) -> Tensor:
    """
    The windows of images (batch, channels, height, width) as columns (batch, channels * taps, positions).
    """

def nn_fold(x: Any, kernel: Sequence[int], dilation: Sequence[int], start: Sequence[int], stride: Sequence[int], positions: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """
    Images of some sizes, each element the sum of those of columns that unfold would have made from it.
    """

def nn_pool(x: Any, kind: int, windows: Sequence[int], counts_padding: bool, divisor: float) -> Tensor:
    """
    The largest elements (0) or means (1) of windows of a dense tensor (planes, depth, height, width). Of each axis: kernel (0: adaptive), stride, padding, dilation, size of the output.
    """

def nn_plane_means(x: Any) -> Tensor:
    """
    The means of the rows of a dense tensor (planes, elements), of at most 4096 elements each.
    """

def nn_pool_positions(x: Any, windows: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The largest elements of windows, and their positions in their planes."""

def nn_pool_bwd(out_grad: Any, x: Any, kind: int, windows: Sequence[int], counts_padding: bool, divisor: float) -> Tensor:
    """The gradient of nn_pool by x."""

def nn_embedding(table: Any, indices: Any) -> Tensor | int:
    """
    The rows of a table at indices of int64, both in row-major order; or the first position of one outside.
    """

def nn_embedding_bwd(gradient: Any, indices: Any, rows: int, padding: int) -> Tensor | int:
    """
    The gradient of a table of so many rows, 0 for the row `padding`; or the first position of an index outside.
    """

def nn_expert_order(indices: Any, experts: int) -> tuple[Tensor, Tensor, Tensor] | int:
    """
    How many of the indices of int64, in row-major order, are each number below `experts`; the positions of those of each number one after the other; and where each index is among them. Or the first position of one outside.
    """

def nn_few_rows(x: Tensor, weight: Tensor, groups: list[tuple[int, int, int]], out: Tensor) -> bool:
    """
    The products of rows, dense, with matrices of the weight: of each group the number of its matrix, and where its rows begin and end. False where this machine, the dtype or the layout has no loop for few rows.
    """

def nn_quantise(x: Any, rows: int, columns: int, dtype: DType) -> tuple[Tensor, Tensor]:
    """
    Floats in row-major order, in blocks of the last two axes, by the largest magnitude of each; and the scales. Without columns, a block is as wide as a row.
    """

def nn_scaled_linear(x: Any, weight: Any, x_scales: Any, weight_scales: Any, rows: int, columns: int, dtype: DType, bias: Any = None) -> Tensor:
    """
    x W^T of int8 or bfloat16, each block of products times its two scales; the bias is None or of float64. All are in row-major order.
    """

def nn_ctc_loss(log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any, blank: int) -> Tensor:
    """
    The losses of examples, in float64, of logarithms (times, examples, classes).
    """

def nn_ctc_loss_bwd(grads: Any, log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any, blank: int, zero_infinity: bool) -> Tensor:
    """The gradient of nn_ctc_loss by the logarithms."""

def nn_grid_sample(x: Any, grid: Any, mode: int, padding: int, align: bool) -> Tensor:
    """
    A dense image (batch, channels, depth, height, width) at the positions of a grid (batch, positions, axes): 0 linear, 1 nearest, 2 cubic; 0 zeros, 1 border, 2 reflection.
    """

def nn_grid_sample_bwd(out_grad: Any, x: Any, grid: Any, mode: int, padding: int, align: bool) -> tuple[Tensor, Tensor]:
    """The gradients of nn_grid_sample by x and by the grid."""

def nn_causal_conv1d(x: Any, weight: Any, bias: Any, state: Any, silu: bool, keeps: bool) -> tuple[Tensor, Tensor | None]:
    """
    Dense rows (batch, channels, length), each with the taps of its channel, and the elements before those of the next call.
    """

def nn_causal_conv1d_bwd(out_grad: Any, x: Any, weight: Any, bias: Any, state: Any, state_grad: Any, silu: bool) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """The gradients of x, weights, biases and the state."""

def nn_gated_delta_rule(q: Any, k: Any, v: Any, g: Any, beta: Any, state: Any, scale: float, normalizes: bool, keeps: bool) -> tuple[Tensor, Tensor | None]:
    """
    The gated delta rule of rows (batch, time, heads, columns), and the state after it. g and the state are float32, or float64 where the others are.
    """

def nn_gated_delta_rule_bwd(out_grad: Any, q: Any, k: Any, v: Any, g: Any, beta: Any, state: Any, state_grad: Any, scale: float, normalizes: bool) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor | None]:
    """The gradients of q, k, v, g, beta and the state."""

def nn_adamw(operands: list[Tensor], values: list[float], maximize: bool) -> list[Tensor]:
    """
    A step over dense tensors: param, grad, exp_avg, exp_avg_sq and, where it is kept, its largest; all but grad anew. The values are 1 - lr weight_decay, 1 - beta1, beta1, beta2, 1 - beta2, lr by the correction of the average, the root of that of the squares, and eps.
    """
