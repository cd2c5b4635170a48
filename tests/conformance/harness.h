// The conformance suite expresses the contract of fabric/fabric.h as tests, written once and run on
// every backend. This file defines what it requires of a backend: hosts that run bodies, and ways
// to crash them.
//
// A body runs as the first fiber of its host. Hosts may be fibers, threads or processes, so bodies
// share nothing but the network, and each body makes the assertions about its own host.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::conformance {

// Tests skip what their backend declares absent.
struct Capabilities {
  bool crashes_hosts = false;
  bool notices_death = false;  // of a peer, before requests to it time out
  bool breaks_connections = false;
  bool inlines_data = false;
  bool reliable_connection = true;
  bool unreliable_connection = false;
  bool unreliable_datagram = false;
  bool message_stream = false;
  bool shared_receive_queues = false;
  bool masked_atomics = false;
  bool keeps_memory = false;         // Host::keep_memory
  bool changes_access = true;        // MemoryRegion::change_access
  bool whole_words_anywhere = true;  // including those of transfers that begin inside a word
  bool places_in_address_order = false;
  bool reads_at_once = false;  // fabric/immediate_reads.h
};

enum class Role { client, server };

struct HostDescription {
  std::string name;
  Role role = Role::client;
  std::size_t device_count = 1;
};

using HostBody = std::function<void(fabric::Host&)>;

class Backend {
 public:
  virtual ~Backend() = default;
  // Call before the run. A failed requirement in `body` fails the test and ends the body.
  void add_host(const HostDescription& description, HostBody body);
  // Bodies call this, also for their own host.
  virtual void crash(const std::string& host) = 0;
  virtual void break_connection(const std::string& host) = 0;
  // The memory of this name is new in every run.
  virtual std::string name_of_kept_memory() const { return "memory"; }

 private:
  virtual void add_guarded_host(const HostDescription& description, HostBody body) = 0;
};

// Adds the hosts of a test. Called again for every run.
using Program = std::function<void(Backend&)>;

// A backend in one configuration.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual std::string name() const = 0;  // letters, digits and underscores
  virtual Capabilities capabilities() const = 0;
  // Runs the program under every schedule of the variant, up to the first that fails the test, and
  // reports how to repeat it. A run that does not end fails the test.
  virtual void run(const Program& program) const = 0;
};

using VariantPointer = std::shared_ptr<const Variant>;
inline void PrintTo(const VariantPointer& variant, std::ostream* stream) {
  *stream << variant->name();
}

// The variants of the backend that is linked with the suite.
std::vector<VariantPointer> backend_variants();

// Checks a condition that the body cannot continue without. A failure fails the test and unwinds
// the body, which ASSERT_* cannot do in a function that returns a value.
struct RequirementFailed {};
[[noreturn]] void fail_requirement(const std::string& message, std::source_location location);

inline void require(bool condition, const std::string& message,
                    std::source_location location = std::source_location::current()) {
  if (!condition) fail_requirement(message, location);
}

template <typename Value>
Value require(fabric::Result<Value> result,
              std::source_location location = std::source_location::current()) {
  if (!result.has_value()) {
    fail_requirement(std::string(to_string(result.error().code)) + ": " + result.error().detail,
                     location);
  }
  if constexpr (!std::is_void_v<Value>) return std::move(*result);
}

// Spawns a fiber that a failed requirement ends, as it ends a body.
fabric::FiberId spawn(fabric::Host& host, std::function<void()> body,
                      const fabric::FiberOptions& options = {});

}  // namespace falafel::conformance
