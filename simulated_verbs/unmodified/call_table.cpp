// This file includes no header that declares the functions of the table, because some of them are
// macros there. They are called with words as arguments, as the program has called them.
#include "simulated_verbs/unmodified/call_table.h"

#include <algorithm>
#include <array>
#include <cerrno>

#define FALAFEL_DECLARE(name, function, ...) extern "C" void function();
FALAFEL_VERBS_CALLS(FALAFEL_DECLARE)
FALAFEL_TEXT_CALLS(FALAFEL_DECLARE)
FALAFEL_CONNECTION_CALLS(FALAFEL_DECLARE)
FALAFEL_CONNECTION_TEXT_CALLS(FALAFEL_DECLARE)
FALAFEL_OPERATION_CALLS(FALAFEL_DECLARE)
FALAFEL_LIBRARY_CALLS(FALAFEL_DECLARE)
FALAFEL_DESCRIPTOR_CALLS(FALAFEL_DECLARE)
FALAFEL_LOCK_CALLS(FALAFEL_DECLARE)
FALAFEL_OTHER_CALLS(FALAFEL_DECLARE)
#undef FALAFEL_DECLARE
// Members of structs have no names of their own, so these are called as the program calls them.
#define FALAFEL_DECLARE(name, ...) extern "C" void name();
FALAFEL_QUEUE_CALLS(FALAFEL_DECLARE)
FALAFEL_BATCH_CALLS(FALAFEL_DECLARE)
#undef FALAFEL_DECLARE

namespace falafel::simulated_verbs {

namespace {

using Function = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                   std::uint64_t, std::uint64_t);

Function function_of(CallNumber call) {
#define FALAFEL_ENTRY(name, function, ...) reinterpret_cast<Function>(&::function),
#define FALAFEL_MEMBER(name, ...) reinterpret_cast<Function>(&::name),
  // clang limits how many arguments std::array deduces its size from.
  static const auto functions = std::to_array<Function>(
      {FALAFEL_VERBS_CALLS(FALAFEL_ENTRY) FALAFEL_TEXT_CALLS(FALAFEL_ENTRY)
           FALAFEL_CONNECTION_CALLS(FALAFEL_ENTRY) FALAFEL_CONNECTION_TEXT_CALLS(FALAFEL_ENTRY)
               FALAFEL_OPERATION_CALLS(FALAFEL_ENTRY) FALAFEL_QUEUE_CALLS(FALAFEL_MEMBER)
                   FALAFEL_BATCH_CALLS(FALAFEL_MEMBER) FALAFEL_LIBRARY_CALLS(FALAFEL_ENTRY)
                       FALAFEL_DESCRIPTOR_CALLS(FALAFEL_ENTRY) FALAFEL_LOCK_CALLS(FALAFEL_ENTRY)
                           FALAFEL_OTHER_CALLS(FALAFEL_ENTRY)});
#undef FALAFEL_MEMBER
#undef FALAFEL_ENTRY
  return functions.at(static_cast<std::size_t>(call));
}

}  // namespace

void carry_out(Mailbox& mailbox) {
  const Function function = function_of(mailbox.call);
  const auto& arguments = mailbox.arguments;
  errno = mailbox.error;
  mailbox.result =
      function(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  mailbox.error = errno;
}

bool gives_text(CallNumber call) {
#define FALAFEL_NUMBER(name, function) CallNumber::of_##name,
  constexpr std::array calls{FALAFEL_TEXT_CALLS(FALAFEL_NUMBER)
                                 FALAFEL_CONNECTION_TEXT_CALLS(FALAFEL_NUMBER)};
#undef FALAFEL_NUMBER
  return std::ranges::find(calls, call) != calls.end();
}

}  // namespace falafel::simulated_verbs
