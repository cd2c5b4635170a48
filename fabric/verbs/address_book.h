// The hosts that datagrams go to and come from. The number of a host in a DatagramAddress is the
// index of its GID here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fabric/verbs/gid.h"

namespace falafel::verbs {

class AddressBook {
 public:
  std::uint32_t number_of(const Gid& gid) {
    const auto found = std::find(gids_.begin(), gids_.end(), gid);
    const auto number = static_cast<std::uint32_t>(found - gids_.begin());
    if (found == gids_.end()) gids_.push_back(gid);
    return number;
  }
  const Gid& gid(std::uint32_t number) const { return gids_.at(number); }
  bool contains(std::uint32_t number) const { return number < gids_.size(); }

 private:
  std::vector<Gid> gids_;
};

}  // namespace falafel::verbs
