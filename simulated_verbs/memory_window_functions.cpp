// Allocating, binding and deallocating memory windows.
#include <cerrno>
#include <memory>

#include "fabric/sim/existing_programs.h"
#include "fabric/sim/memory_windows.h"
#include "simulated_verbs/errors.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/memory_window.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/subnet.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

constexpr std::uint32_t tag_mask = 0xff;

bool is_within(const ibv_mw_bind_info& wanted, const Registration& registration) {
  const std::uint64_t skipped = wanted.addr - registration.first_address;
  return skipped <= registration.length_bytes &&
         wanted.length <= registration.length_bytes - skipped;
}

}  // namespace

MemoryWindow::MemoryWindow(ProtectionDomain& owner, ibv_mw_type wanted) : ibv_mw{}, domain(owner) {
  context = owner.context;
  pd = &owner;
  type = wanted;
  rkey = owner.owner.process.subnet().next_window_number();
  ++domain.users;
}

MemoryWindow::~MemoryWindow() {
  if (key_ != 0) sim::end_window(domain.owner.process.host(), key_);
  --domain.users;
}

bool MemoryWindow::is_bound() const {
  return key_ != 0 && sim::is_bound(domain.owner.process.host(), key_);
}

bool MemoryWindow::is_bound_over(const MemoryRegion& other) const {
  return region_ == &other && is_bound();
}

// The device finds these when the turn of the request comes (9.11, 10.6.7).
bool MemoryWindow::may_bind(const QueuePair& queue_pair, const ibv_mw_bind_info& wanted,
                            std::uint32_t number) const {
  if (&queue_pair.domain != &domain) return false;
  const bool has_wrong_number = (number & ~tag_mask) != (rkey & ~tag_mask) || number == rkey;
  if (type == IBV_MW_TYPE_2 && has_wrong_number) return false;
  if (wanted.length == 0) return true;
  const Registration& registration = static_cast<const MemoryRegion*>(wanted.mr)->registration;
  if (registration.domain != &domain || !is_within(wanted, registration)) return false;
  if ((registration.rights & IBV_ACCESS_MW_BIND) == 0) return false;
  if ((registration.rights & IBV_ACCESS_ZERO_BASED) != 0) return false;
  const bool may_change =
      (wanted.mw_access_flags & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  return !may_change || (registration.rights & IBV_ACCESS_LOCAL_WRITE) != 0;
}

std::uint32_t MemoryWindow::add_binding(QueuePair& queue_pair, const ibv_mw_bind_info& wanted,
                                        std::uint32_t number) {
  const auto& region = *static_cast<const MemoryRegion*>(wanted.mr);
  const std::uint64_t offset = wanted.addr - region.base();
  const std::uint32_t key =
      sim::add_window(*queue_pair.pair, {.region = region.region.get(),
                                         .offset = offset,
                                         .length_bytes = wanted.length,
                                         .access = access_of(wanted.mw_access_flags),
                                         .is_of_queue_pair = type == IBV_MW_TYPE_2});
  const bool is_zero_based = (wanted.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0;
  queue_pair.process.subnet().note_window(number, key, is_zero_based ? 0 - offset : region.base());
  return key;
}

int MemoryWindow::post_bind(QueuePair& queue_pair, const fabric::WorkRequest& work,
                            const ibv_mw_bind_info& wanted, std::uint32_t number) {
  if (!may_bind(queue_pair, wanted, number)) {
    const auto posted =
        sim::post_faulty(*queue_pair.pair, work, fabric::CompletionStatus::window_error);
    return posted ? 0 : errno_of(posted.error());
  }
  const std::uint32_t key = wanted.length == 0 ? 0 : add_binding(queue_pair, wanted, number);
  const auto posted = sim::post_bind(*queue_pair.pair, work, key, key_);
  if (!posted) return errno_of(posted.error());
  key_ = key;
  region_ = wanted.length == 0 ? nullptr : static_cast<const MemoryRegion*>(wanted.mr);
  rkey = number;
  return 0;
}

ibv_mw* allocate_window(ibv_pd* pd, ibv_mw_type type) {
  const LibraryCall call("ibv_alloc_mw");
  if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) return fail_with(EINVAL);
  return call.process().verbs().memory_windows.add(
      std::make_unique<MemoryWindow>(wrapper_of(pd), type));
}

// Once it has returned, no peer uses the window.
int deallocate_window(ibv_mw* mw) {
  const LibraryCall call("ibv_dealloc_mw");
  call.let_others_go_on();
  VerbsObjects& objects = call.process().verbs();
  objects.memory_windows.remove(static_cast<MemoryWindow*>(mw));
  objects.receive_what_lands();
  return 0;
}

int bind_window(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) {
  const LibraryCall call("ibv_bind_mw");
  call.let_others_go_on();
  return wrapper_of(qp).post_bind(*mw, *bind);
}

}  // namespace falafel::simulated_verbs
