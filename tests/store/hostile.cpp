// A client that violates the protocol over shared memory. It attacks the server 'falafel' in one
// way, prints "done", and stays connected until its standard input ends or, for `copy`, until it is
// killed.
//
//   store_hostile DIRECTORY lock KEY      sets the key's lock bit, which only a cleanup may
//   store_hostile DIRECTORY corrupt KEY   stores the key in a container that fails its checksums
//   store_hostile DIRECTORY copy SECONDS  repeatedly requests a region and fills it, so that it is
//                                         usually in the middle of a WRITE, and then ignores
//                                         messages. Ends after a wait of SECONDS: the server has
//                                         given up on it
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layout/container.h"
#include "engine/layout/control_message.h"
#include "engine/layout/entry.h"
#include "engine/layout/key_hash.h"
#include "engine/layout/references.h"
#include "engine/layout/superblock.h"
#include "engine/local_memory.h"
#include "fabric/shm/process.h"
#include "tests/hang_limit.h"

namespace falafel::store_test {
namespace {

using engine::control_message_bytes;
using engine::ControlMessage;
using engine::Entry;
using engine::entry_bytes;
using engine::MessageKind;
using engine::Verification;

constexpr std::uint64_t message_count = 8;
constexpr std::uint64_t messages_at = 1 << 20;  // in the local memory, behind the data of requests
constexpr std::uint64_t local_bytes = messages_at + message_count * control_message_bytes;

template <typename Value>
Value expected(fabric::Result<Value> result, std::string_view what) {
  if (!result) throw std::runtime_error(fmt::format("{}: {}", what, result.error().detail));
  return std::move(*result);
}

void expected_done(const fabric::Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().detail);
}

// A queue pair whose requests are executed one at a time.
class Wire {
 public:
  Wire(fabric::Host& host, std::uint64_t longest_wait_ns)
      : host_(host), longest_wait_ns_(longest_wait_ns) {
    fabric::Device& device = host.device(0);
    domain_ = device.create_protection_domain();
    completions_ = expected(device.create_completion_queue(64), "a completion queue");
    local_ = expected(engine::allocate_local_memory(host, *domain_, local_bytes), "memory");
    auto connection = expected(
        device.connect({.host = "falafel", .service = 7},
                       {.protection_domain = domain_.get(),
                        .send_completions = completions_.get(),
                        .receive_completions = completions_.get(),
                        .max_send_requests = 16,
                        .max_receive_requests = message_count},
                       engine::to_bytes(engine::ClientHello{}), host.now_ns() + hang_limit_ns),
        "to connect");
    queue_pair_ = std::move(connection.queue_pair);
    hello_ = engine::from_bytes<engine::ServerHello>(connection.private_data).value();
    for (std::uint64_t buffer = 0; buffer < message_count; ++buffer) post_receive(buffer);
  }

  const engine::ServerHello& hello() const { return hello_; }

  std::vector<std::byte> read(std::uint32_t remote_key, std::uint64_t offset, std::size_t length) {
    fabric::WorkRequest request;
    request.opcode = fabric::Opcode::read;
    request.length_bytes = static_cast<std::uint32_t>(length);
    request.remote = {remote_key, offset};
    execute(request);
    const auto bytes = local_.bytes(0, length);
    return {bytes.begin(), bytes.end()};
  }
  // Writes the start of the local memory.
  void write(std::uint32_t remote_key, std::uint64_t offset, std::uint64_t length) {
    fabric::WorkRequest request;
    request.opcode = fabric::Opcode::write;
    request.length_bytes = static_cast<std::uint32_t>(length);
    request.remote = {remote_key, offset};
    execute(request);
  }
  void write(std::uint32_t remote_key, std::uint64_t offset, std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, local_.bytes(0, bytes.size()).begin());
    write(remote_key, offset, bytes.size());
  }
  // Returns whether the word was as expected and was replaced.
  bool swap(std::uint64_t offset, std::uint64_t from, std::uint64_t to) {
    fabric::WorkRequest request;
    request.opcode = fabric::Opcode::compare_and_swap;
    request.length_bytes = fabric::word_bytes;
    request.remote = {hello_.table_key, offset};
    request.compare = from;
    request.swap_or_add = to;
    execute(request);
    return *engine::from_bytes<std::uint64_t>(local_.bytes(0, fabric::word_bytes)) == from;
  }
  void send(const ControlMessage& message) {
    std::ranges::copy(engine::bytes_of(message), local_.bytes(0, sizeof message).begin());
    fabric::WorkRequest request;
    request.opcode = fabric::Opcode::send;
    request.length_bytes = control_message_bytes;
    execute(request);
  }
  // Returns the oldest message that was not returned yet.
  ControlMessage receive() {
    if (received_.empty()) received_.push_back(poll().id);
    const std::uint64_t buffer = received_.front();
    received_.pop_front();
    const auto message =
        *engine::from_bytes<ControlMessage>(local_.bytes(place_of(buffer), control_message_bytes));
    post_receive(buffer);
    return message;
  }

