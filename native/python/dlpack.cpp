// native/python/dlpack.cpp: memory shared with other libraries by the DLPack protocol, without copying.
#include <algorithm>
#include <cstring>
#include <new>

#include "core/without_gil.h"
#include "loops/conversions.h"

namespace suanzi {
namespace {

// ---- the structures of DLPack 1.x, as its header lays them out ---------------------------------

struct DLDevice {
  std::int32_t device_type, device_id;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};
struct DLPackVersion {
  std::uint32_t major, minor;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

constexpr std::int32_t cpu = 1;
constexpr std::uint64_t read_only_flag = 1;
constexpr char plain_name[] = "dltensor", plain_used[] = "used_dltensor";
constexpr char versioned_name[] = "dltensor_versioned", versioned_used[] = "used_dltensor_versioned";

// DLPack's code of a dtype, or -1. It packs int4, uint4 and uint1, and ours take a byte each.
int code_of(Dtype dtype) {
  if (dtype == Dtype::bfloat16) return 4;
  if (dtype == Dtype::float8_e4m3fn) return 10;
  if (dtype == Dtype::float8_e5m2) return 12;
  const DtypeInfo& info = facts(dtype);
  static constexpr int codes[] = {6, 0, 1, 2, 5, -1, -1};  // in the order of Kind
  return info.is_integer() && info.bits < 8 ? -1 : codes[static_cast<int>(info.kind)];
}

bool to_dlpack(Dtype dtype, DLDataType& out) {
  out = {static_cast<std::uint8_t>(code_of(dtype)), facts(dtype).bits, 1};
  return code_of(dtype) >= 0;
}

bool from_dlpack(DLDataType type, Dtype& out) {
  for (const DtypeInfo& info : dtype_table) {
    out = dtype_of(info);
    if (code_of(out) == type.code && info.bits == type.bits && type.lanes == 1) return true;
  }
  return false;
}

[[noreturn]] void fail(const char* message) {
  PyErr_SetString(PyExc_BufferError, message);
  throw nb::python_error();
}

// ---- giving -----------------------------------------------------------------------------------

// What a capsule of ours points to: the structure, and the storage it keeps.
template <class Managed>
struct Given {
  Managed managed;
  Storage* storage;
  std::int64_t extents[2 * max_ndim];
};

template <class Managed>
void delete_given(Managed* managed) {
  auto* given = static_cast<Given<Managed>*>(managed->manager_ctx);
  release_storage(given->storage);
  delete given;
}

template <class Managed>
void delete_capsule(PyObject* capsule) {
  const char* name = sizeof(Managed) == sizeof(DLManagedTensor) ? plain_name : versioned_name;
  if (!PyCapsule_IsValid(capsule, name)) return;  // somebody took it
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

template <class Managed>
nb::object give(const Tensor& t, DLDataType type) {
  auto* given = new Given<Managed>{};
  t.storage->retain();
  given->storage = t.storage;
  given->managed.manager_ctx = given;
  given->managed.deleter = delete_given<Managed>;
  std::copy(t.dims(), t.dims() + t.ndim(), given->extents);
  std::copy(t.strides(), t.strides() + t.ndim(), given->extents + t.ndim());
  given->managed.dl_tensor = {t.data(), {cpu, 0}, t.ndim(), type, given->extents, given->extents + t.ndim(), 0};
  const char* name = plain_name;
  if constexpr (sizeof(Managed) != sizeof(DLManagedTensor)) {
    given->managed.version = {1, 0};
    given->managed.flags = t.storage->read_only ? read_only_flag : 0;
    name = versioned_name;
  }
  PyObject* capsule = PyCapsule_New(&given->managed, name, delete_capsule<Managed>);
  if (!capsule) {
    delete_given(&given->managed);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

nb::object dlpack_capsule(nb::handle object, bool versioned) {
  const Tensor* t = tensor_of(object.ptr());
  if (!t || !t->storage) throw nb::type_error("not a Tensor");
  DLDataType type;
  if (!to_dlpack(t->dtype, type)) fail("DLPack has no type for this dtype");
  if (t->storage->read_only && !versioned)
    fail("the memory is read-only, which this version of DLPack cannot express; ask for version 1 or later");
  return versioned ? give<DLManagedTensorVersioned>(*t, type) : give<DLManagedTensor>(*t, type);
}

// ---- taking -----------------------------------------------------------------------------------

template <class Managed>
void release_taken(void* managed) {
  auto* taken = static_cast<Managed*>(managed);
  // The other library may want Python's lock, and the last tensor may be dropped without it.
  if (taken->deleter)
    run_with_gil([](void* held) { static_cast<Managed*>(held)->deleter(static_cast<Managed*>(held)); }, taken);
}

constexpr std::int64_t largest_stride = std::int64_t{1} << 56;

template <class Managed>
nb::object take(Managed* managed, bool read_only, PyObject* capsule, const char* used) {
  const DLTensor& d = managed->dl_tensor;
  if (d.device.device_type != cpu) fail("the memory is on another device; copy it to the CPU first");
  Dtype dtype;
  if (!from_dlpack(d.dtype, dtype)) fail("suanzi has no dtype for the elements");
  if (d.ndim < 0 || d.ndim > max_ndim) fail("a tensor has at most 64 axes");
  std::int64_t strides[max_ndim], count, low = 0, high = 0;
  if (!element_count(d.ndim, d.shape, count)) fail("the shape has a negative size, or too many elements");
  if (d.strides) std::copy(d.strides, d.strides + d.ndim, strides);
  else row_major_strides(d.ndim, d.shape, strides);
  for (int i = 0; i < d.ndim && count > 0; ++i) {
    std::int64_t span, &end = strides[i] < 0 ? low : high;
    if (__builtin_mul_overflow(d.shape[i] - 1, strides[i], &span) || __builtin_add_overflow(end, span, &end))
      fail("the strides reach outside the address space");
  }
  // The extent is counted in elements and in bytes; both have to fit.
  std::int64_t extent, bytes;
  if (__builtin_sub_overflow(high, low, &extent) || __builtin_add_overflow(extent, 1, &extent) ||
      __builtin_mul_overflow(extent, static_cast<std::int64_t>(facts(dtype).itemsize), &bytes))
    fail("the strides reach outside the address space");
  if (count > 0 && !d.data) fail("its data pointer is NULL although it has elements");
  // Nobody goes along an axis of one element, whose stride may be anything; in bytes it could be too large.
  for (int i = 0; i < d.ndim; ++i)
    if (count == 0 || d.shape[i] == 1) strides[i] = std::clamp(strides[i], -largest_stride, largest_stride);
  // Negative strides reach below the pointer; the storage begins at the lowest element.
  auto item = static_cast<std::int64_t>(facts(dtype).itemsize);
  auto* data = static_cast<std::byte*>(d.data) + d.byte_offset + low * item;
  // Complex numbers are read by their parts.
  auto whole = facts(part_of(dtype)).itemsize;
  if (count > 0 && reinterpret_cast<std::uintptr_t>(data) % whole != 0)
    fail("the memory is not aligned to its elements; copy it, for example with sz.tensor");
  Storage* storage = adopt_storage(dtype, count > 0 ? extent : 0, data, read_only, release_taken<Managed>, managed);
  if (!storage) throw std::bad_alloc();
  PyCapsule_SetName(capsule, used);  // from here on the storage lets go of the memory
  PyObject* made = new_tensor(storage, count > 0 ? -low : 0, d.ndim, d.shape, strides);
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

nb::object take_capsule(nb::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), versioned_name)) {
    auto* managed = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), versioned_name));
    if (managed->version.major != 1) fail("this version of DLPack is not supported");
    return take(managed, (managed->flags & read_only_flag) != 0, capsule.ptr(), versioned_used);
  }
  if (PyCapsule_IsValid(capsule.ptr(), plain_name)) {
    auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), plain_name));
    return take(managed, false, capsule.ptr(), plain_used);
  }
  fail("not a DLPack capsule, or one that was used already");
}

}  // namespace

void init_dlpack(nb::module_& m) {
  using namespace nb::literals;
  define(m, "def dlpack_capsule(tensor: Any, versioned: bool) -> object",
         "The memory of a tensor, for another library.", dlpack_capsule);
  m.def("take_capsule", &take_capsule, "capsule"_a.none(), nb::sig("def take_capsule(capsule: object) -> Tensor"),
        "A tensor over the memory of another library.");
}

}  // namespace suanzi
