"""The adapter of C libraries: what a library is given, and how its lies are found."""

import pytest

from helpers.c_compiler import build
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import tensor
from suanzi.conformance.running.process import Backend, Subject, Unanswered
from suanzi.conformance.subjects import worker
from suanzi.conformance.subjects.c_adapter import Adapter
from suanzi.conformance.subjects.wire import Data, from_json, to_json
from suanzi.standard import interfaces

# The library looks at what it is given, and says STATUS_INTERNAL_ERROR if that is not as it should.
LOOKS = r"""
#include <stdlib.h>
#include <string.h>
#define OK(condition) return (condition) ? STATUS_ALLOC_FAILED : STATUS_INTERNAL_ERROR
static const int64_t *dims(Tensor x) { return x->shape.dims; }
static float *floats(Tensor x) { return (float *)x->storage->data + x->offset; }

Status op_reduce(const Tensor input, const ReduceMode mode, const int *axis, const int axis_len,
                 const bool keep_dims, Tensor *output) {
    if (mode == 99) return STATUS_OUT_OF_RANGE;
    if (axis_len == 2) OK(axis[0] == 1 && axis[1] == 0 && mode == BXOR && keep_dims);
    OK(input->size == 6 && mode == SUM && axis == NULL && axis_len == 0 && !keep_dims && !*output);
}
Status op_fft_c2c(const Tensor input, const int *axes, const int axes_len,
                  const FFTNormMode normalization, const bool forward, Tensor *output) {
    OK(axes != NULL && axes_len == 0 && normalization == by_n && forward &&
       input->storage->dtype.size == 64);
}
Status op_pad(const Tensor input, const int *pad_width, const void *pad_value,
              const PadMode pad_mode, Tensor *output) {
    if (pad_value == NULL) OK(pad_mode == PAD_CONST);
    OK(*(const float *)pad_value == 0.5f && pad_width[3] == 4 && pad_mode == PAD_MIRROR);
}
Status op_full(const DataType dtype, const Device device, const Shape shape, const void *value,
               Tensor *output) {
    OK(dtype.code == kComplex && dtype.size == 128 && device.type == kCPU && shape.ndim == 2 &&
       shape.dims[1] == 3 && shape.layout.min2maj[0] == 1 && ((const double *)value)[1] == -2);
}
Status op_create_tensor(const DataType dtype, const Device device, const Shape shape,
                        const void *values, const int64_t n_bytes, Tensor *output) {
    if (values == NULL) OK(n_bytes == 0);
    if (shape.ndim == 2)
        OK(shape.layout.min2maj[0] == 0 && !memcmp(values, "\1\0\3\0\2\0\4\0", n_bytes));
    if (shape.dims[0] < 0 || n_bytes == 2) OK(*(const int16_t *)values == 1);
    if (n_bytes < 0) OK(true);
    OK(n_bytes == 4 && !memcmp(values, "\1\0\xff\xff", 4) && dtype.code == kInt &&
       dtype.size == 16);
}
Status op_create_quant_tensor(const DataType dtype, const Device device, const Shape shape,
                              const void *values, const int64_t n_bytes, const float *scale,
                              const int32_t zero_point, Tensor *output, const int *channel_axis) {
    if (dtype.code == kChannelSymmetricInt)
        OK(scale[0] == 0.25f && scale[2] == 0.25f && channel_axis == NULL && values == NULL);
    OK(dtype.code == kAsymmetricInt && *scale == 0.5f && zero_point == -3 && n_bytes == 2 &&
       *channel_axis == 0);
}
Status op_create_sparse_tensor(const DataType dtype, const Device device, const Shape shape,
                               const int *indices, const void *values, const int64_t nnzs,
                               Tensor *output) {
    OK(nnzs == 2 && indices[3] == 2 && ((const float *)values)[1] == 2.5f);
}
Status op_range(const DataType dtype, const Device device, const void *start, const void *limit,
                const void *step, Tensor *output) {
    OK(*(const float *)start == 0.5f);
}
Status op_expand(const Tensor input, const int *shape, Tensor *output, const int shape_len) {
    OK(shape_len == 3 && shape[0] == 4);
}
Status op_roll(const Tensor input, const int shifts_len, const int64_t *shifts,
               const int64_t *axis, Tensor *output) {
    OK(shifts_len == 2 && shifts[1] == -1 && axis[0] == 1);
}
Status op_concat(const Tensor *input_lists, const int len, const int axis, Tensor *output) {
    OK(len == 2 && dims(input_lists[1])[0] == 3 && axis == -1);
}
Status op_abs(const Tensor x, Tensor *y) {
    if (x->scale) OK(x->scale[0] == 0.5f && x->scale[2] == 0.5f && x->zero_point == 0);
    if (x->offset) OK(x->offset + x->size == x->storage->size && floats(x)[2] == 3);
    OK(x->shape.layout.min2maj[0] == 0 && floats(x)[1] == 4 && dims(x)[0] == 2);
}
Status op_sqrt(const Tensor x, Tensor *y) { OK(x == NULL); }
Status op_linear(const Tensor x, const Tensor weight, const Tensor bias, Tensor *y) {
    OK(bias == NULL);
}
Status op_bitwise_left_shift(const Tensor x, Tensor *y, const Tensor shift) {
    if (shift == NULL) return STATUS_OUT_OF_RANGE;
    OK(shift->shape.ndim == 0 && *(int8_t *)shift->storage->data == 3);
}
Status op_norm(const Tensor input, const char *normtype, const int *axis, const int axis_len,
               const bool keep_dims, Tensor *output) {
    OK(!strcmp(normtype, "inf") && axis == NULL);
}
Status op_cholesky(const char upper, const Tensor mat, Tensor *out) { OK(upper == 'U'); }
Status op_lstsq(const Tensor mat, const Tensor rhs, const float prec, Tensor *x) {
    OK(prec == 1.1920929e-7f);
}
Status op_cumsum(const Tensor input, const int axis, Tensor *output, const DataType *dtype) {
    OK(axis == -1 && dtype == NULL);
}
Status op_cumsum_bwd(const Tensor out_grad, const int axis, Tensor *in_grad,
                     const Shape *input_shape) {
    OK(input_shape->ndim == 2 && input_shape->dims[1] == 3);
}
Status op_split(const Tensor input, const int *split_sizes, const int nsplit, const int axis,
                Tensor *output_lists) {
    if (split_sizes != NULL) OK(nsplit == 2 && split_sizes[1] == 2);
    OK(nsplit == 3);
}
Status op_unstack(const Tensor input, const int axis, const int num, Tensor *output_lists) {
    OK(num == 3);
}
Status op_cast(const Tensor input, const DataType type, Tensor *output) { OK(type.code == 99); }
Status op_clip(const Tensor input, const void *low, const void *high, Tensor *output) {
    OK(low == NULL && *(const float *)high == 2);
}
Status op_rank(const Tensor input, int *rank) { *rank = 7; return STATUS_SUCCESS; }
Status op_is_contiguous(const Tensor input, bool *out) { *out = true; return STATUS_SUCCESS; }
Status op_contiguous(const Tensor input, Tensor *output) { *output = input; return STATUS_SUCCESS; }
/* Its own memory, column by column. */
Status op_duplicate(const Tensor input, Tensor *output) {
    static float data[] = {9, 1, 4, 2, 5, 3, 6};
    static int64_t order[] = {0, 1}, sizes[] = {2, 3};
    static struct StorageImpl storage = {{kReal, 32}, {kCPU, 0}, 7, data};
    static struct TensorImpl made = {6, 1, {2, sizes, {kDense, order}}, NULL, 0, &storage};
    *output = &made;
    return STATUS_SUCCESS;
}
static int destroyed;
Status op_destroy(Tensor *input) { destroyed++; *input = NULL; return STATUS_SUCCESS; }
Status op_size(const Tensor input, int *size) { *size = destroyed; return STATUS_SUCCESS; }
#undef op_rsqrtn
Status op_rsqrtn(const Tensor x, Tensor *y) { return (Status)42; }
const char *op_library_version(void) { return "2.5"; }
int op_library_has(const char *name, const DataType dtype) {
    return strcmp(name, "op_rank") != 0 || dtype.code != kComplex;
}
"""