 private:
  // larger than the identifiers of message buffers
  static constexpr std::uint64_t request_id = 1'000;

  static std::uint64_t place_of(std::uint64_t buffer) {
    return messages_at + buffer * control_message_bytes;
  }
  void post_receive(std::uint64_t buffer) {
    const fabric::ReceiveRequest request{
        .id = buffer, .local = local_.at(place_of(buffer)), .length_bytes = control_message_bytes};
    expected_done(queue_pair_->post_receive({&request, 1}));
  }
  // Keeps messages that arrive in the meantime.
  void execute(fabric::WorkRequest request) {
    request.id = request_id;
    request.local = local_.at(0);
    expected_done(queue_pair_->post_send({&request, 1}));
    for (;;) {
      const fabric::WorkCompletion completion = poll();
      if (completion.id == request_id) return;
      received_.push_back(completion.id);
    }
  }
  fabric::WorkCompletion poll() {
    fabric::WorkCompletion completion;
    const std::uint64_t deadline_ns = host_.now_ns() + longest_wait_ns_;
    while (completions_->poll({&completion, 1}) == 0) {
      // It sends nothing while it waits, so the server may have given up on it.
      if (!completions_->wait(deadline_ns)) throw std::runtime_error("no answer");
    }
    if (completion.status == fabric::CompletionStatus::success) return completion;
    throw std::runtime_error("the connection broke");
  }

  fabric::Host& host_;
  std::uint64_t longest_wait_ns_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  engine::LocalMemory local_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  engine::ServerHello hello_;
  std::deque<std::uint64_t> received_;  // buffers with messages
};

class Intruder {
 public:
  Intruder(fabric::Host& host, std::uint64_t longest_wait_ns) : wire_(host, longest_wait_ns) {
    const auto bytes = wire_.read(wire_.hello().chunk_key, 0, engine::superblock_bytes);
    superblock_ =
        expected(engine::parse_superblock(bytes, wire_.hello().chunk_bytes), "the superblock");
    geometry_ = engine::geometry_of(superblock_);
  }

  void lock(std::span<const std::byte> key) {
    const std::uint64_t slot = slot_of(key);
    for (Entry entry = load(slot); !swap(slot, entry, entry.with_locked());) entry = load(slot);
  }

  // Uses the first slot of the chain that is empty or has the key.
  void corrupt(std::span<const std::byte> key) {
    const ControlMessage grant = take_region();
    std::vector<std::byte> container(engine::container_bytes(key.size(), fabric::word_bytes));
    engine::write_container(key, std::vector<std::byte>(fabric::word_bytes), container);
    container[offsetof(engine::ContainerHeader, header_crc)] ^= std::byte{0xff};
    const std::uint64_t offset = geometry_.region_offset(grant.region);
    wire_.write(grant.remote_key, offset, container);
    for (;;) {
      const std::uint64_t slot = slot_of(key);
      const Entry entry = load(slot);
      const std::uint32_t reference =
          engine::References(geometry_).to(offset, hash_of(key), container.size());
      if (swap(slot, entry, entry.pointing_to(reference).with_next_tag(geometry_.tag_bits))) return;
    }
  }

