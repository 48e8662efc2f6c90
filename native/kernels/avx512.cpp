// native/kernels/avx512.cpp: the kernels for x86-64 machines with AVX-512 F, BW, CD, DQ and VL.
#define SUANZI_LEVEL avx512_kernels
#define SUANZI_LEVEL_NAME "avx512"
#define SUANZI_XSIMD xsimd_avx512
#include "all.inc"