LIES = r"""
#include <stddef.h>
#include <string.h>
static float data[] = {1, 2, 3};
static int64_t order[] = {0}, sizes[] = {3};
static struct StorageImpl storage;
static struct TensorImpl made;
static Tensor good(void) {
    storage = (struct StorageImpl){{kReal, 32}, {kCPU, 0}, 3, data};
    made = (struct TensorImpl){3, 0, {1, sizes, {kDense, order}}, NULL, 0, &storage};
    sizes[0] = 3;
    order[0] = 0;
    return &made;
}
#define LIE(name, what) \
    Status op_##name(const Tensor x, Tensor *y) { *y = good(); what; return STATUS_SUCCESS; }
LIE(sin, (void)x)
LIE(cos, *y = NULL)
LIE(tan, *y = (Tensor)(size_t)16)
LIE(asin, made.shape.ndim = 1000)
LIE(acos, sizes[0] = -3)
LIE(atan, made.size = 4)
LIE(sinh, made.offset = 1)
LIE(cosh, storage.dtype.size = 33)
LIE(tanh, order[0] = 1)
LIE(asinh, storage.data = NULL)
LIE(acosh, made.storage = NULL)
LIE(atanh, *y = (Tensor)((char *)good() + 1))
LIE(exp, ((float *)x->storage->data)[1] = 7)
LIE(expm1, ((float *)x->storage->data)[3] = 7)
LIE(log, x->shape.dims[0] = 2)
LIE(log1p, memset(y, 1, 12))
LIE(log2, sizes[0] = (int64_t)1 << 60)
LIE(log10, storage.device.type = kGPU)
LIE(floor, made.shape.layout.type = kCOO)
LIE(ceil, x->offset = 1)
Status op_trunc(const Tensor x, Tensor *y) {
    ((float *)x->storage->data)[0] = 5;
    return STATUS_TYPE_MISMATCH;
}
Status op_is_contiguous(const Tensor input, bool *out) {
    memset(out, 2, 1);
    return STATUS_SUCCESS;
}
"""


