// native/core/function_ref.h: a function that is called while its owner waits.
#pragma once

#include <memory>
#include <type_traits>

namespace suanzi {

template <class Signature>
class FunctionRef;

// Two pointers. Templates that take it compile what they do once, instead of once for each lambda.
template <class R, class... A>
class FunctionRef<R(A...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, A...>)
  FunctionRef(F&& function) noexcept
      : what_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* what, A... args) -> R { return (*static_cast<std::remove_reference_t<F>*>(what))(args...); }) {}
  R operator()(A... args) const { return call_(what_, args...); }

 private:
  void* what_;
  R (*call_)(void*, A...);
};

}  // namespace suanzi
