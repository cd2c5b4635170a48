#include "engine/client/region_allocator.h"

#include <algorithm>

#include "engine/probes.h"

namespace falafel::engine {

RegionAllocator::RegionAllocator(fabric::Host& host, const Geometry& geometry,
                                 const RegionAllocatorOptions& options,
                                 std::function<void()> on_message)
    : host_(host),
      geometry_(geometry),
      options_(options),
      on_message_(std::move(on_message)),
      changed_(host.create_event()) {}

tl::expected<Allocation, Answer> RegionAllocator::allocate(std::uint64_t size_bytes) {
  FALAFEL_ASSERT(size_bytes % geometry_.unit_bytes == 0 && size_bytes <= geometry_.region_bytes,
                 "an allocation of {} bytes", size_bytes);
  const std::uint64_t denials_before = denials_;
  std::uint64_t deadline_ns = fabric::never_ns;
  for (;;) {
    if (broken_) return tl::unexpected(Answer::disconnected);
    if (current_ != nullptr && current_->used_bytes + size_bytes <= geometry_.region_bytes) {
      return take(size_bytes);
    }
    retire_current();
    if (next_ != nullptr) {
      current_ = std::move(next_);
      continue;
    }
    if (denials_ != denials_before) return tl::unexpected(Answer::out_of_memory);
    if (deadline_ns == fabric::never_ns) deadline_ns = host_.now_ns() + options_.server_timeout_ns;
    if (host_.now_ns() >= deadline_ns) return tl::unexpected(Answer::timed_out);
    if (!requested_) request(false);
    struct Waiting {
      std::uint32_t& count;
      explicit Waiting(std::uint32_t& fibers) : count(fibers) { ++count; }
      ~Waiting() { --count; }
    } const waiting(waiting_);
    changed_->wait(deadline_ns);
  }
}

Allocation RegionAllocator::take(std::uint64_t size_bytes) {
  const Allocation allocation{.offset = current_->offset + current_->used_bytes,
                              .size_bytes = size_bytes,
                              .remote_key = current_->remote_key,
                              .incarnation = current_->incarnation};
  current_->used_bytes += size_bytes;
  ++current_->unfinished;
  renew_eagerly();
  return allocation;
}

void RegionAllocator::renew_eagerly() {
  const bool is_due =
      current_->used_bytes * 100 >= geometry_.region_bytes * options_.renewal_percent;
  if (!is_due || current_->renewed || requested_ || next_ != nullptr) return;
  current_->renewed = true;
  request(true);
}

void RegionAllocator::request(bool eager) {
  requested_ = true;
  requested_eagerly_ = eager;
  messages_.push_back({.kind = MessageKind::request_region, .eager = eager ? 1U : 0U});
  on_message_();
}

void RegionAllocator::retire_current() {
  if (current_ == nullptr) return;
  if (current_->unfinished == 0 || !options_.release_after_completion) release(*current_);
  if (current_->unfinished > 0) retired_.push_back(std::move(current_));
  current_ = nullptr;
}

void RegionAllocator::release(const Region& region) {
  messages_.push_back({.kind = MessageKind::release_region,
                       .region = region.index,
                       .incarnation = region.incarnation});
  on_message_();
}

void RegionAllocator::finish(const Allocation& allocation) {
  Region& region = find(allocation.incarnation);
  FALAFEL_ASSERT(region.unfinished > 0, "region {}", region.index);
  --region.unfinished;
  if (&region == current_.get() || region.unfinished > 0) return;
  if (options_.release_after_completion) release(region);
  std::erase_if(retired_, [&](const RegionPointer& retired) { return retired.get() == &region; });
}

void RegionAllocator::give_back(const Allocation& allocation) {
  Region& region = find(allocation.incarnation);
  const std::uint64_t end = allocation.offset + allocation.size_bytes;
  if (&region == current_.get() && end == region.offset + region.used_bytes) {
    region.used_bytes -= allocation.size_bytes;
  }
  finish(allocation);
}

RegionAllocator::Region& RegionAllocator::find(std::uint64_t incarnation) {
  if (current_ != nullptr && current_->incarnation == incarnation) return *current_;
  const auto found = std::ranges::find_if(
      retired_, [&](const RegionPointer& region) { return region->incarnation == incarnation; });
  FALAFEL_ASSERT(found != retired_.end(), "incarnation {}", incarnation);
  return **found;
}

bool RegionAllocator::holds(std::uint64_t incarnation) const {
  const auto is_it = [&](const RegionPointer& region) {
    return region != nullptr && region->incarnation == incarnation;
  };
  return is_it(current_) || std::ranges::any_of(retired_, is_it);
}

bool RegionAllocator::on_granted(const ControlMessage& grant) {
  if (!requested_ || grant.region >= geometry_.region_count || holds(grant.incarnation)) {
    return false;
  }
  FALAFEL_ASSERT(next_ == nullptr, "two regions ahead");
  requested_ = false;
  next_ = std::make_unique<Region>(Region{.offset = geometry_.region_offset(grant.region),
                                          .index = grant.region,
                                          .remote_key = grant.remote_key,
                                          .incarnation = grant.incarnation});
  if (waiting_ == 0 && current_ != nullptr) host_.count(probes::region_renewed_eagerly);
  changed_->notify_all();
  return true;
}

// An eager request may be denied while there is room left, so who waits asks again in earnest.
bool RegionAllocator::on_denied() {
  if (!requested_) return false;
  requested_ = false;
  if (!requested_eagerly_) ++denials_;
  changed_->notify_all();
  return true;
}

void RegionAllocator::on_broken() {
  broken_ = true;
  changed_->notify_all();
}

std::optional<ControlMessage> RegionAllocator::take_message() {
  if (messages_.empty()) return std::nullopt;
  const ControlMessage message = messages_.front();
  messages_.pop_front();
  return message;
}

}  // namespace falafel::engine
