// Published litmus tests in the vocabulary of their papers. A *put* reads a word of its own host
// and writes a word of the other host; a *get* does the opposite. *poll* waits for the completions.
// A remote fence is the flag `fenced` of the request behind it. docs/litmus.md lists the sources.
#pragma once

#include "tests/litmus/litmus.h"

namespace falafel::litmus {

// Words of each party's own memory that requests of these tests use, beside x, y and z.
inline constexpr std::uint64_t u = 8;
inline constexpr std::uint64_t v = 10;
inline constexpr std::uint64_t w = 12;

// The other host of a connection, as seen from `party`.
inline const Party& other_side(const Party& party) {
  Trial& trial = party.trial();
  return &party == &trial.server() ? trial.client() : trial.server();
}

inline fabric::WorkRequest transfer(Party& party, fabric::Opcode opcode, std::uint64_t remote_word,
                                    std::uint64_t local_word) {
  fabric::WorkRequest request = party.read(0);
  request.opcode = opcode;
  request.local = {party.region().local_key(), local_word * fabric::word_bytes};
  request.remote = {other_side(party).region().remote_key(), remote_word * fabric::word_bytes};
  return request;
}

// remote := local
inline fabric::WorkRequest put(Party& party, std::uint64_t remote_word, std::uint64_t local_word) {
  return transfer(party, fabric::Opcode::write, remote_word, local_word);
}

// local := remote
inline fabric::WorkRequest get(Party& party, std::uint64_t local_word, std::uint64_t remote_word) {
  return transfer(party, fabric::Opcode::read, remote_word, local_word);
}

// The simulator as weak as it is: processors with store buffers.
inline Litmus published(Program server, Program client) {
  Litmus litmus;
  litmus.options.store_buffers = true;
  litmus.server = std::move(server);
  litmus.clients = {std::move(client)};
  return litmus;
}

// Observes the test's first `count` registers.
inline void observe_registers(Litmus& litmus, std::size_t count) {
  litmus.outcome = [count](Trial& trial) { return seen_digits(trial, count); };
}

}  // namespace falafel::litmus
