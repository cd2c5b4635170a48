#include "checkers/silence.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fabric/fabric.h"

namespace falafel::checkers {
namespace {

// A server that looks later than it planned by this part of the time-out was stalled.
constexpr std::uint64_t lateness_divisor = 5;
// The part of a time-out that a server may take longer than it should.
constexpr std::uint64_t tolerance_divisor = 2;
// The server reads a limited number of messages at a time. After this number, it has read all.
constexpr std::uint32_t readings_of_a_message = 8;
constexpr std::uint64_t timeouts_for_end = 3;

}  // namespace

void Silence::on_connected(std::uint32_t client, bool is_hostile, std::uint64_t time_ns) {
  clients_[client] = {.is_hostile = is_hostile,
                      .connected_ns = time_ns,
                      .arrived_ns = time_ns,
                      .heard_from_ns = time_ns,
                      .heard_until_ns = time_ns};
}

void Silence::on_message(std::uint32_t client, std::uint64_t time_ns) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  found->second.arrived_ns = time_ns;
  found->second.readings_left = readings_of_a_message;
}

void Silence::on_asked(std::uint32_t client, ServerQuestion question, std::uint64_t first_ns,
                       std::uint64_t last_ns) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  found->second.questions[static_cast<std::size_t>(question)] = {first_ns, last_ns};
}

void Silence::on_answered(std::uint32_t client, ServerQuestion question) {
  const auto found = clients_.find(client);
  if (found != clients_.end()) found->second.questions[static_cast<std::size_t>(question)].reset();
}

void Silence::on_server_died() {
  clients_.clear();
  last_look_ns_.reset();
  surely_excused_until_ns_ = 0;
  perhaps_excused_until_ns_ = 0;
}

void Silence::on_messages_read(std::uint64_t time_ns) {
  for (auto& [number, client] : clients_) {
    if (client.readings_left == 0) continue;
    client.heard_until_ns = time_ns;
    --client.readings_left;
  }
}

std::uint64_t Silence::timeouts_of(std::size_t question) {
  return question == static_cast<std::size_t>(ServerQuestion::end) ? timeouts_for_end : 1;
}

// At its last look, the server planned to look again at this time or earlier.
std::uint64_t Silence::latest_plan_ns() const {
  std::uint64_t latest_ns = fabric::never_ns;
  for (const auto& [number, client] : clients_) {
    if (client.connected_ns >= *last_look_ns_) continue;
    latest_ns = std::min(latest_ns,
                         std::max(client.heard_until_ns + timeout_ns_, perhaps_excused_until_ns_));
  }
  return latest_ns;
}

std::uint64_t Silence::latest_deadline_ns(const Client& client) const {
  std::uint64_t latest_ns =
      client.readings_left > 0 ? fabric::never_ns : client.heard_until_ns + timeout_ns_;
  for (std::size_t index = 0; index < client.questions.size(); ++index) {
    const std::optional<Asked>& asked = client.questions[index];
    if (asked) latest_ns = std::min(latest_ns, asked->last_ns + timeouts_of(index) * timeout_ns_);
  }
  return std::max(latest_ns, perhaps_excused_until_ns_);
}

// Before its first look, the server may have been stalled, too.
void Silence::on_look(std::uint64_t time_ns, std::uint64_t step) {
  const std::uint64_t lateness_ns = timeout_ns_ / lateness_divisor;
  if (!last_look_ns_ || time_ns - *last_look_ns_ > waited_ns_ + lateness_ns) {
    const std::uint64_t plan_ns = last_look_ns_ ? latest_plan_ns() : fabric::never_ns;
    const bool is_late = plan_ns != fabric::never_ns && time_ns > plan_ns + lateness_ns;
    if (is_late) surely_excused_until_ns_ = time_ns + timeout_ns_;
    perhaps_excused_until_ns_ = time_ns + timeout_ns_;
  }
  last_look_ns_ = time_ns;
  waited_ns_ = 0;
  for (auto& [number, client] : clients_) {
    client.heard_from_ns = client.arrived_ns;
    if (client.readings_left > 0) client.heard_until_ns = time_ns;  // a look reads messages, too
    const std::uint64_t deadline_ns = latest_deadline_ns(client);
    if (deadline_ns == fabric::never_ns) continue;
    if (time_ns <= deadline_ns + timeout_ns_ / tolerance_divisor) continue;
    fail("silence.not-fenced",
         fmt::format("step {}: at {} ns, the client with queue pair {} of the server is connected, "
                     "but the server should have fenced it by {} ns, because it was silent or "
                     "has not answered; the time-out is {} ns",
                     step, time_ns, number, deadline_ns, timeout_ns_),
         step);
  }
}

void Silence::on_fenced(std::uint32_t number, std::uint64_t time_ns, std::uint64_t asked_ns,
                        std::uint64_t step) {
  const auto found = clients_.find(number);
  if (found == clients_.end()) return;
  const Client client = found->second;
  clients_.erase(found);
  if (client.is_hostile) return;
  std::uint64_t deadline_ns = client.heard_from_ns + timeout_ns_;
  for (std::size_t index = 0; index < client.questions.size(); ++index) {
    const std::optional<Asked>& asked = client.questions[index];
    if (asked)
      deadline_ns = std::min(deadline_ns, asked->first_ns + timeouts_of(index) * timeout_ns_);
  }
  if (asked_ns != fabric::never_ns) deadline_ns = std::min(deadline_ns, asked_ns + timeout_ns_);
  const bool is_excused = time_ns < surely_excused_until_ns_;
  if (time_ns >= deadline_ns && !is_excused) return;
  fail("silence.fenced-early",
       fmt::format("step {}: at {} ns, the server fenced the client with queue pair {} of the "
                   "server, whose last message arrived at {} ns, but {} {} ns; the time-out is "
                   "{} ns",
                   step, time_ns, number, client.heard_from_ns,
                   is_excused ? "the server was stalled, so it excuses its clients until"
                              : "the client may be silent until",
                   is_excused ? surely_excused_until_ns_ : deadline_ns, timeout_ns_),
       step);
}

void Silence::fail(std::string property, std::string explanation, std::uint64_t step) {
  if (judgement_.verdict != Verdict::holds) return;
  judgement_ = {.verdict = Verdict::violated,
                .property = std::move(property),
                .explanation = std::move(explanation),
                .step = step};
}

}  // namespace falafel::checkers
