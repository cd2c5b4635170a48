// A loaded store on shared memory: a server, and clients that run random operations on few keys and
// log them. The functions can run in threads and in processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "checkers/judgement.h"
#include "engine/client/client.h"
#include "engine/server/server.h"
#include "fabric/shm/process.h"
#include "tests/hang_limit.h"
#include "tests/shm/shared_log.h"

namespace falafel::shm_test {

struct Stress {
  engine::Geometry geometry{};
  std::uint32_t keys = 6;
  std::uint32_t fibers = 2;          // per client
  std::uint64_t operations = 1'000;  // per client
  std::uint64_t pause_ns = 0;        // of each fiber after each operation
  std::uint64_t heartbeat_timeout_ns = hang_limit_ns;
};

// A small table and small regions, so that collections and cleanups are frequent.
Stress small_store();

std::unique_ptr<shm::Process> make_process(const std::filesystem::path& directory);

// Serves until the clients are done. Then checks the final state with a client of its own, which
// reads all keys into the log. Returns the problems.
std::vector<std::string> serve(shm::Process& process, const Stress& stress, SharedLog& log);

// Connects and runs its operations. Returns the problems.
std::vector<std::string> work(shm::Process& process, const Stress& stress, SharedLog& log,
                              std::uint64_t seed);

// Wait until no client is connected and nothing is left to collect, and judge the memory. They add
// the problems that they find.
void await_rest(fabric::Host& host, engine::Server& server, std::vector<std::string>& problems);
void judge_memory(engine::Server& server, std::vector<std::string>& problems);

// Judge the history, and describe its contents in words.
checkers::Judgement judge(SharedLog& log);

}  // namespace falafel::shm_test
