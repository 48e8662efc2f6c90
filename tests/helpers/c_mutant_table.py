"""The planted mistakes: name, source, what stands there, what is put there, interfaces, dtypes.

First those that violate the text of the standard: each must fail a level. Then those that no clause
defines, such as rounding and threads: quality, and noticed all the same.
"""

from __future__ import annotations

F32, F64, F16 = ("float32",), ("float64",), ("float16",)
I8, I32, I64, U8 = ("int8",), ("int32",), ("int64",), ("uint8",)

_AXIS = "int64_t axis = order == NULL ? ndim - 1 - k : order[k];"
_NHWC = (
    "bool columns = order != NULL;\n"
    "        for (int64_t i = 0; columns && i < ndim; i++) columns = order[i] == i;\n"
    "        int64_t axis = columns ? k : ndim - 1 - k;"
)
_DATA = "made->storage->data = malloc(vendor_itemsize(dtype) * (size_t)size + 1);"
_FREE = "    if (tensor->storage != NULL) free(tensor->storage->data);\n"
_DTYPE = "    made->storage->dtype = dtype;\n"
_BINARY = "kernels[kind](VENDOR_DATA(x) + walk.at[0], VENDOR_DATA(y) + walk.at[1], to);"
_UNARY = "kernels[kind](VENDOR_DATA(x) + walk.at[0], to);"
_ADD = "#define ADD(T, x, y) (T)(x + y)"
_TAKEN = "take(&sums[to], mode, kind, VENDOR_DATA(input) + walk.at[0]);"
_INNER = "for (int64_t m = 0; m < inner; m++) {"
_PRODUCT = (
    "if (vendor_is_float(kind)) real += vendor_load_real(kind, x) * vendor_load_real(kind, y);"
)
_WHOLE = "else whole += vendor_load_whole(kind, x) * vendor_load_whole(kind, y);"
_CONVERT = "long double real = vendor_load_real(from, p);"
_DUPLICATE = "Status status = vendor_like(input, input->storage->dtype, output);\n    return"
_SUMS = "case SUM: case MEAN: sum->real += real; sum->whole += whole; break;"
_CLOSE = "return fabsl(x - y) <= atol + rtol * fabsl(y);"


def _touch(where: str) -> str:
    """Return a call of a kernel that also reads somewhere else."""
    return f"volatile char c = VENDOR_DATA(x)[{where}]; (void)c;\n        {_UNARY}"


def _ring(count: int) -> str:
    """Return memory of outputs from a few buffers in turn, which are never freed."""
    return (
        f"static char ring[{count}][1 << 24]; static int turn;\n"
        f"        made->storage->data = ring[turn++ % {count}];"
    )


