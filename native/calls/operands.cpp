// native/calls/operands.cpp: reading arguments, broadcasting them, and the order of the output.
#include "calls/operands.h"

#include <algorithm>
#include <cstring>

namespace suanzi {
namespace {

template <class T>
void set_number(Operand& operand, Dtype dtype, T value) {
  operand.dtype = dtype;
  std::memcpy(operand.number, &value, sizeof value);
}

}  // namespace

bool read_operand(PyObject* object, Operand& operand) {
  if (const Tensor* t = tensor_of(object)) {
    operand.tensor = t;
    operand.dtype = t->dtype;
    return t->storage != nullptr;
  }
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyFloat_Type) {
    set_number(operand, Dtype::float64, PyFloat_AS_DOUBLE(object));
  } else if (type == &PyLong_Type) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow < 0) return false;
    if (overflow > 0) {
      unsigned long long large = PyLong_AsUnsignedLongLong(object);
      if (PyErr_Occurred()) {
        PyErr_Clear();
        return false;
      }
      set_number(operand, Dtype::uint64, static_cast<std::uint64_t>(large));
    } else {
      set_number(operand, Dtype::int64, static_cast<std::int64_t>(value));
    }
  } else if (type == &PyBool_Type) {
    set_number(operand, Dtype::boolean, static_cast<std::uint8_t>(object == Py_True));
  } else if (type == &PyComplex_Type) {
    Py_complex value = PyComplex_AsCComplex(object);
    double parts[2] = {value.real, value.imag};
    operand.dtype = Dtype::complex128;
    std::memcpy(operand.number, parts, sizeof parts);
  } else {
    return false;
  }
  return true;
}

bool broadcast_move(const Tensor& target, const Operand& source, Move& move) {
  int skipped = target.ndim() - source.ndim();
  move.ndim = target.ndim();
  move.to = target.data();
  move.from = source.data();
  move.to_dtype = target.dtype;
  move.from_dtype = source.dtype;
  auto to_item = static_cast<std::int64_t>(target.itemsize());
  auto from_item = std::int64_t{1} << layer_of(source.dtype).log2_size;
  for (int d = 0; d < source.ndim() && skipped < 0; ++d)  // more axes are allowed if they are 1
    if (d < -skipped && source.dims()[d] != 1) return false;
  // Where nothing is stepped along, a stride may be anything, and bytes of it more than fit.
  auto bytes = [&](std::int64_t n, std::int64_t stride, std::int64_t item) {
    return n > 1 && target.size > 0 ? stride * item : 0;
  };
  for (int d = 0; d < target.ndim(); ++d) {
    move.dims[d] = target.dims()[d];
    move.to_strides[d] = bytes(move.dims[d], target.strides()[d], to_item);
    bool repeats = d < skipped || source.dims()[d - skipped] == 1;
    if (!repeats && source.dims()[d - skipped] != move.dims[d]) return false;
    move.from_strides[d] = repeats ? 0 : bytes(move.dims[d], source.tensor->strides()[d - skipped], from_item);
  }
  return true;
}

std::size_t operand_code(PyObject* object, const Operand& operand, const RuleTable& table) {
  if (operand.tensor) {
    std::size_t code = static_cast<std::size_t>(operand.dtype);
    return operand.tensor->ndim() == 0 ? RuleTable::zero_dim_base + code : code;
  }
  switch (operand.dtype) {
    case Dtype::boolean: return RuleTable::number_base;
    case Dtype::float64: return RuleTable::number_base + 2;
    case Dtype::complex128: return RuleTable::number_base + 3;
    default: break;
  }
  if (table.checks_integers()) {
    long value = operand.dtype == Dtype::int64 ? PyLong_AsLong(object) : -1;
    if (value < 0 || value > 1) return RuleTable::operand_count;  // which uint1 does not hold
  }
  return RuleTable::number_base + 1;
}

// Whether a dtype holds a Python int, which read_operand has put into 64 bits; a float does, rounded.
bool holds(Dtype dtype, const Operand& number) {
  const DtypeInfo& info = facts(dtype);
  if (!info.is_integer()) return info.is_inexact();
  std::int64_t value;
  std::memcpy(&value, number.number, sizeof value);
  bool beyond = number.dtype == Dtype::uint64 && value < 0;  // of 63 bits
  int bits = info.kind == Kind::Int ? info.bits - 1 : info.bits;
  if (beyond) return bits == 64;
  if (info.kind == Kind::UInt && value < 0) return false;
  return bits >= 63 || (value >> bits) == (value < 0 ? -1 : 0);
}

// ---- shapes -----------------------------------------------------------------------------------

