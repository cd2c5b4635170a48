#include "stores/swarm/index.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "stores/crc64.h"

namespace falafel::swarm {
namespace {

// A slot: 48 bits for the register, 8 for the fingerprint, and one that says that it is in use.
constexpr std::uint64_t used_bit = 1;
constexpr std::uint64_t slot_word(std::uint64_t number, std::uint64_t fingerprint) {
  return number << 16 | fingerprint << 8 | used_bit;
}
constexpr std::uint64_t number_in(std::uint64_t word) { return word >> 16; }

std::uint64_t fingerprint_of(const HashedKey& key, std::uint32_t bits) {
  const std::uint64_t folded =
      key.hashes[0] ^ key.hashes[0] >> 56 ^ key.hashes[1] ^ key.hashes[1] >> 56;
  return folded & ((std::uint64_t{1} << bits) - 1);
}

std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xbf58'476d'1ce4'e5b9;
  bits = (bits ^ bits >> 27) * 0x94d0'49bb'1331'11eb;
  return bits ^ bits >> 31;
}

// The main buckets of the key, which never share an overflow bucket.
std::array<std::uint64_t, 2> buckets_of(const HashedKey& key, std::uint64_t main_buckets) {
  std::uint64_t second = key.hashes[1] % (main_buckets - 2);
  const std::uint64_t first = key.hashes[0] % main_buckets;
  if ((second & ~std::uint64_t{1}) >= (first & ~std::uint64_t{1})) second += 2;
  return {first, second};
}

// Three buckets serve two main ones: the overflow bucket lies between them.
std::uint64_t first_slot_of(std::uint64_t main_bucket) {
  return ((main_bucket >> 1) * 3 + (main_bucket & 1)) * slots_per_bucket;
}

// The places of a key's slots in its two groups, main buckets first.
std::vector<std::size_t> places_of(const std::array<std::uint64_t, 2>& main_buckets) {
  std::vector<std::size_t> places;
  for (const bool is_overflow : {false, true}) {
    for (std::size_t group = 0; group < 2; ++group) {
      // An odd main bucket comes after its overflow bucket.
      const bool is_second = ((main_buckets[group] & 1) != 0) != is_overflow;
      for (std::size_t slot = 0; slot < slots_per_bucket; ++slot) {
        places.push_back(group * slots_per_group + (is_second ? slots_per_bucket : 0) + slot);
      }
    }
  }
  return places;
}

std::vector<std::byte> key_record(const HashedKey& key, std::uint64_t length_bytes) {
  std::vector<std::byte> bytes(length_bytes);
  const std::uint64_t length = key.key.size();
  std::memcpy(bytes.data(), &length, sizeof length);
  std::ranges::copy(key.key, bytes.begin() + sizeof length);
  return bytes;
}

}  // namespace

HashedKey::HashedKey(std::span<const std::byte> bytes) : key(bytes) {
  const std::uint64_t hash = stores::crc64(bytes);
  hashes = {mixed(hash), mixed(hash + 0x9e37'79b9'7f4a'7c15)};
}

Index::Index(const Options& options, Replicas& replicas)
    : options_(options), layout_(options), replicas_(replicas) {}

std::size_t Index::member_of(const HashedKey& key) const {
  return options_.safeguards.own_index_node ? replicas_.nodes() : key.hashes[0] % replicas_.nodes();
}

std::optional<Index::Groups> Index::read(const HashedKey& key) {
  const auto groups = std::make_shared<Groups>();
  const auto buckets = buckets_of(key, std::uint64_t{1} << options_.index_bits);
  groups->first_slots = {first_slot_of(buckets[0]), first_slot_of(buckets[1])};
  if (!replicas_.run_at(member_of(key), [groups](std::size_t, Link& link) {
        const auto words = link.read_groups(groups->first_slots[0], groups->first_slots[1]);
        if (words) groups->words = *words;
        return words.has_value();
      })) {
    return std::nullopt;
  }
  return *groups;
}

std::optional<bool> Index::has_key(const HashedKey& key, std::uint64_t number) {
  const auto bytes = std::make_shared<std::optional<std::vector<std::byte>>>();
  if (!replicas_.run_at(member_of(key), [bytes, number](std::size_t, Link& link) {
        *bytes = link.read_key(number);
        return bytes->has_value();
      })) {
    return std::nullopt;
  }
  return **bytes == key_record(key, layout_.key_bytes());
}

Index::Found Index::find(const HashedKey& key, const Groups& groups) {
  const std::uint64_t fingerprint = fingerprint_of(key, options_.fingerprint_bits);
  for (const std::size_t place :
       places_of(buckets_of(key, std::uint64_t{1} << options_.index_bits))) {
    const std::uint64_t word = groups.words[place];
    if (word == 0 || word != slot_word(number_in(word), fingerprint)) continue;
    const std::uint64_t number = number_in(word);
    if (options_.safeguards.key_checks) {
      const auto is_same = has_key(key, number);
      if (!is_same) return {.answer = Answer::disconnected};
      if (!*is_same) continue;
    }
    return {.answer = Answer::found, .number = number};
  }
  return {.answer = Answer::not_found};
}

Index::Found Index::search(const HashedKey& key) {
  const auto groups = read(key);
  return groups ? find(key, *groups) : Found();
}

// The first free slot in the order of the key; in the authors' code, that of the emptier group.
std::optional<std::size_t> Index::free_slot(const HashedKey& key, const Groups& groups) const {
  const auto is_free = [&](std::size_t place) { return groups.words[place] == 0; };
  const auto places = places_of(buckets_of(key, std::uint64_t{1} << options_.index_bits));
  if (!options_.safeguards.unique_inserts) {
    std::array<std::size_t, 2> free{};
    std::array<std::optional<std::size_t>, 2> first;
    for (const std::size_t place : places) {
      if (!is_free(place)) continue;
      const std::size_t group = place / slots_per_group;
      if (free[group]++ == 0) first[group] = place;
    }
    return first[free[0] < free[1] ? 1 : 0];
  }
  const auto found = std::ranges::find_if(places, is_free);
  return found == places.end() ? std::nullopt : std::optional(*found);
}

// All clients try the slots of a key in the same order, and no slot becomes empty. So one of two
// that insert the same key at the same time finds the slot of the other.
Index::Found Index::insert(const HashedKey& key, std::uint64_t number) {
  const std::uint64_t desired = slot_word(number, fingerprint_of(key, options_.fingerprint_bits));
  const auto record =
      std::make_shared<const std::vector<std::byte>>(key_record(key, layout_.key_bytes()));
  bool may_write_later = false;
  while (true) {
    const auto groups = read(key);
    if (!groups) return {};
    Found found = find(key, *groups);
    found.may_write_later = may_write_later;
    if (found.answer != Answer::not_found) return found;
    const auto place = free_slot(key, *groups);
    if (!place) return {.answer = Answer::table_full, .may_write_later = may_write_later};
    const std::uint64_t slot =
        groups->first_slots[*place / slots_per_group] + *place % slots_per_group;
    const auto inserted = std::make_shared<std::optional<Link::Inserted>>();
    if (!replicas_.run_at(member_of(key), [=](std::size_t, Link& link) {
          *inserted = link.insert(number, *record, slot, desired);
          return inserted->has_value();
        })) {
      return {};
    }
    if ((*inserted)->is_repeated) may_write_later = true;
    const std::uint64_t before = (*inserted)->before;
    const bool is_entered = before == 0 || before == desired;
    if (is_entered || !options_.safeguards.unique_inserts) {
      return {.answer = Answer::stored, .number = number};
    }
  }
}

}  // namespace falafel::swarm
