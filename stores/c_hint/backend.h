// The store behind the cache (C-Hint 2.1, 5.1). The server asks it on a miss, and tells it of
// changes. It survives the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::c_hint {

class Backend {
 public:
  virtual ~Backend() = default;

  // Called by a fiber of `host`. All of them may wait.
  virtual std::optional<std::vector<std::byte>> get(fabric::Host& host,
                                                    std::span<const std::byte> key) = 0;
  virtual void set(fabric::Host& host, std::span<const std::byte> key,
                   std::span<const std::byte> value) = 0;
  // Returns whether the key was there.
  virtual bool remove(fabric::Host& host, std::span<const std::byte> key) = 0;
};

// A map behind a latency: half of it passes before an operation takes effect, half afterwards.
class MapBackend final : public Backend {
 public:
  explicit MapBackend(std::uint64_t latency_ns) : latency_ns_(latency_ns) {}

  std::optional<std::vector<std::byte>> get(fabric::Host& host,
                                            std::span<const std::byte> key) override;
  void set(fabric::Host& host, std::span<const std::byte> key,
           std::span<const std::byte> value) override;
  bool remove(fabric::Host& host, std::span<const std::byte> key) override;

 private:
  void wait(fabric::Host& host) const;

  std::uint64_t latency_ns_;
  std::map<std::vector<std::byte>, std::vector<std::byte>> values_;
};

}  // namespace falafel::c_hint
