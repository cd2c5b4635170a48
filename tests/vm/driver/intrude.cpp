// A client that connects normally and then attempts forbidden accesses. The device must refuse each
// of them, the connection must break, and nothing may change.
#include <fmt/format.h>

#include <string_view>

#include "engine/layout/control_message.h"
#include "engine/layout/geometry.h"
#include "tests/hang_limit.h"
#include "tests/vm/driver/driver.h"

namespace falafel::driver {
namespace {

using fabric::Opcode;

// Uses a separate connection for each attempt.
class Intruder {
 public:
  Intruder(verbs::Host& host, const Settings& settings)
      : domain_(host.device(0).create_protection_domain()),
        completions_(host.device(0).create_completion_queue(8).value()),
        memory_(host.allocate_memory(4'096).value()),
        region_(domain_->register_memory(memory_, 0, 4'096, {.local_write = true}).value()) {
    auto connection = host.device(0).connect({.host = settings.server, .service = settings.service},
                                             {.protection_domain = domain_.get(),
                                              .send_completions = completions_.get(),
                                              .receive_completions = completions_.get(),
                                              .max_send_requests = 4,
                                              .max_receive_requests = 4,
                                              .acknowledge_timeout_ns = 100 * millisecond_ns},
                                             engine::to_bytes(engine::ClientHello{}),
                                             host.now_ns() + hang_limit_ns);
    FALAFEL_ASSERT(connection.has_value(), "{}", connection.error().detail);
    queue_pair_ = std::move(connection->queue_pair);
    hello_ = engine::from_bytes<engine::ServerHello>(connection->private_data).value();
  }

  const engine::ServerHello& hello() const { return hello_; }

  fabric::CompletionStatus attempt(Opcode opcode, const fabric::MemoryAddress& remote,
                                   std::uint32_t length_bytes = fabric::word_bytes) {
    fabric::WorkRequest request;
    request.opcode = opcode;
    request.length_bytes = length_bytes;
    request.local = {region_->local_key(), 0};
    request.remote = remote;
    request.swap_or_add = 1;
    const auto posted = queue_pair_->post_send({&request, 1});
    FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
    completions_->wait(fabric::never_ns);
    fabric::WorkCompletion completion;
    completions_->poll({&completion, 1});
    return completion.status;
  }

 private:
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::shared_ptr<fabric::MemoryBlock> memory_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  engine::ServerHello hello_;
};

struct Attempt {
  std::string_view what;
  Opcode opcode;
  bool by_table_key;
  std::uint64_t offset;
  fabric::CompletionStatus expected;
};

int try_all(verbs::Host& host, const Settings& settings) {
  const engine::Geometry geometry = server_options(settings).geometry;
  constexpr auto refused = fabric::CompletionStatus::remote_access_error;
  constexpr auto success = fabric::CompletionStatus::success;
  const Attempt attempts[] = {
      {"READ of the superblock", Opcode::read, false, 0, success},
      {"READ of the table", Opcode::read, true, engine::Geometry::table_offset(), success},
      {"WRITE into the table", Opcode::write, true, engine::Geometry::table_offset(), refused},
      {"WRITE into the superblock", Opcode::write, false, 0, refused},
      {"WRITE into a region of others", Opcode::write, false, geometry.region_offset(0), refused},
      {"WRITE into the mature space", Opcode::write, false, geometry.mature_offset(0), refused},
      {"CAS of a region's word", Opcode::compare_and_swap, false, geometry.region_offset(0),
       refused},
      {"CAS beyond the table", Opcode::compare_and_swap, true, geometry.region_offset(0), refused},
      {"READ beyond the chunk", Opcode::read, false, geometry.chunk_bytes(), refused},
  };
  int status = 0;
  for (const Attempt& attempt : attempts) {
    Intruder intruder(host, settings);
    const std::uint32_t key =
        attempt.by_table_key ? intruder.hello().table_key : intruder.hello().chunk_key;
    const auto outcome = intruder.attempt(attempt.opcode, {key, attempt.offset});
    const bool as_expected = outcome == attempt.expected;
    fmt::print("{}{}: {}\n", as_expected ? "" : "WRONG: ", attempt.what, to_string(outcome));
    const bool is_broken = outcome != success;
    const auto later = intruder.attempt(Opcode::read, {intruder.hello().chunk_key, 0});
    if (!as_expected || is_broken != (later == fabric::CompletionStatus::flushed)) status = 1;
  }
  return status;
}

}  // namespace

int intrude(const Settings& settings) {
  return run_on_host(settings, [&](verbs::Host& host) { return try_all(host, settings); });
}

}  // namespace falafel::driver
