#include "fabric/verbs/detection.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

#include "fabric/fabric.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/host.h"
#include "fabric/verbs/queue_pair.h"

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

// Any number of packets; nobody receives them.
constexpr std::uint32_t first_packet = 1;

class Measurement {
 public:
  Measurement(fabric::Host& host, std::uint64_t patience_ns)
      : host_(host),
        device_(dynamic_cast<Device&>(host.device(0))),
        patience_ns_(patience_ns),
        domain_(device_.create_protection_domain()) {}

  Result<Detection> run() {
    auto completions = device_.create_completion_queue(4);
    if (!completions) return tl::unexpected(completions.error());
    const fabric::QueuePairOptions options{.protection_domain = domain_.get(),
                                           .send_completions = completions->get(),
                                           .receive_completions = completions->get(),
                                           .max_send_requests = 1,
                                           .max_receive_requests = 1};
    const auto silent = device_.create_queue_pair(options);
    if (!silent) return tl::unexpected(silent.error());
    const auto requester = device_.create_queue_pair(options);
    if (!requester) return tl::unexpected(requester.error());
    const Result<void> joined = (*requester)->join(route_to(device_.describe(**silent, options)));
    if (!joined) return tl::unexpected(joined.error());
    const auto word = allocate_word();
    if (!word) return tl::unexpected(word.error());
    return measure(**requester, **completions, **word);
  }

 private:
  // To the other queue pair, which stays as it was created and so receives nothing.
  static Route route_to(const HandshakeBody& peer) {
    return {.queue_pair_number = peer.queue_pair_number,
            .first_sent_packet = first_packet,
            .first_received_packet = first_packet,
            .gid = peer.gid,
            .local_identifier = peer.local_identifier,
            .mtu_bytes = peer.mtu_bytes};
  }

  Result<std::unique_ptr<fabric::MemoryRegion>> allocate_word() {
    auto block = host_.allocate_memory(fabric::word_bytes);
    if (!block) return tl::unexpected(block.error());
    return domain_->register_memory(std::move(*block), 0, fabric::word_bytes,
                                    fabric::Access{.local_write = true});
  }

  Result<Detection> measure(QueuePair& requester, fabric::CompletionQueue& completions,
                            const fabric::MemoryRegion& word) {
    const std::uint64_t begin_ns = host_.now_ns();
    const fabric::WorkRequest request{.opcode = fabric::Opcode::read,
                                      .length_bytes = fabric::word_bytes,
                                      .local = {.key = word.local_key()}};
    if (Result<void> posted = requester.post_send({&request, 1}); !posted) {
      return tl::unexpected(posted.error());
    }
    std::array<fabric::WorkCompletion, 1> completion{};
    while (completions.poll(completion) == 0) {
      if (!completions.wait(begin_ns + patience_ns_)) {
        return make_error(
            ErrorCode::unreachable,
            fmt::format("the device has not noticed within {} s that its peer is gone",
                        static_cast<double>(patience_ns_) / 1e9));
      }
    }
    return Detection{.took_ns = host_.now_ns() - begin_ns, .status = completion[0].status};
  }

  fabric::Host& host_;
  Device& device_;
  std::uint64_t patience_ns_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
};

double seconds(std::uint64_t time_ns) { return static_cast<double>(time_ns) / 1e9; }

// Twice the measurement, as the bound is twice the longest published one. Whole seconds.
double recommended_seconds(std::uint64_t measured_ns) {
  return std::ceil(2 * seconds(measured_ns));
}

}  // namespace

Result<Detection> measure_detection(const DeviceOptions& options, std::uint64_t patience_ns) {
  // The address decides nothing if the device and the port have names.
  auto host = Host::create({.name = "127.0.0.1", .devices = {options}});
  if (!host) return tl::unexpected(host.error());
  Result<Detection> measured = Detection{};
  (*host)->run_program([&] { measured = Measurement(**host, patience_ns).run(); });
  return measured;
}

Finding judge_detection(const std::string& subject, const Result<Detection>& measured,
                        std::uint64_t bound_ns) {
  Finding finding{.grade = Grade::problem, .subject = subject, .fact = {}};
  if (!measured) {
    finding.fact = fmt::format("cannot be measured: {}", measured.error().detail);
    finding.remedy =
        "check the port's state; a device that never gives up on a peer cannot be used";
    return finding;
  }
  if (measured->status != fabric::CompletionStatus::retry_exceeded) {
    finding.fact = fmt::format(
        "a request to a silent peer ended after {:.2f} s with '{}' instead of "
        "'{}'",
        seconds(measured->took_ns), to_string(measured->status),
        to_string(fabric::CompletionStatus::retry_exceeded));
    finding.remedy = "check `dmesg`, and measure again";
    return finding;
  }
  finding.fact = fmt::format(
      "gives up on a silent peer after {:.2f} s ({}); the store expects {} s "
      "at most",
      seconds(measured->took_ns), to_string(measured->status), seconds(bound_ns));
  if (measured->took_ns <= bound_ns) {
    finding.grade = Grade::good;
    return finding;
  }
  const double longer = recommended_seconds(measured->took_ns);
  finding.remedy = fmt::format(
      "pass --detection {0} (twice as long) to `falafel members --set`, and choose a "
      "--client-timeout "
      "of `falafel serve` and a server_timeout_ns of clients that are longer than {0} s",
      longer);
  return finding;
}

}  // namespace falafel::verbs
