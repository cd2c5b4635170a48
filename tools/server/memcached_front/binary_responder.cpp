#include "tools/server/memcached_front/binary_responder.h"

#include <array>
#include <limits>

#include "tools/server/memcached_front/cas_id.h"
#include "tools/server/memcached_front/flush.h"
#include "tools/server/memcached_front/statistics_text.h"
#include "tools/server/memcached_front/stored_value.h"
#include "tools/server/memcached_front/words.h"

namespace falafel::memcached_front {
namespace {

using engine::Answer;
using Opcode = BinaryOpcode;

constexpr std::size_t flags_field_bytes = 4;
constexpr std::size_t expiration_field_bytes = 4;
constexpr std::size_t number_field_bytes = 8;
// An increment with this expiration does not create the key.
constexpr std::uint64_t never_create = std::numeric_limits<std::uint32_t>::max();

// A command, the command that it is a quiet form of, and what a request must have.
struct Form {
  Opcode command{};
  bool is_quiet = false;
  bool has_key = false;
  std::size_t extras_bytes = 0;
};

constexpr std::uint8_t number_of(Opcode opcode) { return static_cast<std::uint8_t>(opcode); }

// The loud commands that have a quiet form, in the order of their quiet ones.
constexpr std::array commands_with_quiet_form{
    Opcode::set,       Opcode::add,  Opcode::replace, Opcode::remove, Opcode::increment,
    Opcode::decrement, Opcode::quit, Opcode::flush,   Opcode::append, Opcode::prepend};
static_assert(number_of(Opcode::set_quietly) + commands_with_quiet_form.size() ==
              number_of(Opcode::prepend_quietly) + 1U);

// Returns nullopt for an opcode that the front does not know.
std::optional<Form> form_of(std::uint8_t opcode) {
  Form form{.command = static_cast<Opcode>(opcode)};
  if (opcode >= number_of(Opcode::set_quietly) && opcode <= number_of(Opcode::prepend_quietly)) {
    form.command = commands_with_quiet_form[opcode - number_of(Opcode::set_quietly)];
    form.is_quiet = true;
  }
  switch (form.command) {
    case Opcode::get_quietly:
    case Opcode::get_with_key_quietly: form.is_quiet = true; [[fallthrough]];
    case Opcode::get:
    case Opcode::get_with_key:
    case Opcode::remove:
    case Opcode::append:
    case Opcode::prepend: form.has_key = true; return form;
    case Opcode::get_and_touch_quietly: form.is_quiet = true; [[fallthrough]];
    case Opcode::get_and_touch:
    case Opcode::touch:
      form.has_key = true;
      form.extras_bytes = expiration_field_bytes;
      return form;
    case Opcode::set:
    case Opcode::add:
    case Opcode::replace:
      form.has_key = true;
      form.extras_bytes = flags_field_bytes + expiration_field_bytes;
      return form;
    case Opcode::increment:
    case Opcode::decrement:
      form.has_key = true;
      form.extras_bytes = 2 * number_field_bytes + expiration_field_bytes;
      return form;
    case Opcode::quit:
    case Opcode::flush:
    case Opcode::no_operation:
    case Opcode::version:
    case Opcode::statistics:
    case Opcode::verbosity: return form;
    default: return std::nullopt;
  }
}

bool is_get(Opcode command) {
  switch (command) {
    case Opcode::get:
    case Opcode::get_quietly:
    case Opcode::get_with_key:
    case Opcode::get_with_key_quietly:
    case Opcode::get_and_touch:
    case Opcode::get_and_touch_quietly: return true;
    default: return false;
  }
}

// A quiet get is silent about misses, and a quiet change about success.
bool is_silent(const Form& form, BinaryStatus status) {
  return form.is_quiet &&
         status == (is_get(form.command) ? BinaryStatus::not_found : BinaryStatus::success);
}

BinaryStatus status_of(Answer answer) {
  switch (answer) {
    case Answer::value_too_large: return BinaryStatus::too_large;
    case Answer::out_of_memory:
    case Answer::table_full: return BinaryStatus::out_of_memory;
    case Answer::not_a_cache: return BinaryStatus::not_supported;
    case Answer::disconnected:
    case Answer::timed_out: return BinaryStatus::temporary_failure;
    default: return BinaryStatus::internal_error;
  }
}

std::optional<std::uint64_t> required_cas(const BinaryRequest& request) {
  return request.cas == 0 ? std::nullopt : std::optional(request.cas);
}

}  // namespace

BinaryResponder::Next BinaryResponder::respond(std::string_view frame, bool may_repeat,
                                               std::string& answers) {
  const BinaryRequest request = parse_binary(frame);
  const auto form = form_of(request.opcode);
  Outcome outcome = refused(BinaryStatus::unknown_command, "Unknown command");
  if (form) {
    const bool has_enough = request.extras.size() >= form->extras_bytes &&
                            (!form->has_key || is_valid_key(request.key));
    outcome = has_enough ? execute(request, number_of(form->command))
                         : refused(BinaryStatus::invalid_arguments, "Invalid arguments");
  }
  if (outcome.refusal == Answer::disconnected && may_repeat) return Next::disconnected;
  if (outcome.refusal) outcome = refused(status_of(*outcome.refusal), to_string(*outcome.refusal));
  const bool is_failure =
      outcome.status != BinaryStatus::success && outcome.status != BinaryStatus::not_found &&
      outcome.status != BinaryStatus::exists && outcome.status != BinaryStatus::not_stored;
  if (is_failure) ++statistics_.refusals;
  const bool ends = form && form->command == Opcode::quit;
  if (form && is_silent(*form, outcome.status)) return ends ? Next::end_connection : Next::go_on;
  if (form && form->command == Opcode::statistics) append_all_statistics(request, answers);
  const bool with_key = request.opcode == number_of(Opcode::get_with_key) ||
                        request.opcode == number_of(Opcode::get_with_key_quietly);
  append_binary(answers, request,
                {.status = outcome.status,
                 .extras = outcome.extras,
                 .key = with_key ? request.key : std::string_view(),
                 .value = outcome.text,
                 .cas = outcome.cas});
  return ends ? Next::end_connection : Next::go_on;
}

BinaryResponder::Outcome BinaryResponder::execute(const BinaryRequest& request,
                                                  std::uint8_t opcode) {
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::get:
    case Opcode::get_quietly:
    case Opcode::get_with_key:
    case Opcode::get_with_key_quietly: return get(request, false);
    case Opcode::get_and_touch:
    case Opcode::get_and_touch_quietly: return get(request, true);
    case Opcode::set: return store(request, StoreMode::set);
    case Opcode::add: return store(request, StoreMode::add);
    case Opcode::replace: return store(request, StoreMode::replace);
    case Opcode::append: return store(request, StoreMode::append);
    case Opcode::prepend: return store(request, StoreMode::prepend);
    case Opcode::increment: return change_number(request, false);
    case Opcode::decrement: return change_number(request, true);
    case Opcode::touch: return touch(request);
    case Opcode::remove: return remove(request);
    case Opcode::flush: return flush(request);
    case Opcode::version: return {.text = std::string(version_of_protocol)};
    default: return {};
  }
}

