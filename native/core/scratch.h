// native/core/scratch.h: memory that is only needed on the way.
#pragma once

#include "core/storage.h"

namespace suanzi {

// Memory for a while, from the pool; its data is null if there is none, also where as much cannot be counted.
class Scratch {
 public:
  Scratch() = default;
  Scratch(Dtype dtype, std::int64_t count) noexcept { take(dtype, count); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { give_back(); }

  std::byte* take(Dtype dtype, std::int64_t count) noexcept {
    give_back();
    storage_ = allocate_storage(dtype, count);
    return data();
  }
  std::byte* data() const noexcept { return storage_ ? storage_->data : nullptr; }

 private:
  void give_back() noexcept {
    if (storage_) release_storage(storage_);
  }

  Storage* storage_ = nullptr;
};

}  // namespace suanzi
