#include "tests/shm/shared_log.h"

#include <sys/mman.h>

#include <string>

#include "fabric/assert.h"
#include "fabric/realtime/clock.h"

namespace falafel::shm_test {
namespace {

// Checkers ignore operations that did nothing.
checkers::Answer judged_answer(std::uint32_t answer) {
  if (answer == not_answered) return checkers::Answer::indeterminate;
  switch (static_cast<engine::Answer>(answer)) {
    case engine::Answer::found: return checkers::Answer::found;
    case engine::Answer::not_found: return checkers::Answer::not_found;
    case engine::Answer::stored: return checkers::Answer::stored;
    case engine::Answer::deleted: return checkers::Answer::deleted;
    case engine::Answer::unknown_outcome: return checkers::Answer::indeterminate;
    default: return checkers::Answer::refused;
  }
}

}  // namespace

SharedLog::SharedLog(std::uint64_t records_per_client)
    : records_per_client_(records_per_client),
      size_bytes_(sizeof(Flags) + max_clients * records_per_client * sizeof(Record)),
      memory_(::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  FALAFEL_ASSERT(memory_ != MAP_FAILED, "no memory for a log of {} bytes", size_bytes_);
}

SharedLog::~SharedLog() { ::munmap(memory_, size_bytes_); }

Record* SharedLog::records(std::uint32_t client) {
  auto* first = reinterpret_cast<Record*>(static_cast<std::byte*>(memory_) + sizeof(Flags));
  return first + client * records_per_client_;
}

std::uint32_t SharedLog::add_client() {
  const std::uint32_t client = flags().clients++;
  FALAFEL_ASSERT(client < max_clients, "more than {} clients", max_clients);
  return client;
}

Record& SharedLog::call(std::uint32_t client, checkers::OperationKind kind, std::uint32_t key,
                        std::uint64_t value) {
  ClientLog& log = flags().logs[client];
  const std::uint64_t index = log.records.load();
  FALAFEL_ASSERT(index < records_per_client_, "client {} has no room for records", client);
  Record& record = records(client)[index];
  record.answer.store(not_answered);
  record.key = key;
  record.kind = kind;
  record.value = value;
  record.call_time = fabric::monotonic_ns();
  log.records.store(index + 1);
  return record;
}

void SharedLog::complete(Record& record, engine::Answer answer, std::uint64_t value) {
  if (record.kind == checkers::OperationKind::get) record.value = value;
  record.return_time = fabric::monotonic_ns();
  record.answer.store(static_cast<std::uint32_t>(answer));
}

checkers::History SharedLog::history() {
  checkers::History history;
  for (std::uint32_t client = 0; client < flags().clients; ++client) {
    for (std::uint64_t index = 0; index < flags().logs[client].records; ++index) {
      const Record& record = records(client)[index];
      const bool is_get = record.kind == checkers::OperationKind::get;
      const bool is_set = record.kind == checkers::OperationKind::set;
      const checkers::Answer answer = judged_answer(record.answer);
      const std::string value = std::to_string(record.value);
      const std::size_t operation =
          history.call(record.call_time, client, record.kind, std::to_string(record.key),
                       is_set ? std::string_view(value) : std::string_view());
      history.complete(record.return_time, operation, answer,
                       is_get && answer == checkers::Answer::found ? std::string_view(value)
                                                                   : std::string_view());
    }
  }
  return history;
}

}  // namespace falafel::shm_test