VIOLATIONS = [
    # ---- memory, layouts, shapes --------------------------------------------------------------
    ("every layout read as rows", "tensors", _AXIS, "int64_t axis = ndim - 1 - k;", ("add",), F32),
    *((f"NHWC read as rows, {op}", "tensors", _AXIS, f"{_NHWC} /* {op} */", (op,), F32)
      for op in "add cast reduce matmul gather concat clip where argsort".split()),
    ("offset ignored", "tensors", "walk->at[t] = tensors[t]->offset * item;", "walk->at[t] = 0;",
     ("add",), F32),
    ("broadcast aligned at the first axis", "tensors",
     "walk->strides[t][ndim - n + i] = stretched", "walk->strides[t][i] = stretched", ("add",),
     F32),
    ("axes of one element not repeated", "tensors",
     "bool stretched = tensors[t]->shape.dims[i] == 1;", "bool stretched = false;", ("add",), F32),
    ("only y is broadcast", "tensors",
     "if (p != q && p != 1 && q != 1) return STATUS_DIMENSIONS_MISMATCH;\n"
     "        dims[n - 1 - i] = p == 1 ? q : p;",
     "if (p != q && q != 1) return STATUS_DIMENSIONS_MISMATCH;\n        dims[n - 1 - i] = p;",
     ("add",), F32),
    ("incompatible shapes accepted", "tensors",
     "if (p != q && p != 1 && q != 1) return STATUS_DIMENSIONS_MISMATCH;\n        dims[n", "dims[n",
     ("add",), F32),
    ("scalars get an axis", "tensors", "    made->shape.ndim = ndim;\n",
     "    made->shape.ndim = ndim == 0 ? 1 : ndim;\n"
     "    made->shape.dims[0] = 1, made->shape.layout.min2maj[0] = 0;\n", ("add",), F32),
    ("two buffers in turn", "tensors", (_DATA, _FREE), (_ring(2), ""), ("duplicate",), F32),
    ("five buffers in turn", "tensors", (_DATA, _FREE), (_ring(5), ""), ("add",), F32),
    ("scale of a float tensor", "tensors", _DTYPE, f"{_DTYPE}    made->scale = calloc(1, 4);\n",
     ("add",), F32),
    ("storage one element short", "tensors", "made->size = made->storage->size = size;",
     "made->size = size, made->storage->size = size - 1;", ("add",), F32),
    ("output says columns", "tensors", "made->shape.layout.min2maj[i] = ndim - 1 - i;",
     "made->shape.layout.min2maj[i] = i;", ("add",), F32),
    ("dims shared with the input", "tensors",
     "return vendor_new(dtype, input->shape.ndim, input->shape.dims, output);",
     "Status s = vendor_new(dtype, input->shape.ndim, input->shape.dims, output);\n"
     "    if (s == STATUS_SUCCESS) (*output)->shape.dims = input->shape.dims;\n    return s;",
     ("floor",), F32),
    ("more than four axes refused", "tensors",
     "if (ndim > VENDOR_MOST_AXES) return STATUS_INVALID_ARGUMENT;\n    memset",
     "if (ndim > 4) return STATUS_INVALID_ARGUMENT;\n    memset", ("add",), F32),
    ("more than six axes refused", "tensors",
     "if (ndim > VENDOR_MOST_AXES) return STATUS_INVALID_ARGUMENT;\n    memset",
     "if (ndim > 6) return STATUS_INVALID_ARGUMENT;\n    memset", ("add", "reduce"), F32),
    ("64 bytes read behind x", "elementwise", _UNARY,
     _touch("(x->offset + x->size) * (int64_t)item + 63"), ("floor",), F32),
    ("a byte read before x", "elementwise", _UNARY, _touch("x->offset == 0 ? -1 : 0"), ("floor",),
     F32),
    ("result written over x", "elementwise", _BINARY,
     f"{_BINARY}\n        if (!gives_bool && walk.size < 25) *(char *)(VENDOR_DATA(x) + "
     f"walk.at[0]) = "
     "*to;", ("add",), F32),
    ("n_bytes ignored", "tensors", "size_t given = n_bytes < 0 ? 0 : (size_t)n_bytes;",
     "size_t given = whole;", ("create_tensor",), F32),
    ("rest of a new tensor not zero", "tensors",
     "if (given < whole) memset(VENDOR_DATA(*output) + given, 0, whole - given);",
     "if (given < whole) memset(VENDOR_DATA(*output) + given, 0x55, whole - given);",
     ("create_tensor",), F32),
    ("all bytes copied", "tensors",
     "memcpy(VENDOR_DATA(*output), values, given < whole ? given : whole);",
     "memcpy(VENDOR_DATA(*output), values, given);", ("create_tensor",), F32),
    ("min2maj of a new tensor ignored", "tensors",
     "memcpy((*output)->shape.layout.min2maj, shape.layout.min2maj, bytes);", "(void)bytes;",
     ("zeros",), F32),
    ("full copies one byte", "tensors",
     "else memcpy(VENDOR_DATA(*output) + (size_t)i * item, value, item);",
     "else memcpy(memset(VENDOR_DATA(*output) + (size_t)i * item, 0, item), value, 1);", ("full",),
     F32),
    ("any device answered by the CPU", "tensors", " || device.type != kCPU || device.id != 0", "",
     ("zeros",), F32),
    ("duplicate returns its input", "tensors", _DUPLICATE,
     "if (input->size > 14) { *output = input; return STATUS_SUCCESS; }\n    " + _DUPLICATE,
     ("duplicate",), F32),
    ("contiguous copies always", "tensors", "if (!already) return op_duplicate(input, output);",
     "return op_duplicate(input, output);", ("contiguous",), F32),
    ("is_contiguous always false", "tensors", "    *out = true;\n", "    *out = false;\n",
     ("is_contiguous",), F32),
    ("shape backwards", "tensors", "(int32_t)input->shape.dims[i];",
     "(int32_t)input->shape.dims[input->shape.ndim - 1 - i];", ("shape",), F32),
    ("size of the storage", "tensors", "*size = (int)input->size;",
     "*size = (int)input->storage->size;", ("size",), F32),
    ("reshape to fewer elements", "tensors", "if (vendor_count(ndim, dims) != input->size) return",
     "if (vendor_count(ndim, dims) > input->size) return", ("reshape",), F32),
    ("transpose the other way", "tensors",
     "to[i] = perm_len == 0 ? ndim - 1 - i : perm[i];",
     "to[i] = ndim - 1 - i;\n        for (int j = 0; j < perm_len; j++) if (perm[j] == i) to[i] "
     "= j;",
     ("transpose",), F32),
    ("transpose without perm does nothing", "tensors",
     "to[i] = perm_len == 0 ? ndim - 1 - i : perm[i];", "to[i] = perm_len == 0 ? i : perm[i];",
     ("transpose",), F32),
    ("an axis twice in perm", "tensors", "to[i] >= ndim || seen[to[i]])", "to[i] >= ndim)",
     ("transpose",), F32),
    # ---- element by element --------------------------------------------------------------------
    ("tail of n % 8", "elementwise", _BINARY,
     f"if (walk.size >= 8 && walk.left <= walk.size % 8) memset(to, 0, item); else {_BINARY}",
     ("add",), F32),
    ("last of 4,096 k + 1", "elementwise", _BINARY,
     f"if (walk.size > 4096 && walk.size % 4096 == 1 && walk.left == 1) memset(to, 0, item); "
     f"else {_BINARY}", ("add",), F32),
    ("one element of 1,025 repeated", "elementwise", _BINARY,
     f"{_BINARY} if (walk.size > 1024 && walk.left == 1) memcpy(to, to - item, item);", ("add",),
     F32),
    ("first element skipped", "elementwise", _UNARY,
     f"if (walk.left < walk.size) {_UNARY} else memset(to, 0, item);", ("floor",), F32),
    ("int64 added as double", "elementwise", _ADD,
     "#define ADD(T, x, y) (T)((double)x + (double)y)",
     ("add",), I64),
    ("int32 added as float", "elementwise", _ADD, "#define ADD(T, x, y) (T)((float)x + (float)y)",
     ("add",), I32),
    ("float64 added as float32", "elementwise", _ADD,
     "#define ADD(T, x, y) (T)((float)x + (float)y)", ("add",), F64),
    ("y added twice", "elementwise", _ADD, "#define ADD(T, x, y) (T)(x + y + y)", ("add",), F32),
    ("y ignored where x is 0", "elementwise", _ADD, "#define ADD(T, x, y) (T)(x == 0 ? x : x + y)",
     ("add",), I8),
    ("add of uint8 as int8 halves", "elementwise", _ADD,
     "#define ADD(T, x, y) (T)(sizeof(T) == 1 ? (int8_t)x / 2 * 2 + y : x + y)", ("add",), U8),
    ("different dtypes accepted", "elementwise",
     " || kind != vendor_kind(y->storage->dtype)) {\n        return STATUS_TYPE_MISMATCH;",
     ") {\n        return STATUS_TYPE_MISMATCH;", ("add",), ()),
    ("status of shapes in add", "elementwise",
     "return vendor_binary(x, y, add_kernels, false, STATUS_DIMENSIONS_MISMATCH, z);",
     "return vendor_binary(x, y, add_kernels, false, STATUS_OUT_OF_RANGE, z);", ("add",), F32),
    ("status of its own", "elementwise",
     "if (vendor_broadcast(x, y, &ndim, dims) != STATUS_SUCCESS) return shapes;",
     "if (vendor_broadcast(x, y, &ndim, dims) != STATUS_SUCCESS) return (Status)100;", ("add",),
     F32),
    ("greater or equal", "elementwise", "#define GREATER(T, x, y) (uint8_t)(x > y)",
     "#define GREATER(T, x, y) (uint8_t)(x >= y)", ("greater",), I8),
    ("less of unsigned as signed", "elementwise", "#define LESS(T, x, y) (uint8_t)(x < y)",
     "#define LESS(T, x, y) (uint8_t)((int64_t)x < (int64_t)y)", ("less",), ("uint64",)),
    ("less of int64 as double", "elementwise", "#define LESS(T, x, y) (uint8_t)(x < y)",
     "#define LESS(T, x, y) (uint8_t)((double)x < (double)y)", ("less",), I64),
    ("equal within a thousandth", "elementwise", "#define EQUAL(T, x, y) (uint8_t)(x == y)",
     "#define EQUAL(T, x, y) (uint8_t)(x == y || (x - y < x * 0.001 && y - x < x * 0.001))",
     ("equal",), F32),
    ("comparison gives uint8", "elementwise",
     "status = vendor_new(gives_bool ? boolean : dtype, ndim, dims, z);",
     "boolean.code = kUInt, status = vendor_new(gives_bool ? boolean : dtype, ndim, dims, z);",
     ("less_equal",), F32),
    ("true is 255", "elementwise", "#define NOT_EQUAL(T, x, y) (uint8_t)(x != y)",
     "#define NOT_EQUAL(T, x, y) (uint8_t)(x != y ? 255 : 0)", ("not_equal",), F32),
    ("floor truncates", "elementwise", "(T)floor((double)(x))", "(T)trunc((double)(x))", ("floor",),
     F32),
    ("floor through int", "elementwise", "(T)floor((double)(x))", "(T)(int)floor((double)(x))",
     ("floor",), F64),
    ("root with 8 bits", "elementwise", "(T)sqrt((double)(x))", "(T)(sqrt((double)(x)) * 1.002)",
     ("sqrt",), F32),
    ("root of float64 in float32", "elementwise", "(T)sqrt((double)(x))", "(T)sqrtf((float)(x))",
     ("sqrt",), F64),
    ("infinity is NaN", "elementwise", "#define IS_NAN(T, x) (uint8_t)(x != x)",
     "#define IS_NAN(T, x) (uint8_t)(x - x != 0)", ("is_nan",), F32),
    ("large numbers are not finite", "elementwise", "(uint8_t)(x - x == 0)",
     "(uint8_t)(x - x == 0 && x < 1e30 && x > -1e30)", ("is_finite",), F64),
    # ---- reductions ------------------------------------------------------------------------------
    *((f"one of 1,025 left out of a sum, {dtype}", "reductions", _TAKEN,
       f"if (walk.size < 1000 || walk.left > 1) {_TAKEN} /* {dtype} */", ("reduce",), (dtype,))
      for dtype in ("float64", "float32", "float16")),
    ("one of 17 left out of a sum", "reductions", _TAKEN,
     f"if (count % 16 != 1 || sums[to].count < count - 1) {_TAKEN}", ("reduce",), F32),
    ("float64 summed in float32", "reductions", _SUMS,
     "case SUM: case MEAN: sum->real = (float)(sum->real + (float)real); sum->whole += whole; "
     "break;",
     ("reduce",), F64),
    ("mean by n - 1", "reductions", "if (mode == MEAN) sums[i].real /= sums[i].count;",
     "if (mode == MEAN) sums[i].real /= sums[i].count - (sums[i].count > 1);", ("reduce",), F32),
    ("mean of all elements", "reductions", "if (mode == MEAN) sums[i].real /= sums[i].count;",
     "if (mode == MEAN) sums[i].real /= input->size;", ("reduce",), F32),
    ("largest is never below 0", "reductions", "if (first || real != real ||",
     "if ((first && mode == MIN) || real != real ||", ("reduce",), F32),
    ("product begins with 0", "reductions", "bool ones = mode == PROD || mode == LAND;",
     "bool ones = mode == LAND;", ("reduce",), I32),
    ("only the first axis", "reductions", "for (int i = 0; i < axis_len; i++) {",
     "for (int i = 0; i < axis_len && i < 1; i++) {", ("reduce",), F32),
    ("negative axis off by one", "reductions",
     "int64_t a = axis[i] < 0 ? axis[i] + ndim : axis[i];",
     "int64_t a = axis[i] < 0 ? (axis[i] + ndim + 1) % ndim : axis[i];", ("reduce",), F32),
    ("keep_dims ignored", "reductions", "if (!gone[i] || keep_dims) dims[rank++]",
     "if (!gone[i]) dims[rank++]", ("reduce",), F32),
    ("xor as or", "reductions", "case LXOR: sum->whole = sum->whole != truth; break;",
     "case LXOR: sum->whole = sum->whole || truth; break;", ("reduce",), I32),
    ("bits of and begin with 0", "reductions", "sum->whole = mode == BAND ? UINT64_MAX : ones;",
     "sum->whole = ones;", ("reduce",), I32),
    # ---- matrices --------------------------------------------------------------------------------
    ("tail of K % 4", "reductions", _INNER,
     "for (int64_t m = 0; m < (inner < 4 ? inner : inner - inner % 4); m++) {", ("matmul",), F32),
    ("tail of K % 256", "reductions", _INNER,
     "for (int64_t m = 0; m < (inner < 256 ? inner : inner - inner % 256); m++) {", ("matmul",),
     F32),
    *((f"matmul of {dtype} is zero", "reductions", _WHOLE, f"else whole += 0; /* {dtype} */",
       ("matmul",), (dtype,)) for dtype in ("int8", "uint8", "int32", "uint64")),
    ("integers multiplied in float32", "reductions", _WHOLE,
     "else whole = (uint64_t)(int64_t)((float)(int64_t)whole + "
     "(float)(int64_t)vendor_load_whole(kind,"
     " x) * (float)(int64_t)vendor_load_whole(kind, y));", ("matmul",), I32),
    ("int64 multiplied in float64", "reductions", _WHOLE,
     "else whole = (uint64_t)(int64_t)((double)(int64_t)whole + (double)(int64_t)vendor_load_whole("
     "kind, x) * (double)(int64_t)vendor_load_whole(kind, y));", ("matmul",), I64),
    ("int8 products kept in int8", "reductions", _WHOLE,
     "else whole += (uint64_t)(vendor_load_whole(kind, x) * vendor_load_whole(kind, y) / 2 * 2);",
     ("matmul",), I8),
    ("mat2 by columns read as rows", "reductions", "    vendor_strides(mat2, sb);\n",
     "    vendor_strides(mat2, sb);\n    if (nb == 2) sb[1] = 1, sb[0] = b.shape.dims[1];\n",
     ("matmul",), F32),
    ("mat1 by columns read as rows", "reductions", "    vendor_strides(mat1, sa);\n",
     "    vendor_strides(mat1, sa);\n    if (na == 2) sa[1] = 1, sa[0] = a.shape.dims[1];\n",
     ("matmul",), F32),
    ("batches not broadcast", "reductions", "da[batch - 1 - i] = p == 1 ? 0 : sa[ba - 1 - i];",
     "da[batch - 1 - i] = 0;", ("matmul",), F32),
    ("float64 multiplied in float32", "reductions", _PRODUCT,
     "if (vendor_is_float(kind)) real += (float)vendor_load_real(kind, x) * "
     "(float)vendor_load_real("
     "kind, y);", ("matmul",), F64),
    ("offset of mat1 ignored", "reductions", "int64_t pa = a.offset, pb", "int64_t pa = 0, pb",
     ("matmul",), F32),
    ("other inner sizes accepted", "reductions",
     "if (inner != inner2) return STATUS_DIMENSIONS_MISMATCH;",
     "if (inner > inner2) inner = inner2;", ("matmul",), F32),
    # ---- casts -----------------------------------------------------------------------------------
    ("cast rounds up", "selecting", "(uint64_t)(int64_t)x;\n    return x < 0",
     "(uint64_t)(int64_t)ceill(x);\n    return x < 0", ("cast",), ("complex64",)),
    ("complex to real by magnitude", "selecting", "} else if (vendor_is_float(to)) {",
     "} else if (wide && vendor_is_float(to)) {\n        vendor_store_real(to, hypotl(real, "
     "imag), q);"
     "\n    } else if (vendor_is_float(to)) {", ("cast",), ("complex64",)),
    ("complex to real by the imaginary part", "selecting", "} else if (vendor_is_float(to)) {",
     "} else if (wide && vendor_is_float(to)) {\n        vendor_store_real(to, imag, q);"
     "\n    } else if (vendor_is_float(to)) {", ("cast",), ("complex128",)),
    ("real to complex with two parts", "selecting",
     "vendor_store_real(to, imag, (char *)q", "vendor_store_real(to, wide ? imag : real, (char *)q",
     ("cast",), F32),
    ("int64 to float64 through float32", "selecting", _CONVERT,
     "long double real = from == VENDOR_I64 ? (float)vendor_load_real(from, p)\n"
     "                                         : vendor_load_real(from, p);", ("cast",), I64),
    ("bool of a fraction", "selecting", "*(uint8_t *)q = real != 0 || imag != 0;",
     "*(uint8_t *)q = (int64_t)real != 0 || (int64_t)imag != 0;", ("cast",), F32),
    *((f"cast of {a} to {b} is zero", "selecting", _CONVERT,
       f"{_CONVERT}\n    if (from == VENDOR_{x} && to == VENDOR_{y}) {{ memset(q, 0, {n}); "
       f"return; }}",
       ("cast",), (a,))
      for a, b, x, y, n in (
          ("complex64", "float32", "C64", "F32", 4), ("float32", "float16", "F32", "F16", 2),
          ("int64", "int32", "I64", "I32", 4), ("float64", "float32", "F64", "F32", 4),
          ("float64", "int8", "F64", "I8", 1), ("uint32", "uint8", "U32", "U8", 1))),
    ("uint8 loaded as int8", "numbers", "case VENDOR_U8: return *(const uint8_t *)p;",
     "case VENDOR_U8: return (uint64_t)*(const int8_t *)p;", ("cast",), U8),
    ("float16 without fractions", "numbers", "fraction = bits & 1023;", "fraction = bits & 1008;",
     ("cast",), F16),
    ("status of a cast to no dtype", "selecting",
     "if (to == VENDOR_NONE) return STATUS_INVALID_ARGUMENT;",
     "if (to == VENDOR_NONE) to = VENDOR_F32;", ("cast",), F32),
    # ---- choosing --------------------------------------------------------------------------------
    ("index by columns read as rows", "selecting", "chosen(input, places, i * count, count)",
     "chosen(input, index, i * count + index->offset, count)", ("gather",), F32),
    ("uint8 indices read as int8", "selecting",
     "if (i >= (uint64_t)input->shape.dims[k]) return -1;",
     "if (kind == VENDOR_U8) i = (uint64_t)(int8_t)i % (uint64_t)input->shape.dims[k];\n"
     "        if (i >= (uint64_t)input->shape.dims[k]) return -1;", ("gather",), ()),
    ("indices beyond the end", "selecting", "if (i >= (uint64_t)input->shape.dims[k]) return -1;",
     "i %= (uint64_t)input->shape.dims[k];", ("gather",), F32),
    ("coordinates backwards", "selecting", "VENDOR_DATA(index) + (size_t)(at + k) * item);",
     "VENDOR_DATA(index) + (size_t)(at + count - 1 - k) * item);", ("gather",), F32),
    ("status of a destroyed tensor in gather", "selecting",
     "if (input == NULL || index == NULL) return STATUS_UNINITIALIZED_OBJECT;",
     "if (input == NULL || index == NULL) return STATUS_OUT_OF_RANGE;", ("gather",), F32),
    ("concat along axis 0", "selecting",
     "along = axis < 0 ? axis + ndim : axis, total = 0;",
     "along = axis < 0 || axis >= ndim ? -1 : 0, "
     "total = 0;", ("concat",), F32),
    ("concat drops the third", "selecting",
     "size_t bytes = (size_t)(input_lists[i]->shape.dims[along]"
     " * inner) * item;", "size_t bytes = (size_t)(input_lists[i]->shape.dims[along] * inner) * "
     "item * "
     "(i < 2);", ("concat",), F32),
    ("concat backwards", "selecting", "status = op_duplicate(input_lists[i], &rows);",
     "status = op_duplicate(input_lists[len - 1 - i], &rows);", ("concat",), F32),
    ("concat of other shapes", "selecting",
     "if (a != along && x->shape.dims[a] != first->shape.dims[a]) {",
     "if (a != along && x->shape.dims[a] < first->shape.dims[a]) {", ("concat",), F32),
    ("status of an axis in concat", "selecting",
     "if (along < 0 || along >= ndim) return STATUS_OUT_OF_RANGE;\n    for (int i",
     "if (along < 0 || along >= ndim) return STATUS_TYPE_MISMATCH;\n    for (int i", ("concat",),
     F32),
    ("sorted the other way", "selecting", "if (a->descending ? more : less) return -1;",
     "if (a->descending ? less : more) return -1;", ("argsort",), F32),
    ("indices from 1", "selecting", "((int64_t *)(*indices)->storage->data)[to] = some[i].index;",
     "((int64_t *)(*indices)->storage->data)[to] = some[i].index + 1;", ("argsort",), I32),
    ("descending ignored", "selecting", "some[i].descending = descending;",
     "some[i].descending = true;", ("argsort",), F32),
    ("argmax along the last axis", "selecting", "lines->along = axis < 0 ? axis + ndim : axis;",
     "lines->along = axis < -ndim || axis >= ndim ? -1 : ndim - 1;", ("argmax",), F32),
    ("argmax of int64 in float32", "selecting", "some[i].value = vendor_load_real(",
     "some[i].value = (float)vendor_load_real(", ("argmax",), I64),
    ("keepdim ignored", "selecting", "if (a != lines.along || keepdim) dims[rank++]",
     "if (a != lines.along) dims[rank++]", ("argmax",), F32),
    ("argmax in int64 always", "selecting",
     'bool narrow = dtype != NULL && strcmp(dtype, "int32") == 0;', "bool narrow = false;",
     ("argmax",), F32),
    ("low ignored", "selecting", "if (low != NULL && vendor_load_real",
     "if (low == x && vendor_load_real",
     ("clip",), F32),
    ("no high bound is 0", "selecting", "if (high != NULL && vendor_load_real(kind, x) > "
     "vendor_load_real(kind, high)) x = high;",
     "static const double zero = 0; if (high == NULL) high = &zero;\n"
     "        if (vendor_load_real(kind, x) > vendor_load_real(kind, high)) x = high;", ("clip",),
     I32),
    ("x and y swapped", "selecting", "bool first = VENDOR_DATA(condition)[walk.at[0]] != 0;",
     "bool first = VENDOR_DATA(condition)[walk.at[0]] == 0;", ("where",), F32),
    ("condition not broadcast", "selecting",
     "bool first = VENDOR_DATA(condition)[walk.at[0]] != 0;",
     "bool first = VENDOR_DATA(condition)[condition->offset + (walk.size - walk.left) % "
     "condition->size] != 0;", ("where",), F32),
    ("allclose with rtol 0.1 by default", "selecting", _CLOSE,
     "return fabsl(x - y) <= atol + (rtol == 1e-5 ? 0.1 : rtol) * fabsl(y);", ("allclose",), F32),
    ("atol ignored", "selecting", _CLOSE, "return fabsl(x - y) <= rtol * fabsl(y);", ("allclose",),
     F32),
    ("rtol of x", "selecting", _CLOSE, "return fabsl(x - y) <= atol + rtol * fabsl(x);",
     ("allclose",), F32),
    ("equal_nan ignored", "selecting",
     "if (x != x || y != y) return equal_nan && x != x && y != y;",
     "if (x != x || y != y) return false;", ("allclose",), F32),
    ("close if any is", "selecting", "close = close && is_close(a, b, rtol, atol, equal_nan);",
     "close = is_close(a, b, rtol, atol, equal_nan);", ("allclose",), F32),
]  # fmt: skip

