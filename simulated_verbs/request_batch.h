// A batch of send requests, as a program builds it between ibv_wr_start and ibv_wr_complete: each
// function that names an operation begins a request, and the setters after it add to that request.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace falafel::simulated_verbs {

class RequestBatch {
 public:
  void clear();
  ibv_send_wr& begin(ibv_wr_opcode opcode, std::uint64_t id, unsigned flags);
  // These change the request that was begun last. Without one, the batch is malformed.
  void set_destination(ibv_ah* address, std::uint32_t number, std::uint32_t key);
  void set_entries(std::span<const ibv_sge> entries);
  // Copies the data at once, so that the program may change it afterwards.
  void set_inline_data(std::span<const ibv_data_buf> parts);

  bool is_malformed() const { return is_malformed_; }
  // Valid until the batch changes.
  std::vector<ibv_send_wr> requests();

 private:
  struct Request {
    ibv_send_wr work{};
    std::vector<ibv_sge> entries;
    std::vector<std::byte> inline_data;
  };

  Request* current();

  std::vector<Request> requests_;
  bool is_malformed_ = false;
};

}  // namespace falafel::simulated_verbs
