#include "tests/explorer/commands_fixture.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

namespace falafel::explorer::commands_test {
namespace {

// Two clients increment a word by READ and WRITE.
void count_without_atomics(check::World& world, bool is_judged) {
  std::shared_ptr<fabric::MemoryBlock> memory;
  world.name(0, fabric::word_bytes, "the counter");
  world.server("server", [&](fabric::Host& host) {
    check::MemoryServer server(host, 64);
    memory = server.memory();
    server.serve();
  });
  world.clients(2, [&](fabric::Host& host, std::uint32_t) {
    check::RemoteMemory counter(host, "server");
    counter.write(0, counter.read(0) + 1);
  });
  world.at_rest(
      [&] { world.check(!is_judged || check::word(memory, 0) == 2, "counter.lost-update"); });
  world.run();
}

}  // namespace

void lose_updates(check::World& world) { count_without_atomics(world, true); }
void lose_updates_unjudged(check::World& world) { count_without_atomics(world, false); }

void hold(check::World& world) {
  world.clients(2, [](fabric::Host& host, std::uint32_t) { host.yield(); });
  world.run();
}

void reach_nothing(check::World& world) {
  world.sometimes("never reached");
  hold(world);
}

void abort_always(check::World&) { std::abort(); }

Outcome run_main(std::vector<std::string> arguments, std::vector<const Program*> programs) {
  arguments.insert(arguments.begin(), "example");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.status = main(static_cast<int>(pointers.size()), pointers.data(), programs);
  outcome.output = testing::internal::GetCapturedStdout();
  outcome.errors = testing::internal::GetCapturedStderr();
  return outcome;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Outcome Commands::run(const check::Body& body, std::vector<std::string> arguments) const {
  const auto program = check::program("program", body);
  return run_main(std::move(arguments), {program.get()});
}

Outcome Commands::fuzz(const check::Body& body, const std::vector<std::string>& more) const {
  std::vector<std::string> arguments = {"fuzz", "--output", folder_};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const bool says_how_many = std::ranges::find(more, "--schedules") != more.end();
  if (!says_how_many) arguments.insert(arguments.end(), {"--schedules", "100"});
  return run(body, arguments);
}

nlohmann::json Commands::fuzz_json(const check::Body& body, std::vector<std::string> more) const {
  more.emplace_back("--json");
  return nlohmann::json::parse(fuzz(body, more).output);
}

std::string Commands::find_lost_update() const {
  const auto json = fuzz_json(lose_updates, {"--shrink-seconds", "0"});
  return json["violations"][0]["replay"];
}

}  // namespace falafel::explorer::commands_test
