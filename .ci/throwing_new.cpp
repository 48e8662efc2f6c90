// What .ci/sanitize puts before AddressSanitizer, whose own `new` ends the process where memory runs out: this
// one throws, as any other does. The memory is malloc's, and watched as before.
#include <cstdlib>
#include <new>

using std::align_val_t, std::nothrow_t, std::size_t;

void* operator new(size_t size, const nothrow_t&) noexcept { return std::malloc(size ? size : 1); }
void* operator new(size_t size, align_val_t align, const nothrow_t&) noexcept {
  void* found = nullptr;
  return posix_memalign(&found, static_cast<size_t>(align), size ? size : 1) ? nullptr : found;
}
void* operator new(size_t size) {
  if (void* found = operator new(size, std::nothrow)) return found;
  throw std::bad_alloc();
}
void* operator new(size_t size, align_val_t align) {
  if (void* found = operator new(size, align, std::nothrow)) return found;
  throw std::bad_alloc();
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new[](size_t size, align_val_t align) { return operator new(size, align); }
void* operator new[](size_t size, const nothrow_t& none) noexcept { return operator new(size, none); }
void* operator new[](size_t size, align_val_t align, const nothrow_t& none) noexcept {
  return operator new(size, align, none);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, align_val_t) noexcept { std::free(memory); }
