#include "tools/benchmarks/figures/card_cost.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "fabric/assert.h"
#include "tools/benchmarks/figures/card_run.h"
#include "tools/benchmarks/figures/card_side.h"

namespace falafel::figures {
namespace {

constexpr std::uint16_t service = 1;
constexpr std::uint64_t clients_connect_ns = 1'000;
constexpr std::uint64_t clients_begin_ns = 10'000'000;  // all are connected by then

class CardMeasurement {
 public:
  CardMeasurement(const sim::timing::Profile& profile, const CardLoad& load)
      : profile_(profile), load_(load) {}

  CardCost run() {
    CardCost cost;
    cost.run = run_on_card(
        profile_,
        {.clients = load_.clients,
         .machines = load_.machines,
         .seed = load_.seed,
         .serve = [this](fabric::Host& host) { serve(host); },
         .use = [this](fabric::Host& host, std::uint32_t client) { measure(host, client); }});
    const auto requests = static_cast<double>(load_.requests * load_.clients);
    cost.latency_ns = static_cast<double>(latency_sum_ns_) / requests;
    cost.requests_per_second = requests * 1e9 / static_cast<double>(end_ns_ - clients_begin_ns);
    return cost;
  }

 private:
  std::uint64_t stride_bytes() const {
    return (load_.length_bytes + fabric::word_bytes - 1) / fabric::word_bytes * fabric::word_bytes;
  }

  void serve(fabric::Host& host) {
    const CardSide side(
        host, stride_bytes() * load_.clients, 2 * load_.clients,
        {.local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true});
    const auto listener = host.device(0).listen(service).value();
    const std::uint32_t key = side.region->remote_key();
    fabric::PrivateData reply(sizeof key);
    std::memcpy(reply.data(), &key, sizeof key);
    std::vector<std::unique_ptr<fabric::QueuePair>> connected;
    while (connected.size() < load_.clients) {
      const auto request = listener->accept(fabric::never_ns);
      connected.push_back(
          request->accept(side.options({.sends = 1, .receives = 1}), reply).value());
    }
    while (finished_clients_ < load_.clients) {
      host.sleep_until(host.now_ns() + clients_begin_ns);
    }
  }

  void measure(fabric::Host& host, std::uint32_t client) {
    host.sleep_until(clients_connect_ns);
    const CardSide side(host, stride_bytes(), load_.in_flight + 1, {.local_write = true});
    const auto connection =
        host.device(0)
            .connect({"server", service}, side.options({.sends = load_.in_flight, .receives = 1}),
                     {}, fabric::never_ns)
            .value();
    fabric::WorkRequest request;
    request.opcode = load_.opcode;
    request.length_bytes = load_.length_bytes;
    request.local = {side.region->local_key(), 0};
    std::memcpy(&request.remote.key, connection.private_data.data(), sizeof request.remote.key);
    request.remote.offset = load_.same_word ? 0 : client * stride_bytes();
    request.swap_or_add = 1;
    host.sleep_until(clients_begin_ns);
    repeat(host, side, *connection.queue_pair, request);
    end_ns_ = std::max(end_ns_, host.now_ns());
    ++finished_clients_;
  }

  // Keeps `in_flight` requests in flight. Their ids are the times at which they were posted.
  void repeat(fabric::Host& host, const CardSide& side, fabric::QueuePair& queue_pair,
              fabric::WorkRequest request) {
    std::uint64_t posted = 0;
    const auto post = [&] {
      request.id = host.now_ns();
      const auto result = queue_pair.post_send({&request, 1});
      FALAFEL_ASSERT(result.has_value(), "{}", result.error().detail);
      ++posted;
    };
    while (posted < std::min<std::uint64_t>(load_.in_flight, load_.requests)) post();
    std::vector<fabric::WorkCompletion> completions(load_.in_flight);
    for (std::uint64_t done = 0; done < load_.requests;) {
      side.completions->wait(fabric::never_ns);
      const std::size_t count = side.completions->poll(completions);
      for (std::size_t index = 0; index < count; ++index) {
        FALAFEL_ASSERT(completions[index].status == fabric::CompletionStatus::success, "{}",
                       to_string(completions[index].status));
        latency_sum_ns_ += host.now_ns() - completions[index].id;
      }
      done += count;
      for (std::size_t index = 0; index < count && posted < load_.requests; ++index) post();
    }
  }

  const sim::timing::Profile& profile_;
  const CardLoad& load_;
  std::uint64_t latency_sum_ns_ = 0;
  std::uint64_t end_ns_ = clients_begin_ns;
  std::uint32_t finished_clients_ = 0;
};

}  // namespace

CardCost measure_card(const sim::timing::Profile& profile, const CardLoad& load) {
  return CardMeasurement(profile, load).run();
}

}  // namespace falafel::figures
