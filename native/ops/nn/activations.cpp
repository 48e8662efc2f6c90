// native/ops/nn/activations.cpp: activations and their gradients over tensors of one float dtype.
//
// A block of each input is widened in the first-level cache, computed and narrowed once. Expensive functions of one
// 16-bit input are looked up once a table of them pays; see loops/function_tables.h.
#include "kernels/nn/activations.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string_view>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/operands.h"
#include "calls/promoted.h"
#include "kernels/by_level.h"
#include "loops/blocks.h"
#include "loops/function_tables.h"
#include "loops/transposed_inputs.h"

namespace suanzi {

SUANZI_BY_LEVEL(ActivationKernels, activation_kernels)

namespace {

constexpr Cost CHEAP = Cost::cheap, EXPENSIVE = Cost::expensive;
constexpr int most_inputs = 3, most_outputs = 2;

struct Row {
  std::string_view name;
  int inputs, outputs;
  Cost cost;
  int parameters;
  ActivationParameters defaults;
};
template <class... T>
constexpr Row row(const char* name, int inputs, int outputs, Cost cost, T... defaults) {
  return {name, inputs, outputs, cost, sizeof...(T), {defaults...}};
}
constexpr Row rows[] = {
#define ACTIVATION(name, ...) row(#name, __VA_ARGS__),
#include "kernels/nn/activations.def"
#undef ACTIVATION
};

constexpr std::size_t index(Activation kind) { return static_cast<std::size_t>(kind); }

bool are_defaults(std::size_t kind, const ActivationParameters& parameters) {
  return parameters == rows[kind].defaults;
}

// What is known of all arguments of a 16-bit format or a byte; null where that is computed.
const std::byte* known_results(std::size_t kind, std::int64_t size, Dtype dtype,
                               const ActivationParameters& parameters) {
  const ActivationKernels& k = activation_kernels();
  const Layer& layer = layer_of(dtype);
  bool pays = rows[kind].cost == EXPENSIVE || item(dtype) == 1;
  if (!layer.is_narrow || !k.unary[kind] || !pays || size < 2 || !are_defaults(kind, parameters)) return nullptr;
  bool saturates = dtype == Dtype::float8_e4m3fn && float8_saturates();
  std::size_t format = saturates ? saturating_format : static_cast<std::size_t>(layer.narrow);
  return results_for((*k.tables)[kind][format], size, k.unary[kind], Within::float64, dtype);
}

// The inputs and outputs of a loop over blocks.
struct Blocks {
  std::size_t kind;
  const Loop& loop;
  Dtype dtype;
  std::byte* const* out;
  const ActivationParameters& parameters;

