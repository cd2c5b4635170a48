// One session of the side that serves: memory, regions and connections under test, and what the
// other side asks to be done with them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "tools/command_line/acceptance/protocol.h"

namespace falafel::acceptance {

fabric::Access access_of(std::uint64_t rights);

class Session {
 public:
  // `number`: that the connections under test name.
  static fabric::Result<std::unique_ptr<Session>> create(fabric::Host& host, std::uint64_t number);

  std::uint64_t number() const { return number_; }
  // Rejects a request that it cannot accept.
  void accept(fabric::ConnectionRequest& request, const LinkHello& hello);
  // Does what concerns this session alone; nullopt: the task belongs to the whole side.
  std::optional<Reply> perform(const Command& command);

 private:
  struct Link {
    std::unique_ptr<fabric::CompletionQueue> sends;
    std::unique_ptr<fabric::CompletionQueue> receives;
    std::unique_ptr<fabric::QueuePair> queue_pair;
  };

  Session(fabric::Host& host, std::uint64_t number) : host_(host), number_(number) {}
  std::optional<std::string> problem_of(const Command& command) const;
  std::optional<Reply> perform_on_memory(const Command& command);
  std::optional<Reply> perform_on_region(const Command& command);
  std::optional<Reply> perform_on_link(const Command& command);
  std::optional<Reply> observe(const Command& command);
  Reply post_receive(Link& link, const Command& command);
  Reply await_receive(Link& link) const;
  Reply register_region(const Command& command);

  fabric::Host& host_;
  std::uint64_t number_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::shared_ptr<fabric::MemoryBlock> memory_;
  std::vector<std::unique_ptr<fabric::MemoryRegion>> regions_;
  std::vector<Link> links_;
};

Reply refusal(std::string_view reason);

}  // namespace falafel::acceptance
