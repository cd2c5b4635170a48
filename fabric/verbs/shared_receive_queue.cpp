#include "fabric/verbs/shared_receive_queue.h"

#include <algorithm>
#include <cerrno>

#include "fabric/posting_rules.h"
#include "fabric/verbs/segments.h"

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

Result<std::unique_ptr<fabric::SharedReceiveQueue>> make_shared_receive_queue(
    const fabric::SharedReceiveQueueOptions& options, const fabric::DeviceAttributes& device) {
  if (auto checked = fabric::check_shared_receive_queue(options, device); !checked) {
    return tl::unexpected(checked.error());
  }
  auto* const domain = dynamic_cast<ProtectionDomain*>(options.protection_domain);
  if (domain == nullptr) {
    return make_error(ErrorCode::invalid_argument, "protection_domain: null, or of another fabric");
  }
  ibv_srq_init_attr wanted{};
  wanted.attr.max_wr = options.max_receive_requests;
  wanted.attr.max_sge = options.max_receive_segments;
  ibv_srq* const raw = ibv_create_srq(domain->state()->raw.get(), &wanted);
  if (raw == nullptr) {
    return make_error(
        ErrorCode::out_of_memory,
        fmt::format("no shared receive queue of {} requests with {} segments: {}; ask "
                    "for less, or raise the limit of locked memory",
                    options.max_receive_requests, options.max_receive_segments, words_of(errno)));
  }
  return std::make_unique<SharedReceiveQueue>(std::make_shared<SharedReceiveQueueState>(
      own(raw, domain->state()->raw), domain->state(), options));
}

SharedReceiveQueueState::SharedReceiveQueueState(SharedQueueHandle raw,
                                                 std::shared_ptr<DomainState> domain,
                                                 const fabric::SharedReceiveQueueOptions& options)
    : raw_(std::move(raw)),
      domain_(std::move(domain)),
      options_{.max_receive_requests = options.max_receive_requests,
               .max_receive_segments = options.max_receive_segments},
      slots_(options.max_receive_requests) {
  for (std::uint64_t slot = slots_.size(); slot > 0; --slot) free_slots_.push_back(slot - 1);
}

Result<void> SharedReceiveQueueState::post_receive(std::span<const fabric::ReceiveRequest> chain) {
  const auto examine = [this](std::size_t /*index*/, const fabric::MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    const auto found = domain_->regions.find(local.key);
    return fabric::examine_local_buffer(found == domain_->regions.end() ? nullptr : &found->second,
                                        local, length_bytes, is_written);
  };
  const fabric::QueueOccupancy queue{.places_taken = slots_.size() - free_slots_.size()};
  auto checked = fabric::check_receive_chain(chain, queue, options_, examine);
  if (!checked || chain.empty()) return checked;
  list_.clear();
  list_.reserve(chain.size());
  buffers_.clear();
  buffers_.reserve(chain.size() * options_.max_receive_segments);
  for (const fabric::ReceiveRequest& request : chain) {
    list_.push_back(translate(request));
    if (list_.size() > 1) list_[list_.size() - 2].next = &list_.back();
  }
  ibv_recv_wr* refused = nullptr;
  const int failed = ibv_post_srq_recv(raw_.get(), list_.data(), &refused);
  FALAFEL_ASSERT(failed == 0, "ibv_post_srq_recv: {}", words_of(failed));
  return {};
}

ibv_recv_wr SharedReceiveQueueState::translate(const fabric::ReceiveRequest& request) {
  const std::uint64_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot] = {.id = request.id,
                  .opcode = fabric::Opcode::receive,
                  .sequence = slot,
                  .buffer = start_of(request)};
  const std::size_t first = buffers_.size();
  append_segments(request, buffers_);
  ibv_recv_wr translated{};
  translated.wr_id = slot | receive_mark;
  translated.sg_list = buffers_.data() + first;
  translated.num_sge = static_cast<int>(buffers_.size() - first);
  return translated;
}

std::uint32_t SharedReceiveQueueState::entries_needed(
    const CompletionQueueState& completions) const {
  const bool are_reserved = std::ranges::find(completions_, &completions) != completions_.end();
  return are_reserved ? 0 : options_.max_receive_requests;
}

std::uint32_t SharedReceiveQueueState::attach(const CompletionQueueState& completions) {
  const std::uint32_t entries = entries_needed(completions);
  completions_.push_back(&completions);
  return entries;
}

std::uint32_t SharedReceiveQueueState::detach(const CompletionQueueState& completions) {
  const auto found = std::ranges::find(completions_, &completions);
  FALAFEL_ASSERT(found != completions_.end(), "a queue pair is detached twice of {} attached",
                 completions_.size());
  completions_.erase(found);
  return entries_needed(completions);
}

const RequestReference& SharedReceiveQueueState::reference(std::uint64_t slot) const {
  FALAFEL_ASSERT(slot < slots_.size(), "the device completed the request in slot {} of {}", slot,
                 slots_.size());
  return slots_[slot];
}

void SharedReceiveQueueState::release(std::uint64_t slot) {
  FALAFEL_ASSERT(free_slots_.size() < slots_.size(), "slot {} of {} is released twice", slot,
                 slots_.size());
  free_slots_.push_back(slot);
}

}  // namespace falafel::verbs
