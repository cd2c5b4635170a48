#include "simulated_verbs/request_batch.h"

namespace falafel::simulated_verbs {

void RequestBatch::clear() {
  requests_.clear();
  is_malformed_ = false;
}

ibv_send_wr& RequestBatch::begin(ibv_wr_opcode opcode, std::uint64_t id, unsigned flags) {
  ibv_send_wr& work = requests_.emplace_back().work;
  work.opcode = opcode;
  work.wr_id = id;
  work.send_flags = flags & ~unsigned{IBV_SEND_INLINE};
  return work;
}

RequestBatch::Request* RequestBatch::current() {
  is_malformed_ |= requests_.empty();
  return requests_.empty() ? nullptr : &requests_.back();
}

void RequestBatch::set_destination(ibv_ah* address, std::uint32_t number, std::uint32_t key) {
  Request* const request = current();
  if (request == nullptr) return;
  request->work.wr.ud = {.ah = address, .remote_qpn = number, .remote_qkey = key};
}

void RequestBatch::set_entries(std::span<const ibv_sge> entries) {
  Request* const request = current();
  if (request != nullptr) request->entries.assign(entries.begin(), entries.end());
}

void RequestBatch::set_inline_data(std::span<const ibv_data_buf> parts) {
  Request* const request = current();
  if (request == nullptr) return;
  for (const ibv_data_buf& part : parts) {
    const std::span bytes(static_cast<const std::byte*>(part.addr), part.length);
    request->inline_data.insert(request->inline_data.end(), bytes.begin(), bytes.end());
  }
  request->work.send_flags |= IBV_SEND_INLINE;
}

std::vector<ibv_send_wr> RequestBatch::requests() {
  std::vector<ibv_send_wr> works;
  for (Request& request : requests_) {
    if ((request.work.send_flags & IBV_SEND_INLINE) != 0) {
      request.entries = {{.addr = reinterpret_cast<std::uint64_t>(request.inline_data.data()),
                          .length = static_cast<std::uint32_t>(request.inline_data.size()),
                          .lkey = 0}};
    }
    request.work.sg_list = request.entries.data();
    request.work.num_sge = static_cast<int>(request.entries.size());
    works.push_back(request.work);
  }
  return works;
}

}  // namespace falafel::simulated_verbs
