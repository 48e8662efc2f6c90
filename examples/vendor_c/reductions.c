/* Reductions and matrix products. All of it is right. */

#include <stdlib.h>

#include "vendor.h"

/* long double is longer than every element: sums are rounded once, in effect. */
typedef struct {
    long double real;
    uint64_t whole;
    int64_t count;
} Sum;

static void start(Sum *sum, ReduceMode mode) {
    bool ones = mode == PROD || mode == LAND;
    sum->real = ones;
    sum->whole = mode == BAND ? UINT64_MAX : ones;
    sum->count = 0;
}

static bool before(Kind kind, const Sum *sum, const void *p) { /* whether the sum is the smaller */
    if (vendor_is_float(kind)) return sum->real < vendor_load_real(kind, p);
    uint64_t x = vendor_load_whole(kind, p);
    return vendor_is_signed(kind) ? (int64_t)sum->whole < (int64_t)x : sum->whole < x;
}

static void take(Sum *sum, ReduceMode mode, Kind kind, const void *p) {
    bool floats = vendor_is_float(kind), first = sum->count++ == 0;
    long double real = vendor_load_real(kind, p);
    uint64_t whole = floats ? real != 0 : vendor_load_whole(kind, p);
    bool truth = floats ? real != 0 : whole != 0;
    switch (mode) {
    case SUM: case MEAN: sum->real += real; sum->whole += whole; break;
    case PROD: sum->real *= real; sum->whole *= whole; break;
    case MAX: case MIN:
        if (floats && !first && sum->real != sum->real) break; /* a NaN stays */
        if (first || real != real || (mode == MAX ? before(kind, sum, p)
                                                  : !before(kind, sum, p))) {
            sum->real = real;
            sum->whole = whole;
        }
        break;
    case LAND: sum->whole = sum->whole && truth; break;
    case LOR: sum->whole = sum->whole || truth; break;
    case LXOR: sum->whole = sum->whole != truth; break;
    case BAND: sum->whole &= whole; break;
    case BOR: sum->whole |= whole; break;
    case BXOR: sum->whole ^= whole; break;
    }
}

static DataType reduced(DataType dtype, ReduceMode mode) {
    DataType boolean = {kBool, 8}, int64 = {kInt, 64}, float32 = {kReal, 32};
    Kind kind = vendor_kind(dtype);
    if (mode >= LAND && mode <= LXOR) return boolean;
    if (kind == VENDOR_BOOL && (mode == SUM || mode == PROD)) return int64;
    return mode == MEAN && !vendor_is_float(kind) ? float32 : dtype;
}

Status op_reduce(const Tensor input, const ReduceMode mode, const int *axis, const int axis_len,
                 const bool keep_dims, Tensor *output) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    Kind kind = vendor_kind(input->storage->dtype);
    int64_t ndim = input->shape.ndim, dims[VENDOR_MOST_AXES], steps[VENDOR_MOST_AXES], rank = 0;
    bool gone[VENDOR_MOST_AXES] = {false};
    if ((int)mode < SUM || mode > BXOR || ndim > VENDOR_MOST_AXES) return STATUS_INVALID_ARGUMENT;
    if (kind > VENDOR_F16 || (kind == VENDOR_BOOL && mode == MEAN) ||
        (vendor_is_float(kind) && mode >= BAND)) {
        return STATUS_TYPE_MISMATCH;
    }
    for (int i = 0; i < axis_len; i++) {
        int64_t a = axis[i] < 0 ? axis[i] + ndim : axis[i];
        if (a < 0 || a >= ndim || gone[a]) return STATUS_INVALID_ARGUMENT;
        gone[a] = true;
    }
    int64_t count = 1, step = 1;
    for (int64_t i = 0; i < ndim; i++) {
        if (axis_len == 0) gone[i] = true;
        if (gone[i]) count *= input->shape.dims[i];
        if (!gone[i] || keep_dims) dims[rank++] = gone[i] ? 1 : input->shape.dims[i];
    }
    for (int64_t i = ndim - 1; i >= 0; i--) {
        steps[i] = gone[i] ? 0 : step;
        if (!gone[i]) step *= input->shape.dims[i];
    }
    if (count == 0 && mode >= MAX && mode <= MEAN) return STATUS_INVALID_ARGUMENT;
    DataType dtype = reduced(input->storage->dtype, mode);
    Status status = vendor_new(dtype, rank, dims, output);
    if (status != STATUS_SUCCESS) return status;
    Sum *sums = malloc(sizeof(Sum) * (size_t)((*output)->size + 1));
    if (sums == NULL) {
        op_destroy(output);
        return STATUS_ALLOC_FAILED;
    }
    for (int64_t i = 0; i < (*output)->size; i++) start(&sums[i], mode);
    Walk walk;
    for (vendor_walk(&walk, ndim, input->shape.dims, 1, &input); walk.left > 0;
         vendor_next(&walk)) {
        int64_t to = 0;
        for (int64_t i = 0; i < ndim; i++) to += walk.index[i] * steps[i];
        take(&sums[to], mode, kind, VENDOR_DATA(input) + walk.at[0]);
    }
    Kind made = vendor_kind(dtype);
    for (int64_t i = 0; i < (*output)->size; i++) {
        void *p = VENDOR_DATA(*output) + (size_t)i * vendor_itemsize(dtype);
        if (mode == MEAN) sums[i].real /= sums[i].count;
        if (vendor_is_float(made)) vendor_store_real(made, sums[i].real, p);
        else vendor_store_whole(made, sums[i].whole, p);
    }
    free(sums);
    return STATUS_SUCCESS;
}