Together::Together(const Operand* operands, int count) noexcept : operands_(operands), count_(count) {
  if (are_contiguous()) return;
  shape_ = own_shape_;
  contiguous_ = false;
  fits_ = broadcast();
  if (fits_) choose_order();
}

// The common case: nothing is to be found out about axes.
bool Together::are_contiguous() noexcept {
  const Tensor* first = nullptr;
  for (int i = 0; i < count_; ++i) {
    const Tensor* t = operands_[i].tensor;
    if (!t || t->ndim() == 0) continue;
    if (!t->row_major) return false;
    if (!first) first = t;
    else if (t->ndim() != first->ndim() || !std::equal(t->dims(), t->dims() + t->ndim(), first->dims())) return false;
  }
  ndim_ = first ? first->ndim() : 0;
  shape_ = first ? first->dims() : own_shape_;
  size_ = first ? first->size : 1;
  return true;
}

bool Together::broadcast() noexcept {
  ndim_ = 0;
  for (int i = 0; i < count_; ++i) ndim_ = std::max(ndim_, operands_[i].ndim());
  std::fill(own_shape_, own_shape_ + ndim_, 1);
  for (int i = 0; i < count_; ++i) {
    int skipped = ndim_ - operands_[i].ndim();
    for (int d = 0; d < operands_[i].ndim(); ++d) {
      std::int64_t size = operands_[i].dims()[d], &out = own_shape_[skipped + d];
      if (size == out || size == 1) continue;
      if (out != 1) return false;
      out = size;
    }
  }
  return true;
}

void Together::choose_order() noexcept {
  for (int d = 0; d < ndim_; ++d) order_[d] = d;
  for (int i = 0; i < count_; ++i) {
    const Tensor* t = operands_[i].tensor;
    if (!t || t->ndim() != ndim_ || !std::equal(shape_, shape_ + ndim_, t->dims())) continue;
    if (t->row_major) return;
    for (int d = 0; d < ndim_; ++d)
      if (t->strides()[d] <= 0 && shape_[d] != 1) return;
    std::stable_sort(order_, order_ + ndim_, [&](int a, int b) { return t->strides()[a] > t->strides()[b]; });
    plain_ = std::is_sorted(order_, order_ + ndim_);
    return;
  }
}

void Together::use_row_major() noexcept {
  plain_ = true;
  for (int d = 0; d < ndim_; ++d) order_[d] = d;
}

PyObject* Together::new_output(Dtype dtype) const {
  if (plain_) return new_dense_tensor(dtype, ndim_, shape_);
  std::int64_t strides[max_ndim], stride = 1, count;
  Storage* storage = element_count(ndim_, shape_, count) ? allocate_storage(dtype, count) : nullptr;
  if (!storage) return new_dense_tensor(dtype, ndim_, shape_);  // which reports it
  for (int d = ndim_; d-- > 0;) {
    strides[order_[d]] = stride;
    stride *= std::max<std::int64_t>(shape_[order_[d]], 1);
  }
  return new_tensor(storage, 0, ndim_, shape_, strides);
}

void Together::make_loop(Loop& loop) const noexcept {
  if (contiguous_) {
    loop.start(size_ == 1 ? 0 : 1, &size_);
    for (int i = 0; i < count_; ++i) {
      const Operand& operand = operands_[i];
      std::int64_t stride = operand.ndim() ? std::int64_t{1} << layer_of(operand.dtype).log2_size : 0;
      loop.add(operand.data(), operand.dtype, &stride);
    }
    return;
  }
  std::int64_t dims[max_ndim];
  for (int d = 0; d < ndim_; ++d) {
    dims[d] = shape_[order_[d]];
    if (dims[d] != 0) continue;
    // Nothing to do: products of the other dims and strides, which may overflow, are not needed.
    const std::int64_t nothing = 0;
    loop.start(1, &nothing);
    for (int i = 0; i < count_; ++i) loop.add(operands_[i].data(), operands_[i].dtype, &nothing);
    return;
  }
  loop.start(ndim_, dims);
  for (int i = 0; i < count_; ++i) {
    std::int64_t strides[max_ndim];
    const Operand& operand = operands_[i];
    std::int64_t item = std::int64_t{1} << layer_of(operand.dtype).log2_size;
    for (int d = 0; d < ndim_; ++d) {
      int axis = order_[d] - (ndim_ - operand.ndim());
      bool steps = operand.tensor && axis >= 0 && operand.dims()[axis] != 1;
      strides[d] = steps ? operand.tensor->strides()[axis] * item : 0;
    }
    loop.add(operand.data(), operand.dtype, strides);
  }
  loop.collapse();
}

}  // namespace suanzi
