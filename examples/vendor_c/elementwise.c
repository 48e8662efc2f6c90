/* Functions of one or two tensors, element by element. All of it is right. */

#include <math.h>

#include "vendor.h"
#include "elementwise.h"

Status vendor_unary(const Tensor x, const UnaryKernel *kernels, bool gives_bool, Tensor *y) {
    if (x == NULL) return STATUS_UNINITIALIZED_OBJECT;
    DataType dtype = x->storage->dtype, boolean = {kBool, 8};
    Kind kind = vendor_kind(dtype);
    if (kind == VENDOR_NONE || kernels[kind] == NULL) return STATUS_TYPE_MISMATCH;
    Walk walk;
    Status status = vendor_walk(&walk, x->shape.ndim, x->shape.dims, 1, &x);
    if (status == STATUS_SUCCESS) status = vendor_like(x, gives_bool ? boolean : dtype, y);
    if (status != STATUS_SUCCESS) return status;
    size_t item = vendor_itemsize((*y)->storage->dtype);
    for (char *to = VENDOR_DATA(*y); walk.left > 0; vendor_next(&walk), to += item) {
        kernels[kind](VENDOR_DATA(x) + walk.at[0], to);
    }
    return STATUS_SUCCESS;
}

Status vendor_binary(const Tensor x, const Tensor y, const BinaryKernel *kernels, bool gives_bool,
                     Status shapes, Tensor *z) {
    if (x == NULL || y == NULL) return STATUS_UNINITIALIZED_OBJECT;
    DataType dtype = x->storage->dtype, boolean = {kBool, 8};
    Kind kind = vendor_kind(dtype);
    if (kind == VENDOR_NONE || kernels[kind] == NULL || kind != vendor_kind(y->storage->dtype)) {
        return STATUS_TYPE_MISMATCH;
    }
    int64_t ndim, dims[VENDOR_MOST_AXES];
    if (vendor_broadcast(x, y, &ndim, dims) != STATUS_SUCCESS) return shapes;
    Tensor both[2] = {x, y};
    Walk walk;
    Status status = vendor_walk(&walk, ndim, dims, 2, both);
    if (status == STATUS_SUCCESS) {
        status = vendor_new(gives_bool ? boolean : dtype, ndim, dims, z);
    }
    if (status != STATUS_SUCCESS) return status;
    size_t item = vendor_itemsize((*z)->storage->dtype);
    for (char *to = VENDOR_DATA(*z); walk.left > 0; vendor_next(&walk), to += item) {
        kernels[kind](VENDOR_DATA(x) + walk.at[0], VENDOR_DATA(y) + walk.at[1], to);
    }
    return STATUS_SUCCESS;
}

/* The build wraps integers that overflow (-fwrapv), as the standard's reader expects. */
#define ADD(T, x, y) (T)(x + y)
BINARY_NUMBERS(add, ADD)

Status op_add(const Tensor x, const Tensor y, Tensor *z) {
    return vendor_binary(x, y, add_kernels, false, STATUS_DIMENSIONS_MISMATCH, z);
}

#define EQUAL(T, x, y) (uint8_t)(x == y)
#define NOT_EQUAL(T, x, y) (uint8_t)(x != y)
#define GREATER(T, x, y) (uint8_t)(x > y)
#define GREATER_EQUAL(T, x, y) (uint8_t)(x >= y)
#define LESS(T, x, y) (uint8_t)(x < y)
#define LESS_EQUAL(T, x, y) (uint8_t)(x <= y)
COMPARE_ALL(equal, EQUAL)
COMPARE_ALL(not_equal, NOT_EQUAL)
COMPARE_NUMBERS(greater, GREATER)
COMPARE_NUMBERS(greater_equal, GREATER_EQUAL)
COMPARE_NUMBERS(less, LESS)
COMPARE_NUMBERS(less_equal, LESS_EQUAL)

#define COMPARISON(name)                                                                     \
    Status op_##name(const Tensor x, const Tensor y, Tensor *z) {                            \
        return vendor_binary(x, y, name##_kernels, true, STATUS_DIMENSIONS_MISMATCH, z);     \
    }
COMPARISON(equal)
COMPARISON(not_equal)
COMPARISON(greater)
COMPARISON(greater_equal)
COMPARISON(less)
COMPARISON(less_equal)

#define FLOOR(T, x) (T)floor((double)(x))
UNARY_FLOATS(floor, FLOOR)

Status op_floor(const Tensor x, Tensor *y) { return vendor_unary(x, floor_kernels, false, y); }

/* A float32 root that is rounded to float64 first is still right after the second rounding. */
#define ROOT(T, x) (T)sqrt((double)(x))
UNARY_FLOATS(root, ROOT)

Status op_sqrt(const Tensor x, Tensor *y) {
    if (x == NULL) return STATUS_UNINITIALIZED_OBJECT;
    Kind kind = vendor_kind(x->storage->dtype);
    if (kind != VENDOR_F32 && kind != VENDOR_F64) return STATUS_TYPE_MISMATCH;
    for (int64_t i = x->offset; i < x->offset + x->size; i++) {
        double value = kind == VENDOR_F32 ? (double)((float *)x->storage->data)[i]
                                          : ((double *)x->storage->data)[i];
        if (value < 0) return STATUS_INVALID_ARGUMENT;
    }
    return vendor_unary(x, root_kernels, false, y);
}

#define IS_NAN(T, x) (uint8_t)(x != x)
#define IS_FINITE(T, x) (uint8_t)(x - x == 0)
TEST_ALL(is_nan, IS_NAN)
TEST_ALL(is_finite, IS_FINITE)

Status op_is_nan(const Tensor input, Tensor *output) {
    return vendor_unary(input, is_nan_kernels, true, output);
}

Status op_is_finite(const Tensor input, Tensor *output) {
    return vendor_unary(input, is_finite_kernels, true, output);
}
