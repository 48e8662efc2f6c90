/* The functions of wrong.c as they should be: `make minimal` compiles this file instead. */

#include <math.h>

#include "elementwise.h"
#include "vendor.h"

#define TIMES(T, x, y) (T)(x * y)
#define MINUS(T, x, y) (T)(x - y)
#define LARGER(T, x, y) (x != x || x > y ? x : y)
#define SMALLER(T, x, y) (x != x || x < y ? x : y)
BINARY_NUMBERS(mul, TIMES)
BINARY_NUMBERS(sub, MINUS)
BINARY_NUMBERS(max, LARGER)
BINARY_NUMBERS(min, SMALLER)

#define ARITHMETIC(name, shapes)                                           \
    Status op_##name(const Tensor x, const Tensor y, Tensor *z) {          \
        return vendor_binary(x, y, name##_kernels, false, shapes, z);      \
    }
ARITHMETIC(mul, STATUS_DIMENSIONS_MISMATCH)
ARITHMETIC(sub, STATUS_DIMENSIONS_MISMATCH)
ARITHMETIC(max, STATUS_INVALID_ARGUMENT)
ARITHMETIC(min, STATUS_INVALID_ARGUMENT)

#define EXP(T, x) (T)exp((double)(x))
#define TANH(T, x) (T)tanh((double)(x))
#define CEIL(T, x) (T)ceil((double)(x))
#define TRUNC(T, x) (T)trunc((double)(x))
#define SQUARE(T, x) (T)(x * x)
#define ROUND(T, x) (T)rint((double)(x))
UNARY_FLOATS(exp, EXP)
UNARY_FLOATS(tanh, TANH)
UNARY_FLOATS(ceil, CEIL)
UNARY_FLOATS(trunc, TRUNC)
UNARY_FLOATS(square, SQUARE)
UNARY_FLOATS(round, ROUND)

#define ABS(T, x) (T)(x > 0 ? x : -x)
#define ABS_FLOAT(T, x) (T)fabs((double)(x))
INTEGERS(UNARY, abs, ABS)
FLOATS(UNARY, abs, ABS_FLOAT)
TABLE(UnaryKernel, abs, NULL, WHOLE(abs), abs_f32, abs_f64)

#define IS_INF(T, x) (uint8_t)(x == x && x - x != 0)
#define NOT(T, x) (uint8_t)(x == 0)
TEST_ALL(is_inf, IS_INF)
TEST_ALL(logical_not, NOT)

#define FUNCTION(name, gives_bool)                                         \
    Status op_##name(const Tensor x, Tensor *y) {                          \
        return vendor_unary(x, name##_kernels, gives_bool, y);             \
    }
FUNCTION(exp, false)
FUNCTION(tanh, false)
FUNCTION(ceil, false)
FUNCTION(trunc, false)
FUNCTION(square, false)
FUNCTION(round, false)
FUNCTION(abs, false)
FUNCTION(is_inf, true)
FUNCTION(logical_not, true)

Status op_rank(const Tensor input, int *rank) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    *rank = (int)input->shape.ndim;
    return STATUS_SUCCESS;
}
