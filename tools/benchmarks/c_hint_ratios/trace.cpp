#include "tools/benchmarks/c_hint_ratios/trace.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "fabric/random.h"
#include "fabric/time_units.h"
#include "stores/c_hint/directory.h"
#include "stores/c_hint/layout.h"
#include "stores/c_hint/lease_terms.h"
#include "stores/c_hint/pointer_cache.h"
#include "tools/benchmarks/store/zipfian.h"

namespace falafel::c_hint_ratios {
namespace {

using c_hint::Descriptor;
using c_hint::Directory;
using c_hint::PointerCache;
using Key = std::array<std::byte, sizeof(std::uint64_t)>;

using fabric::second_ns;

Key key_of(std::uint64_t pair) {
  Key key;
  for (std::size_t byte = 0; byte < key.size(); ++byte) {
    key[byte] = static_cast<std::byte>(pair >> (8 * byte));
  }
  return key;
}

// The most popular pair first.
std::vector<std::uint64_t> order_of_pairs(const Trace& trace) {
  std::vector<std::uint64_t> pairs(trace.pairs);
  std::iota(pairs.begin(), pairs.end(), 0);
  if (trace.popularity == Popularity::by_number) return pairs;
  fabric::RandomGenerator random(trace.seed);
  for (std::size_t left = pairs.size(); left > 1; --left) {
    std::swap(pairs[left - 1], pairs[random.below(left)]);
  }
  return pairs;
}

class Run {
 public:
  Run(const c_hint::Options& options, const Trace& trace)
      : options_(options),
        trace_(trace),
        directory_(options),
        clients_(trace.clients, PointerCache(options)),
        last_reports_ns_(trace.clients),
        pairs_by_rank_(order_of_pairs(trace)),
        popularity_(trace.pairs),
        random_(trace.seed) {}

  Ratios execute() {
    if (trace_.stores_all_first) {
      for (std::uint64_t pair = 0; pair < trace_.pairs; ++pair) {
        set(next_client(), key_of(pair));
      }
    }
    for (std::uint64_t operation = 0; operation < trace_.operations; ++operation) {
      PointerCache& client = next_client();
      if (random_.below(100) < trace_.sets_per_hundred) {
        set(client, key_of(random_.below(trace_.pairs)));
      } else {
        get(client, key_of(next_read()));
      }
    }
    const auto share = [&](std::uint64_t hits) {
      return gets_ == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(gets_);
    };
    return {.pointer_hits = share(pointer_hits_), .hits = share(pointer_hits_ + message_hits_)};
  }

 private:
  // The one that makes the next operation, at its time.
  PointerCache& next_client() {
    now_ns_ = operations_++ * second_ns / trace_.operations_per_second;
    const std::uint64_t client = random_.below(trace_.clients);
    report_if_due(client);
    return clients_[client];
  }

  std::uint64_t next_read() { return pairs_by_rank_[popularity_.next(random_)]; }

  void get(PointerCache& client, const Key& key) {
    ++gets_;
    const std::uint64_t hash = c_hint::hash_of_key(key);
    const Descriptor* const descriptor = directory_.find(key);
    if (is_readable(client, hash, descriptor)) {
      ++pointer_hits_;
      client.used(hash);
    } else if (descriptor != nullptr) {
      ++message_hits_;
      keep(client, hash, directory_.touch(hash, now_ns_));
    } else {
      cache(client, key);
    }
  }

  void set(PointerCache& client, const Key& key) {
    const std::uint64_t hash = c_hint::hash_of_key(key);
    const Descriptor* const descriptor = directory_.find(key);
    if (descriptor == nullptr) return cache(client, key);
    version_ += 2;
    keep(client, hash,
         directory_.update(
             hash, {.offset = descriptor->offset, .item_bytes = item_bytes, .version = version_},
             now_ns_));
  }

  bool is_readable(const PointerCache& client, std::uint64_t hash,
                   const Descriptor* descriptor) const {
    if (options_.gets == c_hint::GetPath::messages) return false;
    const c_hint::CachedPointer* const pointer = client.find(hash);
    return pointer != nullptr && descriptor != nullptr && now_ns_ < pointer->lease_end_ns &&
           pointer->version == descriptor->version;
  }

  void cache(PointerCache& client, const Key& key) {
    const auto offset = directory_.allocate(item_bytes, now_ns_);
    if (!offset) return;
    version_ += 2;
    keep(client, c_hint::hash_of_key(key),
         directory_.insert(key, {.offset = *offset, .item_bytes = item_bytes, .version = version_},
                           now_ns_));
  }

  void keep(PointerCache& client, std::uint64_t hash, const Descriptor& descriptor) {
    if (options_.gets == c_hint::GetPath::messages) return;
    client.put(hash, {.offset = descriptor.offset,
                      .item_bytes = item_bytes,
                      .version = descriptor.version,
                      .lease_end_ns = descriptor.lease_end_ns});
  }

  void report_if_due(std::uint64_t client) {
    if (options_.report_interval_ns == 0) return;
    if (now_ns_ - last_reports_ns_[client] < options_.report_interval_ns) return;
    last_reports_ns_[client] = now_ns_;
    for (const c_hint::ReportEntry& entry : clients_[client].pick()) {
      const Descriptor* const descriptor = directory_.find(entry.hash);
      if (descriptor == nullptr || descriptor->version != entry.version) continue;
      const std::uint64_t end_ns =
          directory_.renew(entry.hash, entry.accesses, now_ns_).lease_end_ns;
      clients_[client].renew(entry.hash, entry.version, end_ns);
    }
  }

  const c_hint::Options& options_;
  const Trace& trace_;
  Directory directory_;
  std::vector<PointerCache> clients_;
  std::vector<std::uint64_t> last_reports_ns_;
  const std::vector<std::uint64_t> pairs_by_rank_;
  store_benchmark::Zipfian popularity_;
  fabric::RandomGenerator random_;
  std::uint64_t operations_ = 0;
  std::uint64_t now_ns_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t gets_ = 0;
  std::uint64_t pointer_hits_ = 0;
  std::uint64_t message_hits_ = 0;
};

}  // namespace

std::vector<System> systems(std::uint64_t items, std::uint64_t factor) {
  c_hint::Options options;
  options.min_block_bytes = item_bytes;
  options.items_bytes = items * item_bytes;
  options.unit_of_empty_memory_ns /= factor;
  options.unit_of_full_memory_ns /= factor;
  options.fixed_term_ns /= factor;
  options.report_interval_ns /= factor;
  options.picks_per_list =
      std::max<std::uint32_t>(1, options.picks_per_list / static_cast<std::uint32_t>(factor));
  options.life_time = items;
  options.ghosts = 4 * items;
  const auto term = [&](std::uint64_t seconds) {
    return c_hint::static_terms(options, seconds * second_ns / factor);
  };
  return {{"Original", c_hint::original(options)},
          {"LRU", c_hint::lru(options)},
          {"Approx-LRU", c_hint::approximate_lru(options)},
          {"MQ", c_hint::multi_queue(options)},
          {"C-Hint", options},
          {"term of 128 s", term(128)},
          {"term of 32 s", term(32)},
          {"term of 8 s", term(8)}};
}

Ratios run(const c_hint::Options& options, const Trace& trace) {
  return Run(options, trace).execute();
}

}  // namespace falafel::c_hint_ratios
