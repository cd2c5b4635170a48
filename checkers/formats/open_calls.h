// The pending operations of each process while a log is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace falafel::checkers::formats {

class OpenCalls {
 public:
  // If the process has a pending operation, that operation never returns.
  void call(std::uint32_t process, std::size_t operation) { operations_[process] = operation; }

  // Returns and removes the pending operation of the process; nullopt: it has none.
  std::optional<std::size_t> take(std::uint32_t process) {
    const auto found = operations_.find(process);
    if (found == operations_.end()) return std::nullopt;
    const std::size_t operation = found->second;
    operations_.erase(found);
    return operation;
  }

 private:
  std::map<std::uint32_t, std::size_t> operations_;
};

}  // namespace falafel::checkers::formats
