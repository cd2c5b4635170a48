// A server of the replicated registers. It registers its memory, accepts connections, and has no
// other work: clients do everything by READ, WRITE and compare-and-swap.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "fabric/fabric.h"
#include "stores/replicated/options.h"

namespace falafel::replicated {

class Server {
 public:
  // `incarnation` is a number that no other server has, and that this one will not have when it
  // starts again. Whoever decides which servers belong together chooses it, and tells it to the
  // clients. The server accepts in a daemon fiber until it is destroyed.
  static fabric::Result<std::unique_ptr<Server>> start(fabric::Host& host,
                                                       std::uint64_t incarnation,
                                                       const Options& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::shared_ptr<fabric::MemoryBlock> memory() const;

 private:
  struct State;
  explicit Server(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace falafel::replicated
