// native/kernels/avx2.cpp: the kernels for x86-64 machines with AVX2, FMA and F16C.
#define SUANZI_LEVEL avx2_kernels
#define SUANZI_LEVEL_NAME "avx2"
#define SUANZI_XSIMD xsimd_avx2
#include "all.inc"
