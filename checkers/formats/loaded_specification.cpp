#include "checkers/formats/loaded_specification.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "checkers/formats/loaded_value.h"
#include "checkers/formats/messages.h"
#include "checkers/hash.h"
#include "checkers/specification.h"

namespace falafel::checkers::formats {

namespace {

// The fields of a line that are no arguments.
constexpr std::array<std::string_view, 7> common_fields = {"client", "object",  "operation", "call",
                                                           "return", "outcome", "result"};

// The bytes that a function of the library appends.
class Output : public falafel_output {
 public:
  Output() : falafel_output{append_bytes} {}

  // Call after the function has returned.
  std::string take() {
    if (is_out_of_memory_) throw std::bad_alloc();
    return std::move(bytes_);
  }

 private:
  // No exception may pass the library's functions.
  static void append_bytes(falafel_output* output, const void* bytes, std::size_t count) noexcept {
    auto& self = static_cast<Output&>(*output);
    try {
      self.bytes_.append(static_cast<const char*>(bytes), count);
    } catch (const std::exception&) {
      self.is_out_of_memory_ = true;
    }
  }

  std::string bytes_;
  bool is_out_of_memory_ = false;
};

std::string printable(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return "0x" + text;
}

// The specification whose functions the states and operations name.
struct Loaded {
  struct State {
    const falafel_specification* specification = nullptr;
    std::string bytes{};
    friend bool operator==(const State&, const State&) = default;
  };
  struct Operation {
    const falafel_specification* specification = nullptr;
    std::string name{};
    std::shared_ptr<const LoadedValue> arguments{};
    friend bool operator==(const Operation& left, const Operation& right) {
      return left.name == right.name && left.arguments->text() == right.arguments->text();
    }
  };
  using Result = std::shared_ptr<const LoadedValue>;

  static State initial() { return {}; }  // make_object() asks the library

  static std::uint64_t hash(const State& state) { return hash_of(state.bytes); }

  static falafel_call call_of(const Operation& operation, const Result* result) {
    return {.operation = operation.name.c_str(),
            .arguments = &operation.arguments->root(),
            .result = result != nullptr ? &(*result)->root() : nullptr};
  }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    const falafel_call call = call_of(operation, result);
    Output next;
    const bool is_right =
        operation.specification->apply(state.bytes.data(), state.bytes.size(), &call, &next) != 0;
    state.bytes = next.take();
    return is_right;
  }

  static bool only_reads(const Operation& operation, const Result* result) {
    if (operation.specification->only_reads == nullptr) return false;
    const falafel_call call = call_of(operation, result);
    return operation.specification->only_reads(&call) != 0;
  }

  static std::string describe(const Operation& operation, const Result* result) {
    std::string text;
    const falafel_value& arguments = operation.arguments->root();
    for (std::size_t index = 0; index < arguments.count; ++index) {
      const falafel_value& argument = arguments.elements[index];
      const bool is_only = arguments.count == 1 && std::string_view(argument.name) == "value";
      text += text.empty() ? " " : ", ";
      text += is_only ? argument.json : fmt::format("{} {}", argument.name, argument.json);
    }
    const std::string answer(result != nullptr ? (*result)->text() : "?");
    return fmt::format("{}{} -> {}", operation.name, text, answer);
  }
  static std::string describe(const State& state) {
    if (state.specification->describe == nullptr) return printable(state.bytes);
    Output text;
    state.specification->describe(state.bytes.data(), state.bytes.size(), &text);
    return text.take();
  }
};
static_assert(Specification<Loaded>);

// A specification with the function `part`.
struct LoadedParts : Loaded {
  static std::string partition(const Operation& operation) {
    const falafel_call call = call_of(operation, nullptr);
    Output name;
    operation.specification->part(&call, &name);
    return name.take();
  }
};

template <typename S>
class LoadedObject final : public RecordedObjectOf<S> {
 public:
  LoadedObject(const falafel_specification& specification, std::string initial)
      : RecordedObjectOf<S>({&specification, std::move(initial)}), specification_(specification) {}

  void read_operation(Fields& fields) override {
    std::string name = fields.text("operation");
    this->begin({.specification = &specification_,
                 .name = std::move(name),
                 .arguments = std::make_shared<LoadedValue>(fields.others(common_fields))});
  }

  void read_result(Fields& fields) override {
    this->answer(
        std::make_shared<LoadedValue>(fields.has("result") ? fields.at("result") : json()));
  }

  std::string add(const CallOutline& outline) override {
    if (specification_.refuse != nullptr) {
      const Call<S>& last = this->last();
      const falafel_call call = S::call_of(last.operation, last.answer());
      if (const char* const message = specification_.refuse(&call)) reject(message);
    }
    return RecordedObjectOf<S>::add(outline);
  }

 private:
  const falafel_specification& specification_;
};

}  // namespace

bool is_library_path(const std::string& text) { return text.find('/') != std::string::npos; }

tl::expected<const falafel_specification*, std::string> load_specification(
    const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail("cannot load the specification: {}", ::dlerror());
  void* const symbol = ::dlsym(library, "falafel_user_specification");
  if (symbol == nullptr) {
    return fail("{} does not export the function falafel_user_specification", path);
  }
  const auto function = reinterpret_cast<decltype(&falafel_user_specification)>(symbol);
  const falafel_specification* const specification = function();
  if (specification == nullptr) return fail("{} returns no specification", path);
  if (specification->version != FALAFEL_SPECIFICATION_VERSION) {
    return fail(
        "{} has version {} of the interface, but this program has version {}; compile it "
        "with this version's checkers/specification_library.h",
        path, specification->version, FALAFEL_SPECIFICATION_VERSION);
  }
  if (specification->name == nullptr || *specification->name == '\0') {
    return fail("the specification of {} has no name", path);
  }
  if (specification->initial == nullptr || specification->apply == nullptr) {
    return fail("the specification of {} lacks the function {}", path,
                specification->initial == nullptr ? "initial" : "apply");
  }
  return specification;
}

std::unique_ptr<RecordedObject> make_object(const falafel_specification& specification,
                                            const std::optional<json>& initial) {
  std::optional<LoadedValue> value;
  if (initial) value.emplace(*initial);
  Output state;
  if (specification.initial(value ? &value->root() : nullptr, &state) == 0) {
    if (!initial) {
      reject(fmt::format("the specification {} needs an initial value", specification.name));
    }
    reject(fmt::format("the initial value is {}, which the specification {} refuses",
                       quote_json(*initial), specification.name));
  }
  if (specification.part == nullptr) {
    return std::make_unique<LoadedObject<Loaded>>(specification, state.take());
  }
  return std::make_unique<LoadedObject<LoadedParts>>(specification, state.take());
}

}  // namespace falafel::checkers::formats
