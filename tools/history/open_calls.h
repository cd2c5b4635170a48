// The operations that processes have called and that have not returned, as a log tells of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace falafel::history {

class OpenCalls {
 public:
  // An operation of the process that has not returned never will.
  void call(std::uint32_t process, std::size_t operation) { operations_[process] = operation; }

  // The operation that the process had called; none: it had not.
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

}  // namespace falafel::history
