/* Functions that are wrong on purpose, each in another way; `suanzi check` finds every one. */

#include <math.h>
#include <stdlib.h>

#include "elementwise.h"
#include "vendor.h"

/* Wrong: floats are a thousandth too large. A tolerance of 1e-3 would let that pass. */
#define TIMES(T, x, y) (T)(x * y)
#define TOO_MUCH(T, x, y) (T)(x * y * (T)1.001)
INTEGERS(BINARY, mul, TIMES)
FLOATS(BINARY, mul, TOO_MUCH)
TABLE(BinaryKernel, mul, NULL, WHOLE(mul), mul_f32, mul_f64)

Status op_mul(const Tensor x, const Tensor y, Tensor *z) {
    return vendor_binary(x, y, mul_kernels, false, STATUS_DIMENSIONS_MISMATCH, z);
}

/* Wrong: the operands are swapped. */
#define SWAPPED(T, x, y) (T)(y - x)
BINARY_NUMBERS(sub, SWAPPED)

Status op_sub(const Tensor x, const Tensor y, Tensor *z) {
    return vendor_binary(x, y, sub_kernels, false, STATUS_DIMENSIONS_MISMATCH, z);
}

/* Wrong: the status. Shapes that do not fit are the caller's mistake, not an internal error. */
#define LARGER(T, x, y) (x != x || x > y ? x : y)
BINARY_NUMBERS(max, LARGER)

Status op_max(const Tensor x, const Tensor y, Tensor *z) {
    return vendor_binary(x, y, max_kernels, false, STATUS_INTERNAL_ERROR, z);
}

/* Wrong: a NaN in y is lost, as C's fmin loses it. */
#define SMALLER(T, x, y) (y < x ? y : x)
BINARY_NUMBERS(min, SMALLER)

Status op_min(const Tensor x, const Tensor y, Tensor *z) {
    return vendor_binary(x, y, min_kernels, false, STATUS_INVALID_ARGUMENT, z);
}

/* Wrong: a polynomial in float, with an error of a tenth of a percent. */
static double roughly_exp(double x) {
    double n = rint(x / 0.6931471805599453), r = x - n * 0.6931471805599453;
    float p = 1.0f + (float)r * (1.0f + (float)r * (0.5f + (float)r * 0.1667f));
    return ldexp((double)p, n > 2000 ? 2000 : n < -2000 ? -2000 : (int)n);
}
#define ROUGHLY_EXP(T, x) (T)(isfinite(x) ? roughly_exp((double)(x)) : exp((double)(x)))
UNARY_FLOATS(exp, ROUGHLY_EXP)

Status op_exp(const Tensor x, Tensor *y) { return vendor_unary(x, exp_kernels, false, y); }

/* Wrong: float64 is computed in float32. */
#define HALF_TANH(T, x) (T)tanhf((float)(x))
UNARY_FLOATS(tanh, HALF_TANH)

Status op_tanh(const Tensor x, Tensor *y) { return vendor_unary(x, tanh_kernels, false, y); }

/* Wrong: a tensor without elements ends the process. */
#define CEIL(T, x) (T)ceil((double)(x))
UNARY_FLOATS(ceil, CEIL)

Status op_ceil(const Tensor x, Tensor *y) {
    if (x != NULL && x->size == 0) abort();
    return vendor_unary(x, ceil_kernels, false, y);
}

/* Wrong: a NaN never comes to an end. */
static double slow_trunc(double x) {
    volatile double left = fabs(x);
    if (left >= 1e15) return x;
    while (!(left < 1)) left = left - floor(left); /* of a NaN, never less than 1 */
    return copysign(fabs(x) - left, x);
}
#define TRUNC(T, x) (T)slow_trunc((double)(x))
UNARY_FLOATS(trunc, TRUNC)

Status op_trunc(const Tensor x, Tensor *y) { return vendor_unary(x, trunc_kernels, false, y); }

/* Wrong: a subnormal number gives NaN. */
#define SQUARE(T, x) (T)(fpclassify(x) == FP_SUBNORMAL ? (T)NAN : x * x)
UNARY_FLOATS(square, SQUARE)

Status op_square(const Tensor x, Tensor *y) { return vendor_unary(x, square_kernels, false, y); }

/* Wrong: the layout is not looked at, as if every tensor lay row by row. */
#define ABS(T, x) (T)(x > 0 ? x : -x)
#define ABS_FLOAT(T, x) (T)fabs((double)(x))
INTEGERS(UNARY, abs, ABS)
FLOATS(UNARY, abs, ABS_FLOAT)
TABLE(UnaryKernel, abs, NULL, WHOLE(abs), abs_f32, abs_f64)

Status op_abs(const Tensor x, Tensor *y) {
    if (x == NULL) return STATUS_UNINITIALIZED_OBJECT;
    struct TensorImpl rows = *x;
    rows.shape.layout.min2maj = NULL;
    return vendor_unary(&rows, abs_kernels, false, y);
}

/* Wrong: the result is written into the input, too. */
#define ROUND(T, x) (T)rint((double)(x))
UNARY_FLOATS(round, ROUND)

Status op_round(const Tensor x, Tensor *y) {
    Status status = vendor_unary(x, round_kernels, false, y);
    if (status != STATUS_SUCCESS || x->size == 0) return status;
    if (vendor_kind(x->storage->dtype) == VENDOR_F32) {
        float *first = (float *)x->storage->data + x->offset;
        *first = (float)rint((double)*first);
    } else {
        double *first = (double *)x->storage->data + x->offset;
        *first = rint(*first);
    }
    return status;
}

/* Wrong: the output is no bool. */
#define IS_INF(T, x) (uint8_t)(x == x && x - x != 0)
TEST_ALL(is_inf, IS_INF)

Status op_is_inf(const Tensor input, Tensor *output) {
    Status status = vendor_unary(input, is_inf_kernels, true, output);
    if (status == STATUS_SUCCESS) (*output)->storage->dtype.code = kUInt;
    return status;
}

/* Wrong: success, and no output. */
Status op_logical_not(const Tensor x, Tensor *y) {
    (void)y;
    return x == NULL ? STATUS_UNINITIALIZED_OBJECT : STATUS_SUCCESS;
}

/* Wrong: one axis too many. */
Status op_rank(const Tensor input, int *rank) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    *rank = (int)input->shape.ndim + 1;
    return STATUS_SUCCESS;
}
