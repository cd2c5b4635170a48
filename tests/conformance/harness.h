// The conformance suite is the contract of fabric/fabric.h as tests, written once and run on every
// backend. This is what it asks of a backend: hosts that run bodies, and the power to harm them.
//
// A body runs as the first fiber of its host. Hosts may be fibers, threads or processes, so bodies
// share nothing but the network: what a test has to say about a host is said in that host's body.
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

// A test skips what its backend declares absent.
struct Capabilities {
  bool crashes_hosts = false;
  bool notices_death = false;  // of a peer, before requests to it are given up
  bool breaks_connections = false;
  bool inlines_data = false;
  bool unreliable_connection = false;
  bool unreliable_datagram = false;
  bool changes_access = true;        // MemoryRegion::change_access
  bool whole_words_anywhere = true;  // also those of transfers that begin within a word
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
  // Before the run. A requirement that fails in `body` fails the test and ends the body.
  void add_host(const HostDescription& description, HostBody body);
  // To be called by bodies, also on their own host.
  virtual void crash(const std::string& host) = 0;
  virtual void break_connection(const std::string& host) = 0;

 private:
  virtual void add_guarded_host(const HostDescription& description, HostBody body) = 0;
};

// Adds the hosts of a test. Called anew for every run.
using Program = std::function<void(Backend&)>;

// A backend in one configuration.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual std::string name() const = 0;  // letters, digits and underscores
  virtual Capabilities capabilities() const = 0;
  // Runs the program under every schedule of the variant, up to the first that fails the test; says
  // how to repeat that one. A run that does not come to its end fails the test.
  virtual void run(const Program& program) const = 0;
};

using VariantPointer = std::shared_ptr<const Variant>;
inline void PrintTo(const VariantPointer& variant, std::ostream* stream) {
  *stream << variant->name();
}

// Of the backend that the suite is linked with.
std::vector<VariantPointer> backend_variants();

// What a body cannot go on without. A failure fails the test and unwinds the body, which ASSERT_*
// cannot do from within a function that returns a value.
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

// A fiber whose requirements end it alone, as those of a body do.
fabric::FiberId spawn(fabric::Host& host, std::function<void()> body,
                      const fabric::FiberOptions& options = {});

}  // namespace falafel::conformance
