/* What the minimal set (Table 154) has besides: functions of each element, for bool, int32 and float32. */

#include <math.h>
#include <string.h>

#include "elementwise.h"
#include "vendor.h"

#define KERNELS(KERNEL, name, ...) static const KERNEL name##_kernels[VENDOR_NONE] = {__VA_ARGS__};
#define FUNCTION(name, OP)                                                 \
    UNARY(name, f32, float, float, OP)                                     \
    KERNELS(UnaryKernel, name, [VENDOR_F32] = name##_f32)                  \
    Status op_##name(const Tensor x, Tensor *y) {                          \
        return vendor_unary(x, name##_kernels, false, y);                  \
    }

/* Computed in double: for float32 an error of half a unit in the last place, and hardly more. */
#define SIN(T, x) (T)sin((double)(x))
#define COS(T, x) (T)cos((double)(x))
#define TAN(T, x) (T)tan((double)(x))
#define ASIN(T, x) (T)asin((double)(x))
#define ACOS(T, x) (T)acos((double)(x))
#define ATAN(T, x) (T)atan((double)(x))
#define SINH(T, x) (T)sinh((double)(x))
#define COSH(T, x) (T)cosh((double)(x))
#define ASINH(T, x) (T)asinh((double)(x))
#define ACOSH(T, x) (T)acosh((double)(x))
#define ATANH(T, x) (T)atanh((double)(x))
#define EXPM1(T, x) (T)expm1((double)(x))
#define LOG(T, x) (T)log((double)(x))
#define LOG1P(T, x) (T)log1p((double)(x))
FUNCTION(sin, SIN)
FUNCTION(cos, COS)
FUNCTION(tan, TAN)
FUNCTION(asin, ASIN)
FUNCTION(acos, ACOS)
FUNCTION(atan, ATAN)
FUNCTION(sinh, SINH)
FUNCTION(cosh, COSH)
FUNCTION(asinh, ASINH)
FUNCTION(acosh, ACOSH)
FUNCTION(atanh, ATANH)
FUNCTION(expm1, EXPM1)
FUNCTION(log, LOG)
FUNCTION(log1p, LOG1P)

#define SIGN(T, x) (T)(x != x ? x : (T)(x > 0) - (T)(x < 0))
UNARY(sign, i32, int32_t, int32_t, SIGN)
UNARY(sign, f32, float, float, SIGN)
KERNELS(UnaryKernel, sign, [VENDOR_I32] = sign_i32, [VENDOR_F32] = sign_f32)

Status op_sign(const Tensor input, Tensor *output) {
    Status status = vendor_unary(input, sign_kernels, false, output);
    return status == STATUS_TYPE_MISMATCH ? STATUS_INVALID_ARGUMENT : status;
}

/* The most negative integer by -1 does not fit: it wraps, and no instruction may trap. */
#define DIV(T, x, y) (y == -1 ? 0 - x : x / y)
#define REMAINDER(x, y) (y == -1 ? 0 : x % y)
#define OTHER_SIGN(x, y) (REMAINDER(x, y) != 0 && (x < 0) != (y < 0))
#define FLOORDIV(T, x, y) (DIV(T, x, y) - OTHER_SIGN(x, y))
#define MOD(T, x, y) (REMAINDER(x, y) + (OTHER_SIGN(x, y) ? y : 0))

static long double floor_mod(long double x, long double y) {
    long double r = fmodl(x, y);
    return r != 0 ? (r < 0) != (y < 0) ? r + y : r : copysignl(r, y);
}
#define DIV_FLOAT(T, x, y) (T)(x / y)
#define FLOORDIV_FLOAT(T, x, y) (T)floorl((long double)x / (long double)y)
#define MOD_FLOAT(T, x, y) (T)floor_mod((long double)x, (long double)y)

/* An integer that is divided by zero is refused before anything is computed. */
static bool has_zero(const Tensor y) {
    Kind kind = vendor_kind(y->storage->dtype);
    size_t item = vendor_itemsize(y->storage->dtype);
    for (int64_t i = y->offset; i < y->offset + y->size && kind <= VENDOR_U64; i++) {
        if (vendor_load_whole(kind, VENDOR_DATA(y) + (size_t)i * item) == 0) return true;
    }
    return false;
}
#define DIVISION(name, WHOLE_OP, FLOAT_OP)                                                  \
    BINARY(name, i32, int32_t, int32_t, WHOLE_OP)                                           \
    BINARY(name, f32, float, float, FLOAT_OP)                                               \
    KERNELS(BinaryKernel, name, [VENDOR_I32] = name##_i32, [VENDOR_F32] = name##_f32)       \
    Status op_##name(const Tensor x, const Tensor y, Tensor *z) {                           \
        if (x == NULL || y == NULL) return STATUS_UNINITIALIZED_OBJECT;                     \
        Kind kind = vendor_kind(x->storage->dtype);                                         \
        if (kind == VENDOR_NONE || kind != vendor_kind(y->storage->dtype)) {                \
            return STATUS_TYPE_MISMATCH;                                                    \
        }                                                                                   \
        if (x->size > 0 && has_zero(y)) return STATUS_INVALID_ARGUMENT;                     \
        return vendor_binary(x, y, name##_kernels, false, STATUS_DIMENSIONS_MISMATCH, z);   \
    }
DIVISION(div, DIV, DIV_FLOAT)
DIVISION(floordiv, FLOORDIV, FLOORDIV_FLOAT)
DIVISION(mod, MOD, MOD_FLOAT)

#define POW(T, x, y) (T)pow((double)x, (double)y)
BINARY(pow, f32, float, float, POW)
KERNELS(BinaryKernel, pow, [VENDOR_F32] = pow_f32)

Status op_pow(const Tensor x, const Tensor e, Tensor *y) {
    return vendor_binary(x, e, pow_kernels, false, STATUS_DIMENSIONS_MISMATCH, y);
}

#define AND(T, x, y) (uint8_t)(x != 0 && y != 0)
#define OR(T, x, y) (uint8_t)(x != 0 || y != 0)
#define XOR(T, x, y) (uint8_t)((x != 0) != (y != 0))
#define LOGICAL(name, OP)                                                                   \
    COMPARE_ALL(name, OP)                                                                   \
    Status op_##name(const Tensor x, const Tensor y, Tensor *z) {                           \
        return vendor_binary(x, y, name##_kernels, true, STATUS_DIMENSIONS_MISMATCH, z);    \
    }
LOGICAL(logical_and, AND)
LOGICAL(logical_or, OR)
LOGICAL(logical_xor, XOR)

#define BIT_AND(T, x, y) (T)(x & y)
#define BIT_OR(T, x, y) (T)(x | y)
#define BIT_XOR(T, x, y) (T)(x ^ y)
#define BIT_NOT(T, x) (T)~x
#define BOOL_NOT(T, x) (T)!x
#define BITWISE(name, OP)                                                                   \
    BINARY(name, truth, uint8_t, uint8_t, OP)                                               \
    BINARY(name, i32, int32_t, int32_t, OP)                                                 \
    KERNELS(BinaryKernel, name, [VENDOR_BOOL] = name##_truth, [VENDOR_I32] = name##_i32)    \
    Status op_##name(const Tensor x, const Tensor y, Tensor *z) {                           \
        return vendor_binary(x, y, name##_kernels, false, STATUS_DIMENSIONS_MISMATCH, z);   \
    }
BITWISE(bitwise_and, BIT_AND)
BITWISE(bitwise_or, BIT_OR)
BITWISE(bitwise_xor, BIT_XOR)

UNARY(bitwise_not, truth, uint8_t, uint8_t, BOOL_NOT)
UNARY(bitwise_not, i32, int32_t, int32_t, BIT_NOT)
KERNELS(UnaryKernel, bitwise_not, [VENDOR_BOOL] = bitwise_not_truth,
        [VENDOR_I32] = bitwise_not_i32)

Status op_bitwise_not(const Tensor x, Tensor *y) {
    return vendor_unary(x, bitwise_not_kernels, false, y);
}

/* Complex numbers are pairs of float32. */
Status op_complex(const Tensor real, const Tensor imag, Tensor *output) {
    if (real == NULL || imag == NULL) return STATUS_UNINITIALIZED_OBJECT;
    DataType complex64 = {kComplex, 64};
    if (vendor_kind(real->storage->dtype) != VENDOR_F32 ||
        vendor_kind(imag->storage->dtype) != VENDOR_F32) {
        return STATUS_TYPE_MISMATCH;
    }
    int64_t ndim, dims[VENDOR_MOST_AXES];
    if (vendor_broadcast(real, imag, &ndim, dims) != STATUS_SUCCESS) {
        return STATUS_DIMENSIONS_MISMATCH;
    }
    Tensor both[2] = {real, imag};
    Walk walk;
    Status status = vendor_walk(&walk, ndim, dims, 2, both);
    if (status == STATUS_SUCCESS) status = vendor_new(complex64, ndim, dims, output);
    if (status != STATUS_SUCCESS) return status;
    for (char *to = VENDOR_DATA(*output); walk.left > 0; vendor_next(&walk), to += 8) {
        memcpy(to, VENDOR_DATA(real) + walk.at[0], 4);
        memcpy(to + 4, VENDOR_DATA(imag) + walk.at[1], 4);
    }
    return STATUS_SUCCESS;
}

/* One part of each complex number; a real tensor is its own real part. */
static Status part(const Tensor input, size_t at, Tensor *output) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    DataType float32 = {kReal, 32}, dtype = input->storage->dtype;
    bool pairs = vendor_kind(dtype) == VENDOR_C64;
    if (!pairs && at == 0) return op_duplicate(input, output);
    Walk walk;
    Status status = vendor_walk(&walk, input->shape.ndim, input->shape.dims, 1, &input);
    if (status == STATUS_SUCCESS) status = vendor_like(input, pairs ? float32 : dtype, output);
    if (status != STATUS_SUCCESS) return status;
    size_t item = vendor_itemsize(pairs ? float32 : dtype);
    for (char *to = VENDOR_DATA(*output); walk.left > 0; vendor_next(&walk), to += item) {
        if (pairs) memcpy(to, VENDOR_DATA(input) + walk.at[0] + at, item);
        else memset(to, 0, item);
    }
    return STATUS_SUCCESS;
}

Status op_real(const Tensor input, Tensor *output) { return part(input, 0, output); }

Status op_imag(const Tensor input, Tensor *output) { return part(input, 4, output); }

Status op_conj(const Tensor input, Tensor *output) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    Status status = op_duplicate(input, output);
    bool pairs = status == STATUS_SUCCESS && vendor_kind(input->storage->dtype) == VENDOR_C64;
    for (int64_t i = 0; pairs && i < (*output)->size; i++) {
        float *imag = (float *)VENDOR_DATA(*output) + 2 * i + 1;
        *imag = -*imag;
    }
    return status;
}