  void run() const {
    const Kernels& k = kernels();
    const Row& row = rows[kind];
    // Functions of a narrow dtype are computed in float64, so that they are correctly rounded.
    bool in_double = layer_of(dtype).is_narrow && row.inputs == 1 && row.cost == EXPENSIVE;
    bool is_double = in_double || dtype == Dtype::float64;
    ActivationLoop brief = dtype == Dtype::bfloat16 ? activation_kernels().of_bfloats[kind] : nullptr;
    ActivationLoop loops = brief ? brief : activation_kernels().loops[kind][is_double];
    Unary unary = in_double && are_defaults(kind, parameters) ? activation_kernels().unary[kind] : nullptr;
    auto compute = [&](const void* const* in, void* const* to, std::size_t n, const ActivationParameters& parameters) {
      if (unary) unary(in[0], to[0], n);
      else loops(in, to, n, parameters);
    };
    std::size_t lane = is_double ? 8 : brief ? 2 : 4, block = block_elements(lane);
    Path load, store;
    if (!brief) {
      load = in_double ? load_path_in_double(k, dtype, dtype) : load_path(k, dtype, dtype);
      store = in_double ? store_path_from_double(k, dtype) : store_path(k, dtype, dtype);
    }
    std::optional<Reader> readers[most_inputs];
    std::optional<Writer> writers[most_outputs];
    bool direct = true;
    for (int i = 0; i < row.inputs; ++i) {
      readers[i].emplace(loop, loop.inputs[i], k, load);
      direct &= readers[i]->in_place();
    }
    for (int i = 0; i < row.outputs; ++i) {
      writers[i].emplace(loop, k, store, out[i], dtype);
      direct &= writers[i]->in_place();
    }
    parallel_for(loop.size, row.cost == CHEAP ? grain : 1 << 12, [&](std::int64_t begin, std::int64_t end) {
      const void* in[most_inputs];
      void* to[most_outputs];
      if (direct) {
        for (int i = 0; i < row.inputs; ++i) in[i] = readers[i]->at(begin);
        for (int i = 0; i < row.outputs; ++i) to[i] = writers[i]->at(begin);
        return compute(in, to, static_cast<std::size_t>(end - begin), parameters);
      }
      Buffer read[most_inputs][2], whole[most_inputs], computed[most_outputs][2];
      const std::byte* fixed[most_inputs];
      std::size_t most = std::min(block, static_cast<std::size_t>(end - begin));
      for (int i = 0; i < row.inputs; ++i) fixed[i] = readers[i]->spread(read[i], whole[i], lane, most);
      for (std::int64_t p = begin; p < end;) {
        std::size_t n = std::min(block, static_cast<std::size_t>(end - p));
        for (int i = 0; i < row.inputs; ++i) in[i] = fixed[i] ? fixed[i] : readers[i]->read(p, n, read[i]);
        for (int i = 0; i < row.outputs; ++i) to[i] = writers[i]->target(p, computed[i]);
        compute(in, to, n, parameters);
        for (int i = 0; i < row.outputs; ++i) writers[i]->put(p, n, computed[i]);
        p += static_cast<std::int64_t>(n);
      }
      for (int i = 0; i < row.outputs; ++i) writers[i]->finish();
    });
  }
};

void run(std::size_t kind, const Loop& loop, Dtype dtype, std::byte* const* out,
         const ActivationParameters& parameters) {
  if (const std::byte* results = known_results(kind, loop.size, dtype, parameters))
    return run_lookup(loop, results, out[0]);
  Blocks{kind, loop, dtype, out, parameters}.run();
}

// Null and an exception where there is no memory; null alone where the shapes do not go together.
PyObject* compute(std::size_t kind, const Operand* operands, const ActivationParameters& parameters) {
  const Row& row = rows[kind];
  Dtype dtype = operands[0].dtype;
  Together together(operands, row.inputs);
  if (!together.fits()) return nullptr;
  nb::object made[most_outputs];
  std::byte* out[most_outputs];
  for (int i = 0; i < row.outputs; ++i) {
    PyObject* output = together.new_output(dtype);
    if (!output) return nullptr;
    made[i] = nb::steal(output);
    out[i] = tensor_of(output)->data();
  }
  Loop loop;
  together.make_loop(loop);
  run_loop(loop.size, operands, row.inputs, [&] {
    if (!CopiedInputs::is_needed(loop)) return run(kind, loop, dtype, out, parameters);
    CopiedInputs copied(loop);
    run(kind, copied.loop(), dtype, out, parameters);
  });
  if (row.outputs == 1) return made[0].release().ptr();
  return nb::make_tuple(made[0], made[1]).release().ptr();
}

// ---- the fast path -------------------------------------------------------------------------------

// Which activation is meant: of gelu and geglu, the one by tanh has another name here.
bool read_approximate(PyObject* given, std::size_t& kind) {
  if (!PyUnicode_CheckExact(given)) return false;
  if (PyUnicode_CompareWithASCIIString(given, "none") == 0) return true;
  if (PyUnicode_CompareWithASCIIString(given, "tanh") != 0) return false;
  std::string_view name = rows[kind].name;
  std::string wanted(name.substr(0, name.find('_')));
  wanted += name.find('_') == name.npos ? "_tanh" : "_tanh_bwd";
  while (rows[kind].name != wanted) ++kind;  // those by tanh come after
  return true;
}

// What comes after the tensors: a number each, where any will do, or `approximate`.
bool read_parameters(PyObject* const* args, Py_ssize_t count, std::size_t& kind, ActivationParameters& parameters) {
  std::string_view name = rows[kind].name;
  if (name.substr(0, 4) == "gelu" || name.substr(0, 5) == "geglu") return count == 1 && read_approximate(args[0], kind);
  bool any_number = name.substr(0, 10) == "leaky_relu" || name.substr(0, 3) == "elu";
  if (!any_number || count != 1 || !PyFloat_CheckExact(args[0])) return false;
  parameters[0] = PyFloat_AS_DOUBLE(args[0]);
  return true;
}

template <std::size_t first>
PyObject* fast(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static const std::string key = "nn:" + std::string(rows[first].name);
  static Promoted promoted{key.c_str()};
  std::size_t kind = first;
  constexpr int inputs = rows[first].inputs;
  Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  if (count < inputs || named > 1) return nullptr;
  if (named && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "approximate")) return nullptr;
  ActivationParameters parameters = rows[kind].defaults;
  if (count + named > inputs && !read_parameters(args + inputs, count + named - inputs, kind, parameters))
    return nullptr;
  Operand operands[most_inputs];
  for (int i = 0; i < inputs; ++i) {
    const Tensor* t = read_tensor(args[i]);
    if (!t || !facts(t->dtype).is_float() || !promoted.keeps_dtype(args[0], args[i]) ||
        !read_operand(args[i], operands[i]))
      return nullptr;
    if (i && (t->ndim() != operands[0].ndim() || !std::equal(t->dims(), t->dims() + t->ndim(), operands[0].dims())))
      return nullptr;
  }
  return or_python(compute(kind, operands, parameters));
}

// Those whose tensors are the operator's.
constexpr bool has_fast_path(std::string_view name) {
  return name != "dropout" && name.substr(0, 5) != "prelu" && name.substr(0, 3) != "glu" &&
         name.find("_tanh") == name.npos;
}

template <std::size_t... kinds>
void add_fast_paths(std::index_sequence<kinds...>) {
  auto add = []<std::size_t kind>() {
    if constexpr (has_fast_path(rows[kind].name)) add_fast_path<fast<kind>>(rows[kind].name.data());
  };
  (add.template operator()<kinds>(), ...);
}

nb::object activation(const std::string& name, const std::vector<nb::handle>& tensors,
                      const std::vector<double>& parameters) {
  std::size_t kind = 0;
  while (kind < activation_count && rows[kind].name != name) ++kind;
  if (kind == activation_count || static_cast<std::size_t>(rows[kind].inputs) != tensors.size() ||
      static_cast<std::size_t>(rows[kind].parameters) != parameters.size())
    throw nb::value_error("no such activation, or not of so many tensors and parameters");
  Operand operands[most_inputs];
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (!read_tensor(tensors[i].ptr()) || !read_operand(tensors[i].ptr(), operands[i]) ||
        !facts(operands[i].dtype).is_float() || operands[i].dtype != operands[0].dtype)
      throw nb::value_error("not tensors of one float dtype");
  ActivationParameters given = {};
  std::copy(parameters.begin(), parameters.end(), given.begin());
  PyObject* made = compute(kind, operands, given);
  if (!made && !PyErr_Occurred()) throw nb::value_error("shapes that do not go together");
  return raise_or(made);
}

}  // namespace

void init_nn_activations(nb::module_& m) {
  add_fast_paths(std::make_index_sequence<activation_count>{});
  define(m, "def nn_activation(name: str, tensors: Sequence[Tensor], parameters: Sequence[float]) -> Any",
         "An activation or its gradient, by its name in kernels/nn_activations.def: a tensor, or a tuple of two.",
         activation);
}

}  // namespace suanzi
