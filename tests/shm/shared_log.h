// Memory that the processes of a run share, and that outlives killed processes: flags, and a log of
// all operations.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "checkers/history.h"
#include "engine/client/results.h"

namespace falafel::shm_test {

inline constexpr std::size_t max_clients = 512;
inline constexpr std::uint32_t not_answered = ~std::uint32_t{0};

struct Record {
  std::uint64_t call_time;
  std::uint64_t return_time;
  std::uint64_t value;  // the number from which the value was made that was written or found
  std::uint32_t key;
  checkers::OperationKind kind;
  std::atomic<std::uint32_t> answer;  // engine::Answer, or not_answered; written last
};

struct ClientLog {
  std::atomic<std::uint64_t> records;
  std::atomic<std::uint64_t> restarts;
};

struct Flags {
  std::atomic<bool> server_may_start;
  std::atomic<bool> server_is_up;
  std::atomic<bool> clients_are_done;
  std::atomic<std::uint32_t> clients;  // logs in use
  std::array<ClientLog, max_clients> logs;
};

// Resides in memory that forked processes share.
class SharedLog {
 public:
  explicit SharedLog(std::uint64_t records_per_client);
  ~SharedLog();
  SharedLog(const SharedLog&) = delete;
  SharedLog& operator=(const SharedLog&) = delete;

  Flags& flags() { return *static_cast<Flags*>(memory_); }
  std::uint64_t records_per_client() const { return records_per_client_; }

  // Call from one thread per client.
  std::uint32_t add_client();
  Record& call(std::uint32_t client, checkers::OperationKind kind, std::uint32_t key,
               std::uint64_t value);
  static void complete(Record& record, engine::Answer answer, std::uint64_t value);

  // Call when all processes are done. Values are represented by their numbers.
  checkers::History history();

 private:
  Record* records(std::uint32_t client);

  std::uint64_t records_per_client_;
  std::uint64_t size_bytes_;
  void* memory_;
};

}  // namespace falafel::shm_test
