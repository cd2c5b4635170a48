// The processors that carry out requests have store buffers, but a WRITE has taken effect before a
// later READ of its queue pair samples memory. Two clients, each in a thread of its own, WRITE one
// word and READ the word of the other in one chain.
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <vector>

#include "fabric/shm/process.h"

namespace falafel::shm_test {
namespace {

using fabric::Opcode;
using fabric::word_bytes;
using fabric::WorkRequest;

constexpr std::uint64_t rounds = 1'000'000;
constexpr std::uint16_t service = 1;
// The words of the two clients are in different cache lines.
constexpr std::uint64_t line_bytes = 64;
constexpr fabric::Access every_right{
    .local_write = true, .remote_read = true, .remote_write = true};

template <typename Value>
Value must(fabric::Result<Value> result) {
  FALAFEL_ASSERT(result.has_value(), "{}", result.error().detail);
  if constexpr (!std::is_void_v<Value>) return std::move(*result);
}

struct Site {
  explicit Site(fabric::Host& owner)
      : host(owner),
        domain(owner.device(0).create_protection_domain()),
        completions(must(owner.device(0).create_completion_queue(256))),
        block(must(owner.allocate_memory(4096))),
        region(must(domain->register_memory(block, 0, 4096, every_right))) {}

  fabric::QueuePairOptions options() const {
    return {.protection_domain = domain.get(),
            .send_completions = completions.get(),
            .receive_completions = completions.get(),
            .max_receive_requests = 1};
  }
  void await_completion() const {
    fabric::WorkCompletion completion;
    while (completions->poll({&completion, 1}) == 0) completions->wait(fabric::never_ns);
    EXPECT_EQ(completion.status, fabric::CompletionStatus::success);
  }

  fabric::Host& host;
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::unique_ptr<fabric::CompletionQueue> completions;
  std::shared_ptr<fabric::MemoryBlock> block;
  std::unique_ptr<fabric::MemoryRegion> region;
};

void serve(fabric::Host& host, std::promise<std::uint32_t>& key, std::shared_future<void> done) {
  const Site site(host);
  const auto listener = must(host.device(0).listen(service));
  key.set_value(site.region->remote_key());
  std::vector<std::unique_ptr<fabric::QueuePair>> queue_pairs;
  for (int client = 0; client < 2; ++client) {
    const auto request = listener->accept(fabric::never_ns);
    queue_pairs.push_back(must(request->accept(site.options(), {})));
  }
  done.wait();
}

// Returns what the client found in the other's word, round by round.
std::vector<std::uint64_t> work(fabric::Host& host, std::uint32_t key, std::uint64_t own_word,
                                std::uint64_t others_word) {
  const Site site(host);
  const auto connection =
      must(host.device(0).connect({"server", service}, site.options(), {}, fabric::never_ns));
  WorkRequest chain[2];
  chain[0].opcode = Opcode::write;
  chain[0].length_bytes = word_bytes;
  chain[0].signalled = false;
  chain[0].local = {site.region->local_key(), 0};
  chain[0].remote = {key, own_word};
  chain[1].opcode = Opcode::read;
  chain[1].length_bytes = word_bytes;
  chain[1].local = {site.region->local_key(), line_bytes};
  chain[1].remote = {key, others_word};
  std::vector<std::uint64_t> found;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    site.block->store(0, round);
    must(connection.queue_pair->post_send(chain));
    site.await_completion();
    found.push_back(site.block->load(line_bytes));
  }
  return found;
}

template <typename Body>
auto run_host(shm::Process& process, const std::string& name, const Body& body) {
  const auto host = must(process.create_host(name));
  decltype(body(*host)) result{};
  host->run_program([&] { result = body(*host); });
  return result;
}

// In round i, `left` found the round r of `right`. So the READ of round r + 1 of `right` follows
// the WRITE of round i.
std::uint64_t count_misses(const std::vector<std::uint64_t>& left,
                           const std::vector<std::uint64_t>& right) {
  std::uint64_t misses = 0;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const std::uint64_t others_round = left[round - 1];
    if (others_round < rounds && right[others_round] < round) ++misses;
  }
  return misses;
}

TEST(StoreBuffering, AWriteTakesEffectBeforeALaterReadOfItsChain) {
  std::string directory = (std::filesystem::temp_directory_path() / "falafel.XXXXXX").native();
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  {
    const auto process = must(shm::Process::create({.directory = directory}));
    std::promise<std::uint32_t> key_promise;
    const std::shared_future<std::uint32_t> key = key_promise.get_future().share();
    std::promise<void> done;
    const std::shared_future<void> is_done = done.get_future().share();
    auto server = std::async(std::launch::async, [&] {
      return run_host(*process, "server", [&](fabric::Host& host) {
        serve(host, key_promise, is_done);
        return true;
      });
    });
    const auto client = [&](const std::string& name, std::uint64_t own, std::uint64_t others) {
      return std::async(std::launch::async, [&, name, own, others] {
        const std::uint32_t server_key = key.get();
        return run_host(*process, name,
                        [&](fabric::Host& host) { return work(host, server_key, own, others); });
      });
    };
    auto left = client("left", 0, line_bytes);
    auto right = client("right", line_bytes, 0);
    const std::vector<std::uint64_t> found_by_left = left.get();
    const std::vector<std::uint64_t> found_by_right = right.get();
    done.set_value();
    server.get();
    EXPECT_EQ(count_misses(found_by_left, found_by_right), 0U);
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace falafel::shm_test
