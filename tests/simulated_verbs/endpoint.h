// The beginning of nearly every verbs program: a device, memory, a queue pair and its connection.
// Only functions of libibverbs and of the C library, as in a program that knows no simulator.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "explorer/check/world.h"

namespace falafel::simulated_verbs {

constexpr unsigned all_rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
                                IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

// Peers tell each other this.
struct Card {
  std::uint16_t lid = 0;
  std::uint32_t qp_num = 0;
  std::uint32_t rkey = 0;
  std::uint64_t address = 0;
};

// The channel besides verbs: cards by name.
class Exchange {
 public:
  void offer(const std::string& name, const Card& card) { cards_[name] = card; }
  bool has(const std::string& name) const { return cards_.contains(name); }
  // Waits until the card has been offered.
  Card await(const std::string& name) const;

 private:
  std::map<std::string, Card> cards_;
};

class Endpoint;

struct EndpointOptions {
  const Endpoint* domain_of = nullptr;  // shares the context and the domain of this one
  ibv_qp_type type = IBV_QPT_RC;
  unsigned queue_pair_rights = all_rights;
  unsigned region_rights = all_rights;
  std::uint32_t max_send_wr = 16;
  std::uint32_t max_recv_wr = 16;
  std::uint32_t max_inline_data = 0;
  int cqe = 64;
  bool with_channel = false;
  bool with_shared_receives = false;
  bool wants_extended_queue = false;
  std::uint64_t operations = 0;  // of ibv_create_qp_ex; 0: ibv_create_qp
  std::uint8_t rnr_retry = 7;
  std::uint32_t sq_psn = 0;
  std::uint32_t rq_psn = 0;
  std::uint32_t qkey = 0x1234;
};

class Endpoint {
 public:
  static constexpr std::size_t buffer_bytes = 4096;

  explicit Endpoint(const EndpointOptions& options = {});

  Card card() const;
  // Each returns what ibv_modify_qp returned.
  int to_init();
  int to_rtr(const Card& peer);
  int to_rts();
  // From RESET to RTS.
  int connect(const Card& peer);

  // A request over `length` bytes of the buffer, from `offset` on. Signalled.
  ibv_send_wr request(ibv_wr_opcode opcode, std::uint64_t offset, std::uint32_t length);
  ibv_send_wr to_peer(ibv_wr_opcode opcode, std::uint64_t offset, std::uint32_t length,
                      const Card& peer, std::uint64_t peer_offset);
  int post(ibv_send_wr work);
  int post_receive(std::uint64_t id, std::uint64_t offset, std::uint32_t length);
  // Polls until there is a completion.
  ibv_wc complete() const;
  ibv_wc_status run(const ibv_send_wr& work);

  ibv_context* context;
  ibv_pd* pd;
  ibv_comp_channel* channel = nullptr;
  ibv_cq_ex* extended_cq = nullptr;
  ibv_cq* cq;
  ibv_srq* srq = nullptr;
  std::uint64_t* buffer;
  ibv_mr* mr;
  ibv_qp* qp = nullptr;
  EndpointOptions options;

 private:
  ibv_sge entry_{};
};

// The last state of the word at an offset, for judging a run that is over.
std::uint64_t word_at(const Card& card, std::uint64_t offset);

}  // namespace falafel::simulated_verbs