@pytest.fixture(scope="module")
def looking(tmp_path_factory):
    return Adapter(str(build(LOOKS, tmp_path_factory.mktemp("looks"))))


@pytest.fixture(scope="module")
def lying(tmp_path_factory):
    return Adapter(str(build(LIES, tmp_path_factory.mktemp("lies"))))


def ask(adapter, op, **arguments):
    given = {"dict": {name: to_json(value) for name, value in arguments.items()}}
    return worker.answer(adapter, {"op": op, "arguments": given})


def rows(*shape, dtype="float32", layout="dense"):
    count = 1
    for n in shape:
        count *= n
    return tensor(dtype, [i + 1 for i in range(count)], shape, layout)


CALLS = {
    "left out": ("reduce", {"input": rows(2, 3)}),
    "an array": (
        "reduce",
        {"input": rows(2, 3), "mode": "BXOR", "axis": [1, 0], "keep_dims": True},
    ),
    "an empty array": (
        "fft_c2c",
        {"input": rows(2, dtype="complex64"), "axes": [], "normalization": "by_n"},
    ),
    "a scalar": (
        "pad",
        {"input": rows(2, 3), "pad_width": [[1, 2], [3, 4]], "pad_value": 0.5,
         "pad_mode": "PAD_MIRROR"},
    ),
    "a scalar left out": ("pad", {"input": rows(2, 3), "pad_width": [1, 2, 3, 4]}),
    "a complex scalar": ("full", {"dtype": "complex128", "shape": [2, 3], "value": 1 - 2j}),
    "values": ("create_tensor", {"dtype": "int16", "shape": [2], "values": [1, -1]}),
    "values as data": (
        "create_tensor",
        {"dtype": "INT16", "shape": [2], "values": tensor("int16", [1, -1])},
    ),
    "values by columns": (
        "create_tensor",
        {"dtype": "int16", "shape": [2, 2],
         "values": rows(2, 2, dtype="int16", layout="columns")}),
    "no shape": ("create_tensor", {"dtype": "int16", "shape": [-1], "values": [1, 2]}),
    "fewer bytes": (
        "create_tensor", {"dtype": "int16", "shape": [2], "values": [1, 2], "n_bytes": 2}),
    "more values": (
        "create_tensor", {"dtype": "int16", "shape": [1], "values": [1, 2], "n_bytes": 2}),
    "a negative number of bytes": (
        "create_tensor", {"dtype": "int16", "shape": [2], "values": [1, 2], "n_bytes": -1}),
    "no values": ("create_tensor", {"dtype": "int16", "shape": [2], "values": None}),
    "quantised": (
        "create_quant_tensor",
        {"dtype": "QT_ASYM_INT8", "shape": [2], "values": [1, 2], "scale": 0.5, "zero_point": -3,
         "channel_axis": 0},
    ),
    "a scale for all channels": (
        "create_quant_tensor", {"dtype": "QT_CH_SYM_INT8", "shape": [2, 3], "scale": 0.25}),
    "sparse": (
        "create_sparse_tensor", {"shape": [2, 3], "indices": [[0, 1], [1, 2]], "values": [1, 2.5]}),
    "a length that only C has": ("expand", {"input": rows(2, 3), "shape": [4, 2, 3]}),
    "a length before its array": ("roll", {"input": rows(2, 3), "shifts": [1, -1], "axis": [1, 0]}),
    "a number that is exact": ("range", {"start": 0.5, "limit": 1, "step": 1}),
    "a list": ("concat", {"input_lists": [rows(2), rows(3)], "axis": -1}),
    "columns": ("abs", {"x": rows(2, 3, layout="columns")}),
    "offset": ("abs", {"x": rows(2, 3, layout="offset")}),
    "one scale for three channels": (
        "abs", {"x": Data("QT_CH_SYM_INT8", (2, 3), bytes(6), scale=(0.5,), zero_point=0)}),
    "destroyed": ("sqrt", {"x": rows(2, layout="destroyed")}),
    "None": ("sqrt", {"x": None}),
    "a tensor left out": ("linear", {"x": rows(2, 3), "weight": rows(4, 3)}),
    "a shift": ("bitwise_left_shift", {"x": rows(2, dtype="int8"), "shift": 3}),
    "a string left out": ("norm", {"input": rows(2)}),
    "a character": ("cholesky", {"upper": "U", "mat": rows(1, 1)}),
    "an epsilon": ("lstsq", {"mat": rows(1, 1), "rhs": rows(1)}),
    "a dtype left out": ("cumsum", {"input": rows(2)}),
    "a shape": ("cumsum_bwd", {"out_grad": rows(6), "input_shape": [2, 3]}),
    "sizes": ("split", {"input": rows(3), "split_sizes": [1, 2]}),
    "no sizes": ("split", {"input": rows(3), "split_sizes": None, "nsplit": 3}),
    "empty sizes": ("split", {"input": rows(3), "split_sizes": [], "nsplit": 3}),
    "a number from the tensor": ("unstack", {"input": rows(2, 3), "axis": 1}),
    "no dtype": ("cast", {"input": rows(2), "type": "no dtype"}),
    "one of two": ("clip", {"input": rows(2), "high": 2}),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_arguments_arrive(looking, name):
    """The library says ALLOC_FAILED, which nothing else does here, if all is as it should."""
    op, arguments = CALLS[name]
    assert ask(looking, op, **arguments).get("status") == "ALLOC_FAILED", ask(
        looking, op, **arguments
    )


UNSUPPORTED = {
    "strides": ("abs", {"x": rows(2, 3, layout="gaps")}, "no strides"),
    "no tensor": ("abs", {"x": "no tensor"}, "x is a tensor"),
    "a number": ("abs", {"x": 2.0}, "x is a tensor"),
    "too large": ("unstack", {"input": rows(2), "num": 1 << 40}, "type int"),
    "too long": ("pad", {"input": rows(2, 3), "pad_width": [1, 2, 3]}, "no length: it is 4"),
    "values of another shape": (
        "create_tensor", {"dtype": "int16", "shape": [2], "values": [1, 2, 3]}, "no shape"),
    "values of another dtype": (
        "create_tensor", {"dtype": "int16", "shape": [2], "values": rows(2)}, "neither dtype"),
    "a fraction": ("full", {"dtype": "int8", "shape": [], "value": 0.5}, "no int8 in C"),
    "rounded before it counts": (
        "range", {"dtype": "float32", "start": 0.1, "limit": 1, "step": 1}, "no float32 in C"),
    "too few scales": (
        "create_quant_tensor", {"dtype": "QT_CH_SYM_INT8", "shape": [2, 3], "scale": [1.0, 2.0]},
        "scale has no length: it is 3"),
    "not left out": ("linear", {"x": rows(2, 3), "weight": rows(4, 3),
                                "bias": rows(4, layout="destroyed")}, "leaves bias out"),
    "a word": ("reduce", {"input": rows(2), "keep_dims": "no"}, "keep_dims is a bool"),
    "required": ("unstack", {}, "cannot leave out input"),
    "what the library has not": ("rank", {"input": rows(2, dtype="complex64")}, "no op_rank for"),
    "what is not exported": ("sub", {"x": rows(2), "y": rows(2)}, "does not export op_sub"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_c_cannot_say_is_no_demand(looking, name):
    op, arguments, words = UNSUPPORTED[name]
    said = ask(looking, op, **arguments)
    assert words in said["unsupported"]
    assert said.get("unsaid", False) is not name.startswith("what "), (
        "the library's own lack counts"
    )


def test_a_mode_that_there_is_not_is_a_number_that_is_none(looking):
    assert ask(looking, "reduce", input=rows(2), mode="no mode")["status"] == "OUT_OF_RANGE"


def test_outputs_are_read(looking):
    assert ask(looking, "rank", input=rows(2))["outputs"] == [7]
    assert ask(looking, "is_contiguous", input=rows(2))["outputs"] == [True]
    (same,) = ask(looking, "contiguous", input=rows(2, 3, layout="columns"))["outputs"]
    assert from_json(same) == rows(2, 3)


def test_a_tensor_of_the_library_is_read_and_given_back(looking):
    def destroyed():
        return ask(looking, "size", input=rows(2))["outputs"][0]

    before = destroyed()
    (copy,) = ask(looking, "duplicate", input=rows(2, 3))["outputs"]
    assert from_json(copy) == rows(2, 3)
    assert destroyed() == before + 1
    ask(looking, "contiguous", input=rows(2, 3))
    assert destroyed() == before + 1, "an input is not given back"


def test_a_status_that_there_is_not(looking):
    assert ask(looking, "rsqrt", x=rows(2))["status"] == "status 42"


def test_what_a_library_says_of_itself(looking):
    said = worker.facts(looking)
    assert (said["name"], said["version"], said["rules"]) == ("library.so", "2.5", "strict")
    assert said["statuses"]
    assert said["mapping"]["abs"] == "Status op_abs(const Tensor x, Tensor *y)"
    assert said["missing"]["add"] == "the library does not export op_add"
    assert said["notes"] == ["op_rsqrt is exported as op_rsqrtn, a misprint"]
    assert len(said["mapping"]) + len(said["missing"]) == len(interfaces())


LIED = {
    "cos": "y is NULL",
    "tan": "the pointer 16",
    "asin": "1000 axes",
    "acos": "the dims [-3]",
    "atan": "the size 4",
    "sinh": "3 elements from 1 of a storage of 3",
    "cosh": "the dtype {4, 33}",
    "tanh": "no order of its axes",
    "asinh": "the data of y is NULL",
    "acosh": "the storage of y is NULL",
    "atanh": "pointer to no structure",
    "exp": "the call changed the input x",
    "expm1": "the call wrote to memory around the input x",
    "log": "the call changed the dims of x",
    "log1p": "the call wrote to memory around y",
    "log2": "the dims [1152921504606846976]",
    "log10": "is on gpu:0, and the library has no op_library_read",
    "ceil": "the call changed the tensor x",
    "trunc": "the call changed the input x",
    "is_contiguous": "out is 2, no bool",
}


@pytest.mark.parametrize("op", LIED)
def test_lies_are_found(lying, op):
    said = ask(lying, op, **{"input" if op == "is_contiguous" else "x": rows(3)})
    assert LIED[op] in said["broken"]


def test_the_truth_is_not_called_a_lie(lying):
    assert from_json(ask(lying, "sin", x=rows(3))["outputs"]) == [rows(3)]


def test_a_sparse_output_of_dense_inputs_is_no_answer(lying):
    assert "no dense tensor" in ask(lying, "floor", x=rows(3))["broken"]


def test_a_wild_pointer_ends_the_process_and_not_the_run(tmp_path):
    library = build(
        "#include <stdlib.h>\n"
        "Status op_sin(const Tensor x, Tensor *y) {\n"
        "    *y = (Tensor)0x10000; return STATUS_SUCCESS; }\n"
        "Status op_cos(const Tensor x, Tensor *y) { for (;;) {} }\n"
        "Status op_rank(const Tensor input, int *rank) { *rank = 2; return STATUS_SUCCESS; }\n",
        tmp_path,
    )
    adapter = "suanzi.conformance.subjects.c_adapter:Adapter"
    with Subject(Backend("c", adapter, options={"path": str(library)}), timeout=3.0) as subject:

        def answer(op, name):
            return subject.ask(Case(op, "plain", "float32", "", {name: rows(2)}, lambda: ()))

        crashed = answer("sin", "x")
        assert isinstance(crashed, Unanswered)
        assert crashed.outcome == "crashed"
        assert "SIGSEGV" in crashed.words
        assert answer("rank", "input").outputs == [2]
        hung = answer("cos", "x")
        assert isinstance(hung, Unanswered)
        assert hung.outcome == "hung"
        assert answer("rank", "input").outputs == [2]


def test_a_library_that_cannot_be_loaded_is_told():
    with pytest.raises(OSError, match="no such file|No such file|cannot open"):
        Adapter("./no_such_library.so")


PRINTED = r"""
#include <stdlib.h>
#include <string.h>
static float numbers[] = {2, 4, 6};
static int64_t dims[] = {3};
static struct StorageImpl storage = {{kReal, 32}, {kCPU, 0}, 3, numbers};
static struct TensorImpl made = {3, 0, {1, dims, {kDense, NULL}}, NULL, 0, &storage};
Status op_dot_bwd2(const Tensor out_grad, const Tensor vec1, Tensor *in_grad2) {
    if (vec1 == NULL) return STATUS_UNINITIALIZED_OBJECT;
    *in_grad2 = &made;
    return STATUS_SUCCESS;
}
Status op_pad(const Tensor input, const int *pad_width, const int pad_value, const PadMode pad_mode,
              Tensor *output) {
    return pad_value == 7 && pad_mode == PAD_CONST ? STATUS_ALLOC_FAILED : STATUS_INTERNAL_ERROR;
}
Status op_unstack(const Tensor input, const int axis, const int num, Tensor **output_lists) {
    if (num > 2) return STATUS_SUCCESS;
    *output_lists = malloc(sizeof(Tensor) * num);
    for (int i = 0; i < num; i++) (*output_lists)[i] = &made;
    return STATUS_SUCCESS;
}
"""
SAYS_SO = "int op_library_printed(const char *name) { return 1; }\n"
THREE = {"out_grad": rows(), "vec1": rows(3), "vec2": rows(3)}


def printed(source, folder):
    return Adapter(str(build(source, folder, before="#define T_AI_131_1_AS_PRINTED\n")))


def test_a_library_with_the_printed_prototypes_says_so_and_is_called_so(tmp_path):
    adapter = printed(PRINTED + SAYS_SO, tmp_path)
    assert from_json(ask(adapter, "dot_bwd2", **THREE)["outputs"])[0].shape == (3,)
    assert ask(adapter, "dot_bwd2", **{**THREE, "vec2": rows(4)})["unsaid"], "it cannot tell"
    widths = {"input": rows(2), "pad_width": [1, 1]}
    assert ask(adapter, "pad", **widths, pad_value=7)["status"] == "ALLOC_FAILED"
    assert ask(adapter, "pad", **widths, pad_value=0.5)["unsaid"]
    (some,) = from_json(ask(adapter, "unstack", input=rows(2, 3))["outputs"])
    assert [x.shape for x in some] == [(3,), (3,)]
    assert "the array output_lists is NULL" in ask(adapter, "unstack", input=rows(3, 3))["broken"]
    assert "op_pad is called as Appendix A prints it" in adapter.notes


def test_the_printed_op_dot_bwd2_is_noticed_and_does_no_harm(tmp_path):
    adapter = printed(PRINTED, tmp_path)
    for _ in range(2):
        assert from_json(ask(adapter, "dot_bwd2", **THREE)["outputs"])[0].shape == (3,)
