// The store behind the cache (C-Hint 2.1, 5.1). The server asks it on a miss, and tells it of
// changes. It survives the server, so lives end by the wall clock of the server's host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::c_hint {

struct BackendValue {
  std::vector<std::byte> bytes{};
  std::uint64_t life_end_ns = fabric::never_ns;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Called by a fiber of `host`. All of them may wait. A value whose life has ended is not there,
  // and does not come back, whatever clock the next server has.
  virtual std::optional<BackendValue> get(fabric::Host& host, std::span<const std::byte> key) = 0;
  virtual void set(fabric::Host& host, std::span<const std::byte> key, BackendValue value) = 0;
  // Returns whether the key was there.
  virtual bool remove(fabric::Host& host, std::span<const std::byte> key) = 0;
};

// A map behind a latency: half of it passes before an operation takes effect, half afterwards.
class MapBackend final : public Backend {
 public:
  explicit MapBackend(std::uint64_t latency_ns) : latency_ns_(latency_ns) {}

  std::optional<BackendValue> get(fabric::Host& host, std::span<const std::byte> key) override;
  void set(fabric::Host& host, std::span<const std::byte> key, BackendValue value) override;
  bool remove(fabric::Host& host, std::span<const std::byte> key) override;

 private:
  using Values = std::map<std::vector<std::byte>, BackendValue>;

  void wait(fabric::Host& host) const;
  Values::iterator find(fabric::Host& host, std::span<const std::byte> key);

  std::uint64_t latency_ns_;
  Values values_;
};

}  // namespace falafel::c_hint
