#include "engine/client/region_allocator.h"

#include <algorithm>
#include <new>
#include <utility>

#include "engine/probes.h"

namespace falafel::engine {
namespace {

constexpr std::size_t most_held_regions = 4;  // the current and the next one of both supplies

}  // namespace

RegionAllocator::RegionAllocator(fabric::Host& host, const Geometry& geometry,
                                 const RegionAllocatorOptions& options,
                                 std::function<void()> on_message)
    : host_(host),
      geometry_(geometry),
      options_(options),
      on_message_(std::move(on_message)),
      changed_(host.create_event()) {}

// A fiber in allocate(). When the last one leaves, for any reason, the allocator returns regions
// that nobody needs.
class RegionAllocator::OngoingAllocation {
 public:
  OngoingAllocation(RegionAllocator& regions, Supply& supply) : regions_(regions), supply_(supply) {
    ++supply_.ongoing_allocations;
  }
  ~OngoingAllocation() {
    --supply_.ongoing_allocations;
    regions_.give_back_what_is_not_needed(supply_);
  }
  OngoingAllocation(const OngoingAllocation&) = delete;
  OngoingAllocation& operator=(const OngoingAllocation&) = delete;

 private:
  RegionAllocator& regions_;
  Supply& supply_;
};

tl::expected<Allocation, Answer> RegionAllocator::allocate(std::uint64_t size_bytes,
                                                           std::uint64_t deadline_ns) {
  return allocate(size_bytes, general_, deadline_ns);
}

tl::expected<Allocation, Answer> RegionAllocator::allocate_for_overwrite(
    std::uint64_t size_bytes, std::uint64_t deadline_ns) {
  return allocate(size_bytes, reserve_, deadline_ns);
}

bool RegionAllocator::has_room(std::uint64_t size_bytes) const {
  const bool fits_current = general_.current != nullptr &&
                            general_.current->used_bytes + size_bytes <= geometry_.region_bytes;
  return broken_ || fits_current || general_.next != nullptr;
}

tl::expected<Allocation, Answer> RegionAllocator::allocate(std::uint64_t size_bytes, Supply& supply,
                                                           std::uint64_t deadline_ns) {
  FALAFEL_ASSERT(size_bytes % geometry_.unit_bytes == 0 && size_bytes <= geometry_.region_bytes,
                 "an allocation of {} bytes is not possible", size_bytes);
  const OngoingAllocation ongoing(*this, supply);
  const std::uint64_t requests_before = requests_;
  for (;;) {
    if (broken_) return tl::unexpected(Answer::disconnected);
    if (supply.current != nullptr &&
        supply.current->used_bytes + size_bytes <= geometry_.region_bytes) {
      return take(size_bytes, supply);
    }
    retire(supply.current);
    if (supply.next != nullptr) {
      supply.current = std::move(supply.next);
      continue;
    }
    if (supply.last_denied > requests_before) return tl::unexpected(Answer::out_of_memory);
    if (host_.now_ns() >= deadline_ns) return tl::unexpected(Answer::timed_out);
    if (!requested_) request(supply.need);
    changed_->wait(deadline_ns);
  }
}

Allocation RegionAllocator::take(std::uint64_t size_bytes, Supply& supply) {
  Region& region = *supply.current;
  const Allocation allocation{.offset = region.offset + region.used_bytes,
                              .size_bytes = size_bytes,
                              .remote_key = region.remote_key,
                              .incarnation = region.incarnation};
  region.used_bytes += size_bytes;
  ++region.unfinished;
  if (&supply == &general_) renew_eagerly();
  return allocation;
}

void RegionAllocator::renew_eagerly() {
  Region& region = *general_.current;
  const bool is_due = region.used_bytes * 100 >= geometry_.region_bytes * options_.renewal_percent;
  if (!is_due || region.renewed || requested_ || general_.next != nullptr ||
      region.incarnation <= wanted_back_) {
    return;
  }
  try {
    request(RegionNeed::ahead);
    region.renewed = true;
  } catch (const std::bad_alloc&) {
    // The next allocation tries again.
  }
}

void RegionAllocator::request(RegionNeed need) {
  prepare_for_grant();
  if (freed_bytes_ > 0) report_freed();
  messages_.push_back({.kind = MessageKind::request_region, .need = need});
  ++requests_;
  requested_ = need;
  on_message_();
}

void RegionAllocator::note_freed(std::uint64_t bytes) {
  freed_bytes_ += bytes;
  if (freed_bytes_ >= geometry_.region_bytes) report_freed();
}

void RegionAllocator::report_freed() {
  is_report_due_ = true;
  on_message_();
}

// Fibers that are about to take memory have priority.
void RegionAllocator::give_back_what_is_not_needed(Supply& supply) {
  if (supply.ongoing_allocations > 0) return;
  for (RegionPointer* region : {&supply.current, &supply.next}) {
    if (*region != nullptr && is_to_go_back(supply, **region)) retire(*region);
  }
}

bool RegionAllocator::is_to_go_back(const Supply& supply, const Region& region) const {
  const bool is_needed = &supply == &general_ || is_short_ || region.unfinished > 0;
  return !is_needed || region.incarnation <= wanted_back_;
}

void RegionAllocator::retire(RegionPointer& region) {
  if (region == nullptr) return;
  if (region->unfinished == 0 || !options_.release_after_completion) release(*region);
  if (region->unfinished > 0) retired_.push_back(std::move(region));
  region = nullptr;
}

void RegionAllocator::release(const Region& region) {
  messages_.push_back({.kind = MessageKind::release_region,
                       .region = region.index,
                       .incarnation = region.incarnation});
  on_message_();
}

// Neither the grant nor the release of a region may need memory: a grant belongs to no operation,
// and an operation that lacks memory must not have changed anything.
void RegionAllocator::prepare_for_grant() {
  const std::size_t most_regions = retired_.size() + most_held_regions;
  retired_.reserve(most_regions);
  messages_.reserve(messages_.size() + most_regions + 1);  // and the request
  if (unused_ == nullptr) unused_ = std::make_unique<Region>();
}

void RegionAllocator::finish(const Allocation& allocation) {
  Region& region = find(allocation.incarnation);
  FALAFEL_ASSERT(region.unfinished > 0, "region {} has no unfinished allocation", region.index);
  --region.unfinished;
  if (&region == general_.current.get()) return;
  if (&region == reserve_.current.get()) return give_back_what_is_not_needed(reserve_);
  if (region.unfinished > 0) return;
  if (options_.release_after_completion) release(region);
  std::erase_if(retired_, [&](const RegionPointer& retired) { return retired.get() == &region; });
}

void RegionAllocator::abandon(const Allocation& allocation) noexcept {
  try {
    abandoned_.push_back(allocation);
  } catch (const std::bad_alloc&) {
    // The region stays with this client until the connection ends.
  }
}

void RegionAllocator::finish_abandoned(std::uint64_t count) {
  for (; finished_abandoned_ < count; ++finished_abandoned_) {
    finish(abandoned_.front());
    abandoned_.pop_front();
  }
}

void RegionAllocator::give_back(const Allocation& allocation) {
  Region& region = find(allocation.incarnation);
  const std::uint64_t end = allocation.offset + allocation.size_bytes;
  if (end == region.offset + region.used_bytes) region.used_bytes -= allocation.size_bytes;
  finish(allocation);
}

RegionAllocator::Region& RegionAllocator::find(std::uint64_t incarnation) {
  for (const Supply* supply : {&general_, &reserve_}) {
    const RegionPointer& current = supply->current;
    if (current != nullptr && current->incarnation == incarnation) return *current;
  }
  const auto found = std::ranges::find_if(
      retired_, [&](const RegionPointer& region) { return region->incarnation == incarnation; });
  FALAFEL_ASSERT(found != retired_.end(), "no region was retired with incarnation {}", incarnation);
  return **found;
}

bool RegionAllocator::holds(std::uint64_t incarnation) const {
  const auto is_it = [&](const RegionPointer& region) {
    return region != nullptr && region->incarnation == incarnation;
  };
  return is_it(general_.current) || is_it(general_.next) || is_it(reserve_.current) ||
         is_it(reserve_.next) || std::ranges::any_of(retired_, is_it);
}

bool RegionAllocator::on_granted(const ControlMessage& grant) {
  if (!requested_ || grant.region >= geometry_.region_count || holds(grant.incarnation)) {
    return false;
  }
  Supply& supply = *requested_ == RegionNeed::overwrite ? reserve_ : general_;
  FALAFEL_ASSERT(supply.next == nullptr, "at most one region is requested ahead");
  requested_.reset();
  supply.next = std::move(unused_);
  *supply.next = {.offset = geometry_.region_offset(grant.region),
                  .index = grant.region,
                  .remote_key = grant.remote_key,
                  .incarnation = grant.incarnation};
  if (supply.ongoing_allocations == 0 && supply.current != nullptr) {
    host_.count(probes::region_renewed_eagerly);
  }
  if (&supply == &general_) {
    is_short_ = false;
    give_back_what_is_not_needed(reserve_);
  } else if (is_short_ && general_.next == nullptr) {
    request(RegionNeed::ahead);
  }
  give_back_what_is_not_needed(supply);
  changed_->notify_all();
  return true;
}

// The server may deny an early request although memory is left, so a fiber that waits requests
// again with the need "waiting".
bool RegionAllocator::on_denied() {
  if (!requested_) return false;
  if (*requested_ == RegionNeed::waiting) {
    general_.last_denied = requests_;
    is_short_ = true;
  }
  if (*requested_ == RegionNeed::overwrite) reserve_.last_denied = requests_;
  requested_.reset();
  changed_->notify_all();
  return true;
}

void RegionAllocator::on_wanted_back(const ControlMessage& question) {
  wanted_back_ = std::max(wanted_back_, question.incarnation);
  give_back_what_is_not_needed(general_);
  give_back_what_is_not_needed(reserve_);
}

void RegionAllocator::on_broken() {
  broken_ = true;
  changed_->notify_all();
}

std::optional<ControlMessage> RegionAllocator::take_message() {
  if (std::exchange(is_report_due_, false)) {  // before the request of a region
    freed_bytes_ = 0;
    return ControlMessage{.kind = MessageKind::report_freed};
  }
  if (messages_.empty()) return std::nullopt;
  const ControlMessage message = messages_.front();
  messages_.erase(messages_.begin());
  return message;
}

}  // namespace falafel::engine