// Reading

BinaryResponder::Outcome BinaryResponder::get(const BinaryRequest& request, bool touches) {
  Request lookup{.key = request.key};
  if (touches) {
    if (auto problem = apply_expiration(lookup, request.extras)) return *problem;
  }
  Outcome outcome{.status = BinaryStatus::not_found, .text = "Not found"};
  const Answer answer = look_up(storage_, statistics_, lookup, [&](const StoredValue& stored) {
    const FlaggedValue found = decode(stored.bytes);
    outcome = {.text = std::string(found.value), .cas = cas_id_of(stored.bytes)};
    append_number(outcome.extras, found.flags, flags_field_bytes);
  });
  if (answer != Answer::found && answer != Answer::not_found) outcome.refusal = answer;
  return outcome;
}

// Changing

std::optional<BinaryResponder::Outcome> BinaryResponder::apply_expiration(
    Request& request, std::string_view extras) const {
  const auto seconds = static_cast<std::int64_t>(load_number(extras, expiration_field_bytes));
  if (const auto problem = apply_exptime(request, seconds, options_)) {
    return refused(BinaryStatus::not_supported, *problem);
  }
  return std::nullopt;
}

BinaryResponder::Outcome BinaryResponder::outcome_of(const Change& change,
                                                     BinaryStatus not_stored) {
  switch (change.result) {
    case ChangeResult::stored: return {.cas = cas_id_of(change.value)};
    case ChangeResult::not_stored: return refused(not_stored, "Not stored");
    case ChangeResult::exists: return refused(BinaryStatus::exists, "Data exists for key");
    case ChangeResult::not_found: return refused(BinaryStatus::not_found, "Not found");
    case ChangeResult::not_numeric:
      return refused(BinaryStatus::not_numeric, "Non-numeric value for incr or decr");
    case ChangeResult::refused: break;
  }
  return {.refusal = change.answer};
}

