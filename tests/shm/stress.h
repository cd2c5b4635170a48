// A store under load on shared memory: a server, and clients that do random operations on few keys and log
// them. Bodies for threads and for processes alike.
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
#include "tests/shm/shared_log.h"

namespace falafel::shm_test {

struct Stress {
  engine::Geometry geometry{};
  std::uint32_t keys = 6;
  std::uint32_t fibers = 2;          // of each client
  std::uint64_t operations = 1'000;  // of each client
  std::uint64_t pause_ns = 0;        // of a fiber, after each operation
  std::uint64_t heartbeat_timeout_ns = 30'000'000'000;
};

// A small table and small regions, so that collections, flips and cleanups come often.
Stress small_store();

std::unique_ptr<shm::Process> make_process(const std::filesystem::path& directory);

// Serves until the clients are done; then looks whether all is in order, with a client of its own that
// reads all keys into the log. What is wrong, if anything.
std::vector<std::string> serve(shm::Process& process, const Stress& stress, SharedLog& log);

// Connects and works off its operations. What is wrong, if anything.
std::vector<std::string> work(shm::Process& process, const Stress& stress, SharedLog& log,
                              std::uint64_t seed);

// Its history, judged; and what it has, in words.
checkers::Judgement judge(SharedLog& log);

}  // namespace falafel::shm_test