  [[noreturn]] void copy(const ControlMessage& grant) {
    const std::uint64_t length = std::min(geometry_.region_bytes, messages_at);
    for (;;) wire_.write(grant.remote_key, geometry_.region_offset(grant.region), length);
  }

  ControlMessage take_region() {
    for (;;) {
      wire_.send({.kind = MessageKind::request_region});
      ControlMessage answer = wire_.receive();
      while (answer.kind != MessageKind::grant_region && answer.kind != MessageKind::deny_region) {
        // It is in no operation yet. Without an answer, all free regions might wait for it.
        if (answer.kind == MessageKind::ask_for_quiescence) {
          wire_.send({.kind = MessageKind::heartbeat, .epoch = answer.epoch});
        }
        answer = wire_.receive();
      }
      if (answer.kind == MessageKind::grant_region) return answer;
    }
  }

 private:
  std::uint64_t hash_of(std::span<const std::byte> key) const {
    return engine::hash_of(key, superblock_.hash_key);
  }
  // Returns the slot of the key's entry, or the end of its chain.
  std::uint64_t slot_of(std::span<const std::byte> key) {
    std::uint64_t slot = engine::home_slot(key, superblock_.hash_key, geometry_.table_entries);
    for (;; slot = (slot + 1) % geometry_.table_entries) {
      const Entry entry = load(slot);
      if (entry.is_empty() || has_key(entry, key)) return slot;
    }
  }
  bool has_key(Entry entry, std::span<const std::byte> key) {
    const auto bytes = wire_.read(wire_.hello().chunk_key, geometry_.to_offset(entry.reference()),
                                  engine::container_header_bytes + key.size());
    const auto header = engine::read_container_header(bytes, Verification::on);
    if (!header) return false;
    const auto found = engine::read_container_key(bytes, *header, Verification::on);
    return found && std::ranges::equal(*found, key);
  }
  std::uint64_t offset_of(std::uint64_t slot) const {
    return engine::Geometry::table_offset() + slot * entry_bytes;
  }
  Entry load(std::uint64_t slot) {
    const auto bytes = wire_.read(wire_.hello().table_key, offset_of(slot), entry_bytes);
    return Entry(*engine::from_bytes<std::uint64_t>(bytes));
  }
  bool swap(std::uint64_t slot, Entry from, Entry to) {
    return wire_.swap(offset_of(slot), from.word(), to.word());
  }

  Wire wire_;
  engine::Superblock superblock_;
  engine::Geometry geometry_;
};

void say_done() {
  std::puts("done");
  std::fflush(stdout);
}

// Returns false if the name is unknown.
bool do_it(Intruder& intruder, std::string_view deed, std::span<const std::byte> key) {
  if (deed == "copy") {
    const ControlMessage grant = intruder.take_region();
    say_done();
    intruder.copy(grant);
  }
  if (deed == "lock") {
    intruder.lock(key);
  } else if (deed == "corrupt") {
    intruder.corrupt(key);
  } else {
    return false;
  }
  say_done();
  std::getchar();
  return true;
}

// `argument`: of the deed.
int run(std::string_view directory, std::string_view deed, std::string_view argument) {
  const std::uint64_t longest_wait_ns =
      deed == "copy" ? std::stoull(std::string(argument)) * 1'000'000'000 : hang_limit_ns;
  const auto process = expected(
      shm::Process::create({.directory = directory, .memory_limit_bytes = 1 << 24}), "a process");
  const auto host = expected(process->create_host("client"), "a host");
  int exit_status = 0;
  host->run_program([&] {
    try {
      Intruder intruder(*host, longest_wait_ns);
      if (!do_it(intruder, deed, std::as_bytes(std::span(argument)))) exit_status = 2;
    } catch (const std::exception& error) {  // fibers must not throw
      fmt::print(stderr, "{}\n", error.what());
      exit_status = 1;
    }
  });
  return exit_status;
}

}  // namespace
}  // namespace falafel::store_test

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    return falafel::store_test::run(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