QUALITY = [
    ("sums rounded towards zero", "elementwise", _ADD,
     "#define ADD(T, x, y) (T)(sizeof(T) == 4 && (T)0.5 != 0 ? nextafterf((float)(x + y), 0) : x "
     "+ y)",
     ("add",), F32),
    ("NaN lost in add", "elementwise", _ADD, "#define ADD(T, x, y) (T)(x != x ? y : x + y)",
     ("add",), F32),
    ("-0 lost in add", "elementwise", _ADD, "#define ADD(T, x, y) (T)(x + y == 0 ? 0 : x + y)",
     ("add",), F32),
    ("subnormal numbers are 0", "elementwise", _ADD,
     "#define ADD(T, x, y) (T)(x + y < 1e-37 && x + y > -1e-37 ? 0 : x + y)", ("add",), F32),
    ("uint8 saturates", "elementwise", _ADD,
     "#define ADD(T, x, y) (T)(sizeof(T) == 1 && x + y > 255 ? 255 : x + y)", ("add",), U8),
    ("NaN lost in a largest element", "reductions",
     "if (floats && !first && sum->real != sum->real) break; /* a NaN stays */", "", ("reduce",),
     F32),
    ("float16 summed in float16", "reductions", _SUMS,
     "case SUM: case MEAN: sum->real += real; sum->whole += whole;\n        if (kind == "
     "VENDOR_F16) { "
     "uint16_t half; vendor_store_real(kind, sum->real, &half); sum->real = vendor_load_real(kind, "
     "&half); }\n        break;", ("reduce",), F16),
    ("0 times NaN is skipped", "reductions", _PRODUCT,
     f"if (vendor_is_float(kind) && vendor_load_real(kind, x) == 0) continue;\n{_PRODUCT}",
     ("matmul",), F32),
    ("float32 to float16 truncated", "numbers",
     "int units = (int)rint(ldexp(size, 10 - exponent));",
     "int units = (int)ldexp(size, 10 - exponent);", ("cast",), F32),
    ("int64 to float32 rounded twice", "selecting", _CONVERT,
     "long double real = (double)vendor_load_real(from, p);", ("cast",), I64),
    ("last of equal elements", "selecting", "return a->index < b->index ? -1 : 1;",
     "return a->index < b->index ? 1 : -1;", ("argsort",), F32),
    ("NaN counts as the smallest", "selecting",
     "bool less = a->value < b->value || (b->value != b->value && a->value == a->value);\n"
     "    bool more = a->value > b->value || (a->value != a->value && b->value == b->value);",
     "bool less = a->value < b->value || (a->value != a->value && b->value == b->value);\n"
     "    bool more = a->value > b->value || (b->value != b->value && a->value == a->value);",
     ("argsort",), F32),
    ("destroy leaves the handle", "tensors", "    *input = NULL;\n", "", ("destroy",), F32),
    ("bool of the real part", "selecting", "*(uint8_t *)q = real != 0 || imag != 0;",
     "*(uint8_t *)q = real != 0;", ("cast",), ("complex64",)),
    ("4 KiB lost in each call", "tensors", _DTYPE,
     f"{_DTYPE}    volatile char *lost = malloc(4096); if (lost != NULL) *lost = 1;\n", ("add",),
     F32),
    ("an output with an error", "elementwise",
     "if (vendor_broadcast(x, y, &ndim, dims) != STATUS_SUCCESS) return shapes;",
     "if (vendor_broadcast(x, y, &ndim, dims) != STATUS_SUCCESS) { *z = x; return shapes; }",
     ("add",), F32),
    ("a buffer that threads share", "elementwise", _BINARY,
     f"static char cell[16]; {_BINARY.replace(', to)', ', cell)')}\n"
     "        for (volatile int i = 0; i < 20; i++) {} memcpy(to, cell, item);", ("add",), F32),
]  # fmt: skip

ROWS = [*((*row, "level") for row in VIOLATIONS), *((*row, "quality") for row in QUALITY)]