// An absent key differs from one whose value has another id, and from one that must be there.
BinaryResponder::Outcome BinaryResponder::store(const BinaryRequest& request, StoreMode mode) {
  Request change{
      .key = request.key, .value = request.value, .mode = mode, .cas = required_cas(request)};
  const bool extends = mode == StoreMode::append || mode == StoreMode::prepend;
  if (!extends) {
    change.flags = static_cast<std::uint32_t>(load_number(request.extras, flags_field_bytes));
    if (auto problem = apply_expiration(change, request.extras.substr(flags_field_bytes))) {
      return *problem;
    }
  }
  const BinaryStatus not_stored = mode == StoreMode::add       ? BinaryStatus::exists
                                  : mode == StoreMode::replace ? BinaryStatus::not_found
                                                               : BinaryStatus::not_stored;
  Outcome outcome = outcome_of(store_value(storage_, change), not_stored);
  if (outcome.status == BinaryStatus::success && !outcome.refusal) ++statistics_.sets;
  return outcome;
}

BinaryResponder::Outcome BinaryResponder::change_number(const BinaryRequest& request,
                                                        bool decrements) {
  Request change{.key = request.key,
                 .arithmetic = {.delta = load_number(request.extras, number_field_bytes),
                                .decrements = decrements},
                 .cas = required_cas(request)};
  const std::string_view expiration = request.extras.substr(2 * number_field_bytes);
  if (load_number(expiration, expiration_field_bytes) != never_create) {
    change.arithmetic.initial =
        load_number(request.extras.substr(number_field_bytes), number_field_bytes);
    if (auto problem = apply_expiration(change, expiration)) return *problem;
  }
  const Change changed = add_to_number(storage_, change);
  Outcome outcome = outcome_of(changed, BinaryStatus::not_stored);
  if (changed.result != ChangeResult::stored) return outcome;
  ++statistics_.sets;
  append_number(outcome.text, to_number<std::uint64_t>(decode(changed.value).value).value(),
                number_field_bytes);
  return outcome;
}

BinaryResponder::Outcome BinaryResponder::touch(const BinaryRequest& request) {
  Request change{.key = request.key};
  if (auto problem = apply_expiration(change, request.extras)) return *problem;
  return outcome_of(memcached_front::touch(storage_, change), BinaryStatus::not_found);
}

BinaryResponder::Outcome BinaryResponder::remove(const BinaryRequest& request) {
  if (request.cas != 0) {
    return refused(BinaryStatus::not_supported, "a delete cannot depend on the value");
  }
  const Answer answer = storage_.remove(request.key);
  if (answer == Answer::deleted) {
    ++statistics_.delete_hits;
    return {};
  }
  if (answer != Answer::not_found) return {.refusal = answer};
  ++statistics_.delete_misses;
  return refused(BinaryStatus::not_found, "Not found");
}

BinaryResponder::Outcome BinaryResponder::flush(const BinaryRequest& request) {
  const bool is_delayed = request.extras.size() >= expiration_field_bytes &&
                          load_number(request.extras, expiration_field_bytes) > 0;
  if (is_delayed) return refused(BinaryStatus::not_supported, "flush with a delay; use 0");
  if (!options_.permits_flush) return refused(BinaryStatus::not_supported, "flush not allowed");
  const Flush flushed = flush_all(storage_);
  if (!flushed.failed) return {};
  if (flushed.has_removed) {
    return refused(BinaryStatus::internal_error, "some values were removed only; repeat it");
  }
  return {.refusal = flushed.failed};
}

// Statistics

// One response for each, and then the empty one that ends them.
void BinaryResponder::append_all_statistics(const BinaryRequest& request,
                                            std::string& answers) const {
  if (!request.key.empty()) return;
  std::string text;
  append_statistics(text, statistics_, version_of_protocol);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find("\r\n");
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    cut_word(line);  // STAT
    const std::string_view name = cut_word(line);
    append_binary(answers, request, {.key = name, .value = line.substr(1)});
  }
}

}  // namespace falafel::memcached_front
