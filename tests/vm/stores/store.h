// The comparison stores on real RDMA, for tests in virtual machines: each store's server, and its
// clients with random operations.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checkers/judgement.h"
#include "fabric/fabric.h"
#include "fabric/time_units.h"
#include "stores/nessie/options.h"
#include "stores/pilaf/options.h"
#include "tests/stores/load/any_client.h"
#include "tests/stores/load/shared_history.h"

namespace falafel::vm_stores {

using stores_test::AnyClient;
using stores_test::millisecond_ns;

using fabric::second_ns;

struct Settings {
  std::string store = "pilaf";
  std::string name;                // of this host
  std::string server = "server";   // of the server's host
  std::uint16_t service = 2'200;   // a connection to the number before it stops the server
  std::uint32_t clients = 3;       // all of them in one process, each with its thread and host
  std::uint32_t operations = 100;  // of each client
  std::uint32_t keys = 8;
};

// Sentences; empty if all is well.
using Problems = std::vector<std::string>;

// Its functions run in several threads.
class Store {
 public:
  virtual ~Store() = default;

  // Serves while the body runs, and judges the memory afterwards.
  virtual Problems serve(fabric::Host& host, const std::function<Problems()>& body) = 0;
  // Connects a client and has the body use it. Numbers start with 0.
  virtual Problems work(fabric::Host& host, std::uint32_t number,
                        const std::function<void(AnyClient&&)>& body) = 0;

  // Returns whether the answer to a DELETE tells if there was a value. Without it, the clients do
  // not delete.
  virtual bool says_if_deleted() const { return true; }
  // Answers besides found, not_found, stored and deleted.
  virtual std::set<stores::Answer> other_answers() const { return {}; }
  virtual checkers::Judgement judge(const stores_test::SharedHistory& history) const {
    return history.judge();
  }
};

std::unique_ptr<Store> make_pilaf(const Settings& settings, pilaf::GetPath gets);
std::unique_ptr<Store> make_nessie(const Settings& settings, nessie::Architecture architecture);
std::unique_ptr<Store> make_c_hint(const Settings& settings);
std::unique_ptr<Store> make_race(const Settings& settings);
std::unique_ptr<Store> make_swarm(const Settings& settings);
std::unique_ptr<Store> make_two_sided(const Settings& settings, fabric::Transport transport);

// Null if there is no store of this name.
std::unique_ptr<Store> make_store(const Settings& settings);
std::vector<std::string> store_names();

// The commands. Each returns the process's exit status: 0; 1 if the store failed; 2 if the program
// could not start.
int serve(const Settings& settings);
int load(const Settings& settings);

}  // namespace falafel::vm_stores
