// native/kernels/baseline.cpp: the kernels for any machine of this architecture.
#define SUANZI_LEVEL baseline_kernels
#define SUANZI_LEVEL_NAME "baseline"
#define SUANZI_XSIMD xsimd_baseline
#include "all.inc"
