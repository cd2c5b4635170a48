// Memory windows: keys of their own for a part of a region, which requests in a send queue bind.
//
// The program sees a number that the fabric does not know: that of the window, with a tag in the
// lowest 8 bits, which each binding changes. Each binding has a key of its own in the fabric.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "fabric/fabric.h"
#include "simulated_verbs/object_of_program.h"

namespace falafel::simulated_verbs {

struct MemoryRegion;
struct ProtectionDomain;
struct QueuePair;

struct MemoryWindow : ibv_mw, ObjectOfProgram {
  MemoryWindow(ProtectionDomain& owner, ibv_mw_type wanted);
  ~MemoryWindow();
  MemoryWindow(const MemoryWindow&) = delete;
  MemoryWindow& operator=(const MemoryWindow&) = delete;

  // Posts a request that binds the window under this number. Returns 0 or an errno.
  int post_bind(QueuePair& queue_pair, const fabric::WorkRequest& work,
                const ibv_mw_bind_info& wanted, std::uint32_t number);
  bool is_bound_over(const MemoryRegion& other) const;

  ProtectionDomain& domain;

 private:
  bool is_bound() const;
  bool may_bind(const QueuePair& queue_pair, const ibv_mw_bind_info& wanted,
                std::uint32_t number) const;
  std::uint32_t add_binding(QueuePair& queue_pair, const ibv_mw_bind_info& wanted,
                            std::uint32_t number);

  std::uint32_t key_ = 0;  // of the fabric, of the newest binding; 0: none
  const MemoryRegion* region_ = nullptr;
};

// For the functions of a context.
ibv_mw* allocate_window(ibv_pd* pd, ibv_mw_type type);
int deallocate_window(ibv_mw* mw);
int bind_window(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);

}  // namespace falafel::simulated_verbs
