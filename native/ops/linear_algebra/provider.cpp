// native/ops/linear_algebra/provider.cpp: 7.2.17: loads BLAS and LAPACK, from capsules of SciPy's or from a file.
#include "ops/linear_algebra/provider.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <memory>

#include "core/threads.h"

namespace suanzi {
namespace {

constexpr const char* letters[4] = {"s", "d", "c", "z"};

// What a routine is called for real and for complex numbers, in the order of Lapack.
struct Names {
  const char *real, *complex;
};
constexpr Names lapack_names[] = {{"getrf", "getrf"}, {"getrs", "getrs"}, {"getri", "getri"}, {"potrf", "potrf"},
                                  {"geqrf", "geqrf"}, {"orgqr", "ungqr"}, {"ormqr", "unmqr"}, {"trtrs", "trtrs"},
                                  {"trcon", "trcon"}, {"gesdd", "gesdd"}, {"geev", "geev"},   {"syevd", "heevd"}};
static_assert(sizeof lapack_names / sizeof *lapack_names == lapack_count);

std::atomic<Provider*> active{nullptr};
bool was_asked = false;
std::vector<std::unique_ptr<Provider>> all;

Provider* find(const std::string& name) {
  for (auto& one : all)
    if (one->name == name) return one.get();
  return nullptr;
}

// Fills a provider with what get(name) gives, null where there is nothing.
template <class Get>
std::unique_ptr<Provider> filled(const std::string& name, Get&& get) {
  auto made = std::make_unique<Provider>();
  made->name = name;
  made->has_blas = made->has_lapack = true;
  for (std::size_t type = 0; type < 4; ++type) {
    made->gemm[type] = get(std::string(letters[type]) + "gemm", true);
    made->has_blas &= made->gemm[type] != nullptr;
    for (std::size_t i = 0; i < lapack_count; ++i) {
      const char* routine = type < 2 ? lapack_names[i].real : lapack_names[i].complex;
      made->lapack[i][type] = get(letters[type] + std::string(routine), false);
      made->has_lapack &= made->lapack[i][type] != nullptr;
    }
  }
  return made;
}

// A capsule's name is the signature; one that has other integers is not ours.
void* function_in(nb::handle capsule) {
  const char* name = PyCapsule_CheckExact(capsule.ptr()) ? PyCapsule_GetName(capsule.ptr()) : nullptr;
  if (!name || std::strncmp(name, "void (", 6) != 0 || !std::strstr(name, "int *") || std::strstr(name, "long"))
    return nullptr;
  return PyCapsule_GetPointer(capsule.ptr(), name);
}

void use(std::unique_ptr<Provider> made) {
  active.store(made.get(), std::memory_order_release);
  all.push_back(std::move(made));
}

// Uses one that was loaded before.
bool use_again(const char* name) {
  Provider* found = find(name);
  if (found) active.store(found, std::memory_order_release);
  return found != nullptr;
}

void use_capsules(const char* name, nb::dict blas, nb::dict lapack, nb::object limit, nb::object addresses) {
  auto made = filled(name, [&](const std::string& function, bool of_blas) -> void* {
    nb::dict& functions = of_blas ? blas : lapack;
    return functions.contains(function.c_str()) ? function_in(functions[function.c_str()]) : nullptr;
  });
  if (!addresses.is_none()) {
    made->get_threads = reinterpret_cast<int (*)()>(nb::cast<std::uintptr_t>(addresses[0]));
    made->set_threads = reinterpret_cast<void (*)(int)>(nb::cast<std::uintptr_t>(addresses[1]));
  } else if (!limit.is_none()) {
    made->limit = limit.release().ptr();
  }
  use(std::move(made));
}

// Has a library choose its parts: each function takes a number, and answers with the one that holds from now on.
void prepare(void* file, const std::string& path, nb::handle choices) {
  for (nb::handle choice : choices) {
    const char* function = nb::cast<const char*>(choice[0]);
    int wanted = nb::cast<int>(choice[1]);
    auto choose = reinterpret_cast<int (*)(int)>(dlsym(file, function));
    if (!choose) throw nb::import_error((path + " has no " + function).c_str());
    int found = choose(wanted);
    if (found == wanted) continue;
    std::string said = std::string(function) + "(" + std::to_string(wanted) + ") answers " + std::to_string(found);
    throw nb::import_error((path + ": " + said + ", so another package uses it otherwise already").c_str());
  }
}

void use_file(const char* name, const char* path, const char* prefix, const char* suffix, const char* get_threads,
              const char* set_threads, nb::tuple choices) {
  // Local: SciPy's OpenBLAS has the same names.
  void* file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!file) throw nb::import_error(dlerror());
  prepare(file, path, choices);
  auto made = filled(
      name, [&](const std::string& function, bool) { return dlsym(file, (prefix + function + suffix).c_str()); });
  made->get_threads = reinterpret_cast<int (*)()>(dlsym(file, get_threads));
  made->set_threads = reinterpret_cast<void (*)(int)>(dlsym(file, set_threads));
  if (!made->has_blas || !made->has_lapack || !made->get_threads || !made->set_threads)
    throw nb::import_error((std::string(path) + " lacks functions of BLAS or LAPACK").c_str());
  made->library = Library::own;
  use(std::move(made));
}

}  // namespace

Provider* provider() {
  Provider* found = active.load(std::memory_order_acquire);
  if (found || was_asked) return found;
  try {
    nb::module_::import_("suanzi.ops.libraries.providers").attr("load")();
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_MemoryError) || (error.matches(PyExc_ImportError) && memory_is_limited()))
      return nullptr;                                     // this time
    error.discard_as_unraisable("loading BLAS, LAPACK");  // our own kernels are slower, but there
  }
  was_asked = true;  // only now: another thread that asks meanwhile must find it, too
  return active.load(std::memory_order_acquire);
}

const Provider& loaded_provider() noexcept { return *active.load(std::memory_order_acquire); }

void Provider::use_threads() {
  if (library == Library::own && running == 0 && get_threads() != thread_count()) set_threads(thread_count());
}

void init_provider(nb::module_& m) {
  using namespace nb::literals;
  define(m, "def provider() -> str | None", "The name of what BLAS and LAPACK come from; None before they are loaded.",
         [] {
           Provider* found = active.load(std::memory_order_acquire);
           return found ? nb::object(nb::str(found->name.c_str())) : nb::none();
         });
  m.def("use_provider_again", &use_again, "name"_a, "Whether a provider was loaded before; then it is in use.");
  m.def("use_capsules", &use_capsules, "name"_a, "blas"_a, "lapack"_a, "limit"_a.none(), "addresses"_a.none(),
        nb::sig("def use_capsules(name: str, blas: Mapping[str, object], lapack: Mapping[str, object], "
                "limit: Callable[[bool], None] | None, addresses: tuple[int, int] | None) -> None"),
        "Takes BLAS and LAPACK from capsules by name.");
  define(m,
         "def use_file(name: str, path: str, prefix: str, suffix: str, get_threads: str, set_threads: str, "
         "choices: tuple[tuple[str, int], ...] = ()) -> None",
         "Takes BLAS and LAPACK from a shared library, whose functions have a prefix and a suffix, after functions of "
         "its have been called with a number each.",
         use_file, nb::tuple());
}

}  // namespace suanzi
