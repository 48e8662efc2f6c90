/* Kernels for each dtype, written once: NAME_kernels is a table with NULL where there is none. */

#ifndef VENDOR_ELEMENTWISE_H
#define VENDOR_ELEMENTWISE_H

#include "vendor.h"

typedef void (*UnaryKernel)(const void *x, void *y);
typedef void (*BinaryKernel)(const void *x, const void *y, void *z);

Status vendor_unary(const Tensor x, const UnaryKernel *kernels, bool gives_bool, Tensor *y);
Status vendor_binary(const Tensor x, const Tensor y, const BinaryKernel *kernels, bool gives_bool,
                     Status shapes, Tensor *z);

#define UNARY(name, kind, T, R, OP)                                     \
    static void name##_##kind(const void *p, void *q) {                 \
        T x = *(const T *)p;                                            \
        *(R *)q = OP(T, x);                                             \
    }
#define BINARY(name, kind, T, R, OP)                                    \
    static void name##_##kind(const void *p, const void *q, void *r) {  \
        T x = *(const T *)p, y = *(const T *)q;                         \
        *(R *)r = OP(T, x, y);                                          \
    }

#define INTEGERS(MAKE, name, OP)                                                    \
    MAKE(name, i8, int8_t, int8_t, OP) MAKE(name, i16, int16_t, int16_t, OP)        \
    MAKE(name, i32, int32_t, int32_t, OP) MAKE(name, i64, int64_t, int64_t, OP)     \
    MAKE(name, u8, uint8_t, uint8_t, OP) MAKE(name, u16, uint16_t, uint16_t, OP)    \
    MAKE(name, u32, uint32_t, uint32_t, OP) MAKE(name, u64, uint64_t, uint64_t, OP)
#define FLOATS(MAKE, name, OP) MAKE(name, f32, float, float, OP) MAKE(name, f64, double, double, OP)
#define TO_BOOL(MAKE, name, OP)                                                     \
    MAKE(name, i8, int8_t, uint8_t, OP) MAKE(name, i16, int16_t, uint8_t, OP)       \
    MAKE(name, i32, int32_t, uint8_t, OP) MAKE(name, i64, int64_t, uint8_t, OP)     \
    MAKE(name, u8, uint8_t, uint8_t, OP) MAKE(name, u16, uint16_t, uint8_t, OP)     \
    MAKE(name, u32, uint32_t, uint8_t, OP) MAKE(name, u64, uint64_t, uint8_t, OP)   \
    MAKE(name, f32, float, uint8_t, OP) MAKE(name, f64, double, uint8_t, OP)

#define WHOLE(name) name##_i8, name##_i16, name##_i32, name##_i64, name##_u8, name##_u16, \
        name##_u32, name##_u64
#define TABLE(KERNEL, name, ...) static const KERNEL name##_kernels[VENDOR_NONE] = {__VA_ARGS__};

#define UNARY_FLOATS(name, OP)                                                      \
    FLOATS(UNARY, name, OP)                                                         \
    TABLE(UnaryKernel, name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  \
          name##_f32, name##_f64)
#define UNARY_NUMBERS(name, OP)                                                     \
    INTEGERS(UNARY, name, OP) FLOATS(UNARY, name, OP)                               \
    TABLE(UnaryKernel, name, NULL, WHOLE(name), name##_f32, name##_f64)
#define TEST_ALL(name, OP)                                                          \
    UNARY(name, truth, uint8_t, uint8_t, OP) TO_BOOL(UNARY, name, OP)                \
    TABLE(UnaryKernel, name, name##_truth, WHOLE(name), name##_f32, name##_f64)
#define BINARY_NUMBERS(name, OP)                                                    \
    INTEGERS(BINARY, name, OP) FLOATS(BINARY, name, OP)                             \
    TABLE(BinaryKernel, name, NULL, WHOLE(name), name##_f32, name##_f64)
#define COMPARE_NUMBERS(name, OP)                                                   \
    TO_BOOL(BINARY, name, OP)                                                       \
    TABLE(BinaryKernel, name, NULL, WHOLE(name), name##_f32, name##_f64)
#define COMPARE_ALL(name, OP)                                                       \
    BINARY(name, truth, uint8_t, uint8_t, OP) TO_BOOL(BINARY, name, OP)              \
    TABLE(BinaryKernel, name, name##_truth, WHOLE(name), name##_f32, name##_f64)

#endif
