// native/kernels/precompiled.h: what CMake compiles once per level instead of once per file; no file includes it.
#pragma once

#include "kernels/common.inc"

#define xsimd SUANZI_XSIMD
#include <xsimd/xsimd.hpp>
#undef xsimd
