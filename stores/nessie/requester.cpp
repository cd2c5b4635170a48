#include "stores/nessie/requester.h"

#include <utility>

namespace falafel::nessie {

Requester::Requester(fabric::Host& host, const Options& options)
    : host_(host), options_(options), layout_(options), client_(host.random(0)) {}

fabric::Result<std::unique_ptr<Requester>> Requester::create(fabric::Host& host,
                                                             fabric::ProtectionDomain& domain,
                                                             Node* own_node, std::uint64_t nodes,
                                                             const Options& options) {
  std::unique_ptr<Requester> requester(new Requester(host, options));
  if (auto opened = requester->open(domain, nodes); !opened) {
    return tl::unexpected(opened.error());
  }
  if (own_node == nullptr) return requester;
  requester->own_node_ = own_node->number();
  auto place = own_node->service().admit_local(requester->block_,
                                               requester->response_offset(own_node->number()));
  if (!place) {
    return fabric::make_error(
        fabric::ErrorCode::out_of_memory,
        "the own node has no slot left for requests; most_clients limits them");
  }
  requester->own_place_ = std::move(*place);
  return requester;
}

fabric::Result<void> Requester::open(fabric::ProtectionDomain& domain, std::uint64_t nodes) {
  request_offset_ = nodes * layout_.slot_bytes();
  auto block = host_.allocate_memory(request_offset_ + layout_.slot_bytes());
  if (!block) return tl::unexpected(block.error());
  auto responses = domain.register_memory(*block, 0, request_offset_,
                                          {.local_write = true, .remote_write = true});
  if (!responses) return tl::unexpected(responses.error());
  auto request = domain.register_memory(*block, request_offset_, layout_.slot_bytes(), {});
  if (!request) return tl::unexpected(request.error());
  block_ = std::move(*block);
  response_region_ = std::move(*responses);
  request_region_ = std::move(*request);
  for (std::uint64_t node = 0; node < nodes; ++node) {
    responses_.emplace_back(host_, block_, response_offset(node), options_);
  }
  return {};
}

ClientHello Requester::hello(std::uint64_t node) const {
  return {.client = client_,
          .response_offset = response_offset(node),
          .response_key = response_region_->remote_key()};
}

Bytes Requester::encode(Message& request) {
  request.sequence = ++sequence_;
  Bytes bytes = layout_.encode(request, options_.arrival);
  host_.spend(fabric::Work::copy, bytes.size());
  if (options_.arrival == Arrival::checksum) host_.spend(fabric::Work::checksum, bytes.size());
  return bytes;
}

tl::expected<Message, Fate> Requester::execute(std::uint64_t node, Connection& connection,
                                               Message request) {
  const Bytes bytes = encode(request);
  block_->write(request_offset_, bytes);
  const Fate fate =
      connection.write_message({.key = request_region_->local_key(), .offset = request_offset_},
                               bytes.size(), layout_.slot_bytes());
  if (fate != Fate::done) return tl::unexpected(fate);
  return wait_for_response(node, request.sequence);
}

tl::expected<Message, Fate> Requester::execute_locally(Message request) {
  store_message(*own_place_.region, own_place_.offset, encode(request), options_.arrival);
  return wait_for_response(own_node_, request.sequence);
}

// Responses to requests that timed out may still come.
tl::expected<Message, Fate> Requester::wait_for_response(std::uint64_t node,
                                                         std::uint32_t sequence) {
  const std::uint64_t now_ns = host_.now_ns();
  const std::uint64_t deadline_ns = options_.request_timeout_ns < fabric::never_ns - now_ns
                                        ? now_ns + options_.request_timeout_ns
                                        : fabric::never_ns;
  while (auto response = responses_[node].receive(deadline_ns)) {
    if (response->sequence == sequence) return std::move(*response);
  }
  ++timeouts_;
  return tl::unexpected(Fate::in_doubt);
}

std::uint64_t Requester::incomplete_looks() const {
  std::uint64_t looks = 0;
  for (const MessageSlot& slot : responses_) looks += slot.incomplete_looks();
  return looks;
}

}  // namespace falafel::nessie
