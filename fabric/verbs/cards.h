// Network cards and the features that the store needs: reliable connections (RC) over InfiniBand or
// RoCE, and atomics.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace falafel::verbs {

struct Card {
  std::string_view driver;  // of the kernel
  std::string_view cards;
  std::uint32_t vendor = 0;      // ibv_device_attr::vendor_id; 0: not reported
  std::string_view connections;  // support for RC over InfiniBand or RoCE
  std::string_view atomics;      // support for atomics, and its conditions
  std::string_view source;       // within drivers/infiniband of Linux 6.1, or a link
};

std::span<const Card> known_cards();

// Advice about the cards of this vendor, for a device that lacks something; empty if none is known.
std::string advice_about(std::uint32_t vendor);

}  // namespace falafel::verbs