Status op_matmul(const Tensor mat1, const Tensor mat2, Tensor *out) {
    if (mat1 == NULL || mat2 == NULL) return STATUS_UNINITIALIZED_OBJECT;
    Kind kind = vendor_kind(mat1->storage->dtype);
    if (kind != vendor_kind(mat2->storage->dtype)) return STATUS_TYPE_MISMATCH;
    if (kind > VENDOR_F16 || kind == VENDOR_BOOL) return STATUS_INVALID_ARGUMENT;
    /* Views with two axes at least: a row from the left, a column from the right. */
    struct TensorImpl a = *mat1, b = *mat2;
    int64_t da[VENDOR_MOST_AXES], db[VENDOR_MOST_AXES], sa[VENDOR_MOST_AXES], sb[VENDOR_MOST_AXES];
    int64_t na = a.shape.ndim, nb = b.shape.ndim, dims[VENDOR_MOST_AXES];
    if (na == 0 || nb == 0 || na >= VENDOR_MOST_AXES || nb >= VENDOR_MOST_AXES) {
        return STATUS_DIMENSIONS_MISMATCH;
    }
    vendor_strides(mat1, sa);
    vendor_strides(mat2, sb);
    int64_t inner = a.shape.dims[na - 1], inner2 = b.shape.dims[nb == 1 ? 0 : nb - 2];
    if (inner != inner2) return STATUS_DIMENSIONS_MISMATCH;
    int64_t rows = na == 1 ? 1 : a.shape.dims[na - 2], columns = nb == 1 ? 1 : b.shape.dims[nb - 1];
    int64_t row = na == 1 ? 0 : sa[na - 2], column = nb == 1 ? 0 : sb[nb - 1];
    int64_t along = sa[na - 1], down = sb[nb == 1 ? 0 : nb - 2];
    int64_t ba = na > 2 ? na - 2 : 0, bb = nb > 2 ? nb - 2 : 0, batch = ba > bb ? ba : bb;
    int64_t rank = batch, pairs = 1;
    for (int64_t i = 0; i < batch; i++) { /* from the last on */
        int64_t p = i < ba ? a.shape.dims[ba - 1 - i] : 1, q = i < bb ? b.shape.dims[bb - 1 - i] : 1;
        if (p != q && p != 1 && q != 1) return STATUS_DIMENSIONS_MISMATCH;
        dims[batch - 1 - i] = p == 1 ? q : p;
        pairs *= dims[batch - 1 - i];
        da[batch - 1 - i] = p == 1 ? 0 : sa[ba - 1 - i];
        db[batch - 1 - i] = q == 1 ? 0 : sb[bb - 1 - i];
    }
    if (na > 1) dims[rank++] = rows;
    if (nb > 1) dims[rank++] = columns;
    Status status = vendor_new(a.storage->dtype, rank, dims, out);
    if (status != STATUS_SUCCESS) return status;
    size_t item = vendor_itemsize(a.storage->dtype);
    char *to = VENDOR_DATA(*out);
    for (int64_t k = 0; k < pairs; k++) {
        int64_t pa = a.offset, pb = b.offset, rest = k;
        for (int64_t i = batch - 1; i >= 0; rest /= dims[i], i--) {
            pa += rest % dims[i] * da[i];
            pb += rest % dims[i] * db[i];
        }
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = 0; j < columns; j++, to += item) {
                long double real = 0;
                uint64_t whole = 0;
                for (int64_t m = 0; m < inner; m++) {
                    const char *x = VENDOR_DATA(&a) + (size_t)(pa + i * row + m * along) * item;
                    const char *y = VENDOR_DATA(&b) + (size_t)(pb + m * down + j * column) * item;
                    if (vendor_is_float(kind)) real += vendor_load_real(kind, x) * vendor_load_real(kind, y);
                    else whole += vendor_load_whole(kind, x) * vendor_load_whole(kind, y);
                }
                if (vendor_is_float(kind)) vendor_store_real(kind, real, to);
                else vendor_store_whole(kind, whole, to);
            }
        }
    }
    return STATUS_SUCCESS;
}
