// Violates each rule separately and expects the error that names it. The conformance suite tests
// that each backend applies the rules.
#include "fabric/posting_rules.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace falafel::fabric {
namespace {

constexpr DeviceAttributes device{.atomic_capability = AtomicCapability::device,
                                  .mtu_bytes = 1024,
                                  .max_message_bytes = 1 << 20,
                                  .max_inline_bytes = 64,
                                  .max_queue_requests = 128,
                                  .max_completions = 256,
                                  .max_outstanding_reads_and_atomics = 16};

std::optional<ErrorCode> code_of(const Result<void>& result) {
  if (result) return std::nullopt;
  EXPECT_FALSE(result.error().detail.empty());
  return result.error().code;
}

QueuePairOptions over(Transport transport) {
  return {.transport = transport,
          .max_send_requests = 4,
          .max_receive_requests = 2,
          .max_inline_bytes = 32};
}

std::optional<ErrorCode> refusal(Transport transport, const WorkRequest& request,
                                 const DeviceAttributes& limits = device) {
  return code_of(check_request(request, over(transport), limits));
}

constexpr auto rc = Transport::reliable_connection;
constexpr auto uc = Transport::unreliable_connection;
constexpr auto ud = Transport::unreliable_datagram;
constexpr auto stream = Transport::message_stream;

TEST(PostingRules, TransportsDifferInTheirOpcodes) {
  const auto of = [](Opcode opcode) { return WorkRequest{.opcode = opcode, .length_bytes = 8}; };
  for (const Opcode opcode :
       {Opcode::read, Opcode::write, Opcode::compare_and_swap, Opcode::fetch_and_add, Opcode::send,
        Opcode::send_with_immediate, Opcode::write_with_immediate}) {
    const bool sends_data = is_write(opcode) || is_send(opcode);
    EXPECT_EQ(refusal(rc, of(opcode)), std::nullopt) << to_string(opcode);
    EXPECT_EQ(!refusal(uc, of(opcode)), sends_data) << to_string(opcode);
    EXPECT_EQ(!refusal(ud, of(opcode)), is_send(opcode)) << to_string(opcode);
    EXPECT_EQ(!refusal(stream, of(opcode)), opcode == Opcode::send) << to_string(opcode);
    EXPECT_EQ(refusal(rc, of(Opcode::receive)), ErrorCode::invalid_argument);
    EXPECT_EQ(refusal(rc, of(Opcode::receive_of_write)), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(refusal(uc, of(Opcode::read)), ErrorCode::unsupported);
  EXPECT_EQ(refusal(ud, of(Opcode::write)), ErrorCode::unsupported);
  EXPECT_EQ(refusal(stream, of(Opcode::read)), ErrorCode::unsupported);
  EXPECT_EQ(refusal(stream, of(Opcode::send_with_immediate)), ErrorCode::unsupported);
}

TEST(PostingRules, MessagesHaveALimit) {
  WorkRequest request{.opcode = Opcode::send, .length_bytes = 1 << 20};
  EXPECT_EQ(refusal(rc, request), std::nullopt);
  request.length_bytes += 1;
  EXPECT_EQ(refusal(rc, request), ErrorCode::invalid_argument);
  request.opcode = Opcode::read;
  EXPECT_EQ(refusal(rc, request), ErrorCode::invalid_argument);
  request = {.opcode = Opcode::send, .length_bytes = 1024};
  EXPECT_EQ(refusal(ud, request), std::nullopt);
  request.length_bytes += 1;
  EXPECT_EQ(refusal(ud, request), ErrorCode::unsupported);
}

TEST(PostingRules, AtomicsWorkOnAlignedWords) {
  for (const Opcode opcode : {Opcode::compare_and_swap, Opcode::fetch_and_add}) {
    WorkRequest request{.opcode = opcode, .length_bytes = 8, .remote = {.key = 1, .offset = 16}};
    EXPECT_EQ(refusal(rc, request), std::nullopt);
    DeviceAttributes without_atomics = device;
    without_atomics.atomic_capability = AtomicCapability::none;
    EXPECT_EQ(refusal(rc, request, without_atomics), ErrorCode::unsupported);
    request.remote.offset = 20;
    EXPECT_EQ(refusal(rc, request), ErrorCode::invalid_argument);
    request.remote.offset = 16;
    request.length_bytes = 4;
    EXPECT_EQ(refusal(rc, request), ErrorCode::invalid_argument);
  }
}

TEST(PostingRules, MaskedAtomicsNeedADeviceThatHasThem) {
  DeviceAttributes with_masks = device;
  with_masks.has_masked_atomics = true;
  for (const Opcode opcode : {Opcode::masked_compare_and_swap, Opcode::masked_fetch_and_add}) {
    WorkRequest request{.opcode = opcode, .length_bytes = 8, .remote = {.key = 1, .offset = 16}};
    EXPECT_EQ(refusal(rc, request), ErrorCode::unsupported);
    EXPECT_EQ(refusal(rc, request, with_masks), std::nullopt);
    EXPECT_EQ(refusal(uc, request, with_masks), ErrorCode::unsupported);
    request.remote.offset = 20;
    EXPECT_EQ(refusal(rc, request, with_masks), ErrorCode::invalid_argument);
    request.remote.offset = 16;
    request.length_bytes = 4;
    EXPECT_EQ(refusal(rc, request, with_masks), ErrorCode::invalid_argument);
  }
}

TEST(PostingRules, InlineIsForShortDataThatIsSent) {
  WorkRequest request{.opcode = Opcode::write, .inlined = true, .length_bytes = 32};
  EXPECT_EQ(refusal(rc, request), std::nullopt);
  request.length_bytes = 33;
  EXPECT_EQ(refusal(rc, request), ErrorCode::invalid_argument);
  request = {.opcode = Opcode::read, .inlined = true, .length_bytes = 8};
  EXPECT_EQ(refusal(rc, request), ErrorCode::invalid_argument);
  request = {.opcode = Opcode::fetch_and_add, .inlined = true, .length_bytes = 8};
  EXPECT_EQ(refusal(rc, request), ErrorCode::invalid_argument);
}

TEST(PostingRules, FencesNeedRequestsThatReturnData) {
  const WorkRequest request{.opcode = Opcode::send, .fenced = true, .length_bytes = 8};
  EXPECT_EQ(refusal(rc, request), std::nullopt);
  EXPECT_EQ(refusal(uc, request), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(ud, request), ErrorCode::invalid_argument);
}

TEST(PostingRules, ChainsNeedPlacesInAnOpenQueue) {
  const auto usable = [](auto...) { return LocalBuffer::usable; };
  const std::vector<WorkRequest> sends(3);
  const std::vector<ReceiveRequest> receives(2);
  const QueuePairOptions options = over(rc);
  const auto send = [&](const QueueOccupancy& queue) {
    return code_of(check_send_chain(sends, queue, options, device, usable));
  };
  const auto receive = [&](const QueueOccupancy& queue) {
    return code_of(check_receive_chain(receives, queue, options, usable));
  };
  EXPECT_EQ(send({.places_taken = 1}), std::nullopt);
  EXPECT_EQ(send({.places_taken = 2}), ErrorCode::queue_full);
  EXPECT_EQ(send({.is_closed = true}), ErrorCode::queue_pair_closed);
  EXPECT_EQ(receive({.places_taken = 0}), std::nullopt);
  EXPECT_EQ(receive({.places_taken = 1}), ErrorCode::queue_full);
  EXPECT_EQ(receive({.is_closed = true}), ErrorCode::queue_pair_closed);
}

struct Region {
  Access access;
  bool contains(std::uint64_t offset, std::uint64_t length_bytes) const {
    return offset + length_bytes <= 64;
  }
};

TEST(PostingRules, LocalBuffersLieInRegionsWithTheRightThatTheRequestNeeds) {
  const auto refusal_of = [](const Region* region, const WorkRequest& request) {
    return code_of(check_send_chain(
        {&request, 1}, {}, over(rc), device,
        [region](std::size_t, const MemoryAddress& local, std::uint64_t length, bool is_written) {
          return examine_local_buffer(region, local, length, is_written);
        }));
  };
  const Region constant{};
  const Region writable{.access = {.local_write = true}};
  const WorkRequest read{.opcode = Opcode::read, .length_bytes = 64};
  const WorkRequest write{.opcode = Opcode::write, .length_bytes = 64};
  const WorkRequest too_long{.opcode = Opcode::write, .length_bytes = 65};
  const WorkRequest empty{.opcode = Opcode::read};
  EXPECT_EQ(refusal_of(&writable, read), std::nullopt);
  EXPECT_EQ(refusal_of(&constant, write), std::nullopt);
  EXPECT_EQ(refusal_of(&constant, read), ErrorCode::access_denied);
  EXPECT_EQ(refusal_of(&writable, too_long), ErrorCode::out_of_bounds);
  EXPECT_EQ(refusal_of(nullptr, write), ErrorCode::access_denied);
  EXPECT_EQ(refusal_of(nullptr, empty), std::nullopt) << "no data needs no buffer";
}

TEST(PostingRules, ReceiveBuffersAreWritten) {
  const ReceiveRequest request{.length_bytes = 8};
  const auto refusal_of = [&](const Region& region) {
    return code_of(check_receive_chain(
        {&request, 1}, {}, over(rc),
        [&](std::size_t, const MemoryAddress& local, std::uint64_t length, bool is_written) {
          return examine_local_buffer(&region, local, length, is_written);
        }));
  };
  EXPECT_EQ(refusal_of({.access = {.local_write = true}}), std::nullopt);
  EXPECT_EQ(refusal_of({}), ErrorCode::access_denied);
}

TEST(PostingRules, QueuePairsKeepTheLimitsOfTheDevice) {
  const auto refusal_of = [](auto change) {
    QueuePairOptions options = over(rc);
    change(options);
    return code_of(check_limits(options, device));
  };
  EXPECT_EQ(refusal_of([](auto&) {}), std::nullopt);
  constexpr auto invalid = ErrorCode::invalid_argument;
  EXPECT_EQ(refusal_of([](auto& options) { options.max_send_requests = 0; }), invalid);
  EXPECT_EQ(refusal_of([](auto& options) { options.max_receive_requests = 129; }), invalid);
  EXPECT_EQ(refusal_of([](auto& options) { options.max_inline_bytes = 65; }), invalid);
  EXPECT_EQ(refusal_of([](auto& options) { options.max_outstanding_reads_and_atomics = 0; }),
            invalid);
  EXPECT_EQ(refusal_of([](auto& options) { options.receiver_not_ready_retry_count = 8; }), invalid);
}

TEST(PostingRules, DevicesMayLackTransports) {
  const auto refusal_of = [](Transport transport, const DeviceAttributes& limits) {
    return code_of(check_limits(over(transport), limits));
  };
  DeviceAttributes streams_only = device;
  streams_only.supports_reliable_connection = false;
  streams_only.supports_message_stream = true;
  EXPECT_EQ(refusal_of(stream, device), ErrorCode::unsupported);
  EXPECT_EQ(refusal_of(stream, streams_only), std::nullopt);
  EXPECT_EQ(refusal_of(rc, device), std::nullopt);
  EXPECT_EQ(refusal_of(rc, streams_only), ErrorCode::unsupported);
}

TEST(PostingRules, MessageStreamsLackSomeOptions) {
  DeviceAttributes with_streams = device;
  with_streams.supports_message_stream = true;
  QueuePairOptions options = over(stream);
  options.hears_close = true;
  EXPECT_EQ(code_of(check_limits(options, with_streams)), ErrorCode::invalid_argument);
  options.transport = rc;
  EXPECT_EQ(code_of(check_limits(options, with_streams)), std::nullopt);
  class NoReceiveQueue final : public SharedReceiveQueue {
    Result<void> post_receive(std::span<const ReceiveRequest> /*chain*/) override { return {}; }
  };
  NoReceiveQueue shared;
  for (const Transport transport : {rc, uc, ud, stream}) {
    options = over(transport);
    options.shared_receive_queue = &shared;
    const bool may_share = transport == rc || transport == uc;
    EXPECT_EQ(!code_of(check_limits(options, with_streams)), may_share) << to_string(transport);
  }
}

TEST(PostingRules, CompletionQueuesCannotOverflow) {
  class NoQueue final : public CompletionQueue {
    std::size_t poll(std::span<WorkCompletion> /*destination*/) override { return 0; }
    bool wait(std::uint64_t /*deadline_ns*/) override { return false; }
  };
  NoQueue shared;
  NoQueue other;
  QueuePairOptions options = over(rc);  // 4 sends, 2 receives
  options.send_completions = &shared;
  options.receive_completions = &other;
  EXPECT_EQ(code_of(check_free_entries(options, 4, 2)), std::nullopt);
  EXPECT_EQ(code_of(check_free_entries(options, 3, 2)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(check_free_entries(options, 4, 1)), ErrorCode::invalid_argument);
  options.receive_completions = &shared;
  EXPECT_EQ(code_of(check_free_entries(options, 6, 6)), std::nullopt);
  EXPECT_EQ(code_of(check_free_entries(options, 5, 5)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(check_completion_capacity(0, device)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(check_completion_capacity(256, device)), std::nullopt);
  EXPECT_EQ(code_of(check_completion_capacity(257, device)), ErrorCode::invalid_argument);
}

TEST(PostingRules, RemoteWritesNeedLocalWrites) {
  EXPECT_EQ(code_of(check_access({.remote_read = true})), std::nullopt);
  EXPECT_EQ(code_of(check_access({.remote_write = true})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(check_access({.remote_atomic = true})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(check_access({.local_write = true, .remote_write = true})), std::nullopt);
  EXPECT_EQ(code_of(check_private_data(PrivateData(max_private_data_bytes))), std::nullopt);
  EXPECT_EQ(code_of(check_private_data(PrivateData(max_private_data_bytes + 1))),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace falafel::fabric
