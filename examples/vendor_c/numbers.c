/* Elements of every dtype as integers of 64 bits, or as long double, which is exact for all. */

#include <math.h>

#include "vendor.h"

bool vendor_is_signed(Kind kind) { return kind >= VENDOR_I8 && kind <= VENDOR_I64; }

bool vendor_is_float(Kind kind) { return kind >= VENDOR_F32 && kind <= VENDOR_F16; }

static double from_half(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25);
    if (exponent == 31) size = fraction != 0 ? NAN : INFINITY;
    return bits >> 15 ? -size : size;
}

/* Rounded once, to the nearest even. */
static uint16_t to_half(double x) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double size = fabs(x);
    if (x != x) return 0x7e00;
    if (size >= 65520) return sign | 0x7c00;
    int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    int units = (int)rint(ldexp(size, 10 - exponent));
    if (exponent == -14 && units < 1024) return sign | (uint16_t)units;
    return sign | (uint16_t)(((exponent + 15) << 10) + units - 1024);
}

uint64_t vendor_load_whole(Kind kind, const void *p) {
    switch (kind) {
    case VENDOR_BOOL: return *(const uint8_t *)p != 0;
    case VENDOR_I8: return (uint64_t)*(const int8_t *)p;
    case VENDOR_I16: return (uint64_t)*(const int16_t *)p;
    case VENDOR_I32: return (uint64_t)*(const int32_t *)p;
    case VENDOR_I64: return (uint64_t)*(const int64_t *)p;
    case VENDOR_U8: return *(const uint8_t *)p;
    case VENDOR_U16: return *(const uint16_t *)p;
    case VENDOR_U32: return *(const uint32_t *)p;
    default: return *(const uint64_t *)p;
    }
}

long double vendor_load_real(Kind kind, const void *p) {
    if (kind == VENDOR_F32 || kind == VENDOR_C64) return (long double)*(const float *)p;
    if (kind == VENDOR_F64 || kind == VENDOR_C128) return (long double)*(const double *)p;
    if (kind == VENDOR_F16) return (long double)from_half(*(const uint16_t *)p);
    uint64_t whole = vendor_load_whole(kind, p);
    return vendor_is_signed(kind) ? (long double)(int64_t)whole : (long double)whole;
}

void vendor_store_whole(Kind kind, uint64_t x, void *p) {
    switch (kind) {
    case VENDOR_BOOL: *(uint8_t *)p = x != 0; break;
    case VENDOR_I8: case VENDOR_U8: *(uint8_t *)p = (uint8_t)x; break;
    case VENDOR_I16: case VENDOR_U16: *(uint16_t *)p = (uint16_t)x; break;
    case VENDOR_I32: case VENDOR_U32: *(uint32_t *)p = (uint32_t)x; break;
    default: *(uint64_t *)p = x;
    }
}

void vendor_store_real(Kind kind, long double x, void *p) {
    if (kind == VENDOR_F32 || kind == VENDOR_C64) *(float *)p = (float)x;
    else if (kind == VENDOR_F16) *(uint16_t *)p = to_half((double)x);
    else *(double *)p = (double)x;
}
