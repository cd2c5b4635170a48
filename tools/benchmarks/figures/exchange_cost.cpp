#include "tools/benchmarks/figures/exchange_cost.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "fabric/assert.h"
#include "tools/benchmarks/figures/card_run.h"
#include "tools/benchmarks/figures/card_side.h"

namespace falafel::figures {
namespace {

constexpr std::uint16_t exchange_service = 1;
constexpr std::uint64_t server_listens_ns = 1'000;
constexpr std::uint64_t exchanges_begin_ns = 10'000'000;  // all clients are connected by then

// One message of each kind at a time, over one connection.
class MessageEnd {
 public:
  // `number`: of the connection among those with the same completion queue.
  MessageEnd(std::unique_ptr<fabric::QueuePair> queue_pair, const CardSide& side,
             std::uint32_t number, std::uint32_t most_bytes)
      : queue_pair_(std::move(queue_pair)), side_(side), number_(number), most_bytes_(most_bytes) {}

  void expect_message() {
    const fabric::ReceiveRequest request{
        .id = number_, .local = {side_.region->local_key(), place(0)}, .length_bytes = most_bytes_};
    require(queue_pair_->post_receive({&request, 1}));
  }
  void send(std::uint32_t length_bytes) {
    fabric::WorkRequest request;
    request.id = number_;
    request.opcode = fabric::Opcode::send;
    request.length_bytes = length_bytes;
    request.local = {side_.region->local_key(), place(1)};
    require(queue_pair_->post_send({&request, 1}));
  }

 private:
  static void require(const fabric::Result<void>& result) {
    FALAFEL_ASSERT(result.has_value(), "{}", result.error().detail);
  }
  std::uint64_t place(std::uint64_t buffer) const {
    return (2 * std::uint64_t{number_} + buffer) * most_bytes_;
  }

  std::unique_ptr<fabric::QueuePair> queue_pair_;
  const CardSide& side_;
  std::uint32_t number_;
  std::uint32_t most_bytes_;
};

class ExchangeMeasurement {
 public:
  ExchangeMeasurement(const sim::timing::Profile& profile, const ExchangeLoad& load)
      : profile_(profile), load_(load) {}

  ExchangeCost run() {
    const auto serve_as_daemon = [this](fabric::Host& host) {
      host.spawn({.name = "server", .daemon = true}, [this, &host] { serve(host); });
    };
    run_on_card(profile_, {.clients = load_.clients,
                           .machines = load_.machines,
                           .seed = load_.seed,
                           .serve = serve_as_daemon,
                           .use = [this](fabric::Host& host, std::uint32_t) { exchange(host); }});
    const auto exchanges = static_cast<double>(load_.exchanges * load_.clients);
    return {.latency_ns = static_cast<double>(latency_sum_ns_) / exchanges,
            .exchanges_per_second =
                exchanges * 1e9 / static_cast<double>(end_ns_ - exchanges_begin_ns)};
  }

 private:
  std::uint32_t most_bytes() const { return std::max(load_.request_bytes, load_.reply_bytes); }

  // Either side may send the next message before it has polled the completion of the last one.
  static constexpr RequestLimits limits{.sends = 2, .receives = 1};
  static constexpr std::uint32_t completions = limits.sends + limits.receives;

  static fabric::WorkCompletion take_completion(const CardSide& side) {
    std::array<fabric::WorkCompletion, 1> completion{};
    while (side.completions->poll(completion) == 0) side.completions->wait(fabric::never_ns);
    return completion[0];
  }

  static void await_reply(const CardSide& side) {
    fabric::WorkCompletion completion;
    do {
      completion = take_completion(side);
      FALAFEL_ASSERT(completion.status == fabric::CompletionStatus::success, "{}",
                     to_string(completion.status));
    } while (!is_receive(completion.opcode));
  }

  void serve(fabric::Host& host) {
    const CardSide side(host, 2 * std::uint64_t{most_bytes()} * load_.clients,
                        completions * load_.clients, {.local_write = true});
    const auto listener = host.device(0).listen(exchange_service).value();
    std::vector<MessageEnd> ends;
    while (ends.size() < load_.clients) {
      const auto request = listener->accept(fabric::never_ns);
      ends.emplace_back(request->accept(side.options(limits, load_.transport), {}).value(), side,
                        static_cast<std::uint32_t>(ends.size()), most_bytes());
      ends.back().expect_message();
    }
    for (;;) {
      const fabric::WorkCompletion completion = take_completion(side);
      // A client that has finished closes its end.
      const bool is_request =
          is_receive(completion.opcode) && completion.status == fabric::CompletionStatus::success;
      if (!is_request) continue;
      MessageEnd& end = ends[completion.id];
      end.expect_message();
      end.send(load_.reply_bytes);
    }
  }

  void exchange(fabric::Host& host) {
    host.sleep_until(server_listens_ns);
    const CardSide side(host, 2 * std::uint64_t{most_bytes()}, completions, {.local_write = true});
    auto connection = host.device(0)
                          .connect({"server", exchange_service},
                                   side.options(limits, load_.transport), {}, fabric::never_ns)
                          .value();
    MessageEnd end(std::move(connection.queue_pair), side, 0, most_bytes());
    host.sleep_until(exchanges_begin_ns);
    for (std::uint64_t count = 0; count < load_.exchanges; ++count) {
      const std::uint64_t begin_ns = host.now_ns();
      end.expect_message();
      end.send(load_.request_bytes);
      await_reply(side);
      latency_sum_ns_ += host.now_ns() - begin_ns;
    }
    end_ns_ = std::max(end_ns_, host.now_ns());
  }

  const sim::timing::Profile& profile_;
  const ExchangeLoad& load_;
  std::uint64_t latency_sum_ns_ = 0;
  std::uint64_t end_ns_ = exchanges_begin_ns;
};

}  // namespace

ExchangeCost measure_exchanges(const sim::timing::Profile& profile, const ExchangeLoad& load) {
  return ExchangeMeasurement(profile, load).run();
}

}  // namespace falafel::figures
