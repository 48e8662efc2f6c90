// native/loops/conversions.cpp: which conversions lead from one dtype to another.
#include "loops/conversions.h"

#include "core/rules.h"

namespace suanzi {

Dtype part_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::complex32: return Dtype::float16;
    case Dtype::complex64: return Dtype::float32;
    case Dtype::complex128: return Dtype::float64;
    default: return dtype;
  }
}

namespace {

std::size_t index(Lane lane) { return static_cast<std::size_t>(lane); }
std::size_t index(Narrow narrow) { return static_cast<std::size_t>(narrow); }

void add_step(Path& path, Convert step, std::size_t out_size, int multiple = 1) {
  path.steps[path.count] = step;
  path.out_size[path.count] = static_cast<std::uint8_t>(out_size);
  path.multiple[path.count] = static_cast<std::uint8_t>(multiple);
  ++path.count;
}

std::size_t item(Dtype dtype) { return facts(dtype).itemsize; }

bool saturates(Dtype target) { return target == Dtype::float8_e4m3fn && float8_saturates(); }

// The dtypes that fill less than their byte. They are also fitted when they are read: the memory may
// be an array of ml_dtypes, which leaves the sign of int4 out of the upper bits.
Convert fitting_step(const Kernels& k, Dtype target, bool from_float) {
  switch (target) {
    case Dtype::boolean: return k.nonzero[index(Lane::u8)];  // any byte but 0 is true to others
    case Dtype::int4: return from_float ? k.limit_int4 : k.wrap_int4;
    case Dtype::uint4: return from_float ? k.limit_uint4 : k.wrap_uint4;
    case Dtype::uint1: return from_float ? k.limit_uint1 : k.wrap_uint1;
    default: return nullptr;
  }
}

// Between real dtypes, none of them bool as a target; `multiple` is 2 over the parts of complex.
void real_steps(Path& path, const Kernels& k, Dtype source, Dtype target, bool saturate, int multiple) {
  const Layer &s = layer_of(source), &t = layer_of(target);
  if (source == target) return;
  Lane at = s.lane;
  if (Convert fit = fitting_step(k, source, false)) add_step(path, fit, 1);
  if (s.is_narrow) add_step(path, k.widen[index(s.narrow)], 4 * multiple, multiple);
  if (t.is_narrow) {
    if (k.to_odd[index(at)]) add_step(path, k.to_odd[index(at)], 4 * multiple, multiple);
    else if (at != Lane::f32) add_step(path, k.convert[index(at)][index(Lane::f32)], 4 * multiple, multiple);
    if (saturate || saturates(target)) add_step(path, k.clamp[index(t.narrow)], 4 * multiple, multiple);
    add_step(path, k.narrow[index(t.narrow)], (std::size_t{1} << layer_of(part_of(target)).log2_size) * multiple,
             multiple);
  } else {
    if (at != t.lane)
      add_step(path, k.convert[index(at)][index(t.lane)], lane_size[index(t.lane)] * multiple, multiple);
    if (Convert fit = fitting_step(k, target, facts(source).is_inexact())) add_step(path, fit, 1);
  }
}

void bool_steps(Path& path, const Kernels& k, Dtype source) {
  const Layer& s = layer_of(source);
  int multiple = s.is_complex ? 2 : 1;
  // Of integers in a part of a byte, the rest may be anything.
  Convert fit = source == Dtype::boolean ? nullptr : fitting_step(k, source, false);
  if (fit) add_step(path, fit, 1);
  if (s.is_narrow) add_step(path, k.widen[index(s.narrow)], 4 * multiple, multiple);
  add_step(path, k.nonzero[index(s.lane)], multiple, multiple);
  if (s.is_complex) add_step(path, k.either, 1);
}

void cast_steps(Path& path, const Kernels& k, Dtype source, Dtype target, bool saturate) {
  if (source == target) return;
  const Layer &s = layer_of(source), &t = layer_of(target);
  if (target == Dtype::boolean) {
    bool_steps(path, k, source);
  } else if (s.is_complex && t.is_complex) {
    real_steps(path, k, part_of(source), part_of(target), saturate, 2);
  } else if (s.is_complex) {
    Dtype part = part_of(source);
    add_step(path, k.real_part[s.log2_size - 1], item(part));
    real_steps(path, k, part, target, saturate, 1);
  } else if (t.is_complex) {
    real_steps(path, k, source, part_of(target), saturate, 1);
    add_step(path, k.to_complex[t.log2_size - 1], item(target));
  } else {
    real_steps(path, k, source, target, saturate, 1);
  }
}

}  // namespace

Path cast_path(const Kernels& k, Dtype source, Dtype target, bool saturate) {
  Path path;
  cast_steps(path, k, source, target, saturate);
  return path;
}

Path truth_path(const Kernels& k, Dtype source, Dtype promoted) {
  Path path;
  cast_steps(path, k, source, promoted, false);
  if (promoted != Dtype::boolean || source == promoted) bool_steps(path, k, promoted);
  return path;
}

Path load_path(const Kernels& k, Dtype source, Dtype promoted) {
  Path path;
  const Layer &s = layer_of(source), &p = layer_of(promoted);
  if (source == promoted && fitting_step(k, source, false)) {
    add_step(path, fitting_step(k, source, false), 1);
  } else if (!p.is_narrow) {
    cast_steps(path, k, source, promoted, false);
  } else if (!p.is_complex && !s.is_complex && source != promoted && holds_exactly(promoted, source)) {
    // Rounding to the narrow format would change nothing.
    real_steps(path, k, source, Dtype::float32, false, 1);
  } else {
    cast_steps(path, k, source, promoted, false);
    int multiple = p.is_complex ? 2 : 1;
    add_step(path, k.widen[index(p.narrow)], 4 * multiple, multiple);
  }
  return path;
}

Path store_path(const Kernels& k, Dtype promoted, Dtype dtype) {
  Path path;
  const Layer& layer = layer_of(dtype);
  int multiple = layer.is_complex ? 2 : 1;
  if (layer.is_narrow && saturates(dtype)) add_step(path, k.clamp[index(layer.narrow)], 4);
  if (layer.is_narrow) add_step(path, k.narrow[index(layer.narrow)], item(dtype), multiple);
  // The complement of a bool sets bits above the one it has.
  if (promoted == Dtype::boolean && dtype == Dtype::boolean) add_step(path, k.wrap_uint1, 1);
  return path;
}

Path load_path_in_double(const Kernels& k, Dtype source, Dtype promoted) {
  Path path = load_path(k, source, promoted);
  add_step(path, k.convert[index(Lane::f32)][index(Lane::f64)], sizeof(double));
  return path;
}

Path store_path_from_double(const Kernels& k, Dtype promoted) { return cast_path(k, Dtype::float64, promoted, false); }

}  // namespace suanzi
