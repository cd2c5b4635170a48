#include <boost/container/string.hpp>
#include <boost/container_hash/hash.hpp>
#include <boost/interprocess/allocators/allocator.hpp>
#include <boost/interprocess/managed_mapped_file.hpp>
#include <boost/interprocess/sync/interprocess_mutex.hpp>
#include <boost/interprocess/sync/scoped_lock.hpp>
#include <boost/unordered_map.hpp>
#include <functional>
#include <string>
#include <tuple>

#include "tools/benchmarks/in_process_peers/peer.h"

namespace falafel::in_process_peers {
namespace {

namespace ipc = boost::interprocess;

using Segment = ipc::managed_mapped_file;
template <typename Element>
using Allocator = ipc::allocator<Element, Segment::segment_manager>;
using Text = boost::container::basic_string<char, std::char_traits<char>, Allocator<char>>;

// Both also take views, so that a search copies no key into the shared memory.
struct Hash {
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
  std::size_t operator()(const Text& text) const {
    return (*this)(std::string_view(text.data(), text.size()));
  }
};
struct Equal {
  bool operator()(const Text& left, const Text& right) const { return left == right; }
  bool operator()(std::string_view left, const Text& right) const {
    return left == std::string_view(right.data(), right.size());
  }
};

using Map = boost::unordered_map<Text, Text, Hash, Equal, Allocator<std::pair<const Text, Text>>>;

std::string segment_file(const PeerPlace& place) { return place.directory / "map"; }

class BoostPeer final : public Peer {
 public:
  explicit BoostPeer(const PeerPlace& place)
      : segment_(ipc::open_only, segment_file(place).c_str()),
        mutex_(segment_.find<ipc::interprocess_mutex>("mutex").first),
        map_(segment_.find<Map>("map").first) {}

  bool get(std::string_view key, std::vector<std::byte>& value) override {
    const ipc::scoped_lock lock(*mutex_);
    const auto found = map_->find(key, Hash(), Equal());
    if (found == map_->end()) return false;
    const auto* const bytes = reinterpret_cast<const std::byte*>(found->second.data());
    value.assign(bytes, bytes + found->second.size());
    return true;
  }

  void set(std::string_view key, std::string_view value) override {
    const ipc::scoped_lock lock(*mutex_);
    const auto found = map_->find(key, Hash(), Equal());
    if (found != map_->end()) {
      found->second.assign(value.data(), value.size());
      return;
    }
    const Allocator<char> allocator(segment_.get_segment_manager());
    map_->emplace(std::piecewise_construct,
                  std::forward_as_tuple(key.data(), key.size(), allocator),
                  std::forward_as_tuple(value.data(), value.size(), allocator));
  }

 private:
  Segment segment_;
  ipc::interprocess_mutex* mutex_;
  Map* map_;
};

void create(const PeerPlace& place) {
  Segment segment(ipc::create_only, segment_file(place).c_str(), place.capacity_bytes);
  segment.construct<ipc::interprocess_mutex>("mutex")();
  Map* const map = segment.construct<Map>("map")(
      place.keys, Hash(), Equal(),
      Allocator<std::pair<const Text, Text>>(segment.get_segment_manager()));
  map->reserve(place.keys);
}

}  // namespace

PeerKind boost_peer() {
  return {.create = create,
          .open = [](const PeerPlace& place) { return std::make_unique<BoostPeer>(place); }};
}

}  // namespace falafel::in_process_peers
