#include "stores/swarm/registers.h"

#include <algorithm>
#include <utility>

namespace falafel::swarm {

Word newest_of(const Words& words) {
  Word newest;
  for (const std::optional<Seen>& seen : words) {
    if (seen) newest = std::max(newest, seen->newest);
  }
  return newest;
}

std::size_t count_of(const Words& words, Word word) {
  return static_cast<std::size_t>(std::ranges::count_if(
      words, [&](const auto& seen) { return seen && seen->newest.is_same_version(word); }));
}

Registers::Registers(const Options& options, Replicas& replicas)
    : options_(options), layout_(options), replicas_(replicas) {}

bool Registers::is_at_majority(const Words& words, Word word) const {
  return count_of(words, word) >= replicas_.majority();
}

SharedFilling Registers::filling_of(Content content) const {
  return std::make_shared<Filling>(
      Filling{.content = std::move(content), .is_filled = std::vector<bool>(nodes(), false)});
}

// Reading

std::optional<Registers::Found> Registers::read(Place place, bool with_record) {
  const auto found = std::make_shared<Found>();
  found->words.resize(nodes());
  if (!replicas_.run_at_majority(place.first, [=](std::size_t node, Link& link) {
        auto one = link.read(place.number, with_record && node == place.first);
        if (!one) return false;
        found->words[node] = one->seen;
        if (one->in_place) found->in_place = std::move(one->in_place);
        return true;
      })) {
    return std::nullopt;
  }
  return *found;
}

std::optional<Words> Registers::lock_and_read(Place place, Word word) {
  const auto words = std::make_shared<Words>(nodes());
  if (!replicas_.run_at_majority(place.first, [=](std::size_t node, Link& link) {
        (*words)[node] = link.lock_and_read(word, place.number);
        return (*words)[node].has_value();
      })) {
    return std::nullopt;
  }
  return *words;
}

std::optional<Registers::Looked> Registers::read_lock(Place place, Word word, const Words& words) {
  const auto looked = std::make_shared<Looked>();
  if (!replicas_.run_at_majority(place.first, [=](std::size_t node, Link& link) {
        std::optional<Seen> seen = words[node];
        if (!seen || seen->newest <= word.verified()) {
          const auto found = link.read(place.number, false);
          if (!found) return false;
          seen = found->seen;
        }
        const auto lock = link.read_lock(word);
        if (!lock) return false;
        if (*lock) looked->is_locked = true;
        if (seen->newest <= word.verified()) looked->is_overtaken = false;
        return true;
      })) {
    return std::nullopt;
  }
  return *looked;
}

std::optional<Content> Registers::fetch(Place place, const Words& words, Word word) {
  std::optional<Content> any;
  for (std::size_t number = 0; number < nodes(); ++number) {
    const std::size_t node = (place.first + number) % nodes();
    if (!words[node] || !words[node]->newest.is_same_version(word)) continue;
    const auto record = std::make_shared<std::optional<Record>>();
    if (!replicas_.run_at(node, [=](std::size_t, Link& link) {
          *record = link.read_buffer(word);
          return record->has_value();
        })) {
      continue;
    }
    if ((*record)->word.identity() == word.identity()) return std::move((*record)->content);
    any = std::move((*record)->content);
  }
  // The authors' code assumes that one of them has it, and takes what is there.
  return options_.safeguards.repeated_reads ? std::nullopt : any;
}

// Writing

std::optional<Registers::Tried> Registers::try_to_write(Place place, Word word,
                                                        const SharedFilling& filling,
                                                        const Words& known) {
  const auto tried = std::make_shared<Tried>();
  tried->words.resize(nodes());
  const auto record = std::make_shared<std::vector<std::byte>>(
      encode(word, filling->content, layout_.content_bytes()));
  const bool reads_words = layout_.words() > 1;
  if (!replicas_.run_at_majority(place.first, [=](std::size_t node, Link& link) {
        const auto changed = link.swap({.number = place.number,
                                        .expected = known[node] ? known[node]->own : Word(),
                                        .desired = word,
                                        .reads_words = reads_words,
                                        .buffer = *record,
                                        .in_place = {},
                                        .lock = std::nullopt});
        if (!changed) return false;
        filling->is_filled[node] = true;
        tried->words[node] = changed->seen;
        if (changed->is_repeated || changed->seen.own <= word.verified()) {
          tried->may_be_somewhere = true;
        }
        return true;
      })) {
    return std::nullopt;
  }
  Tried result = *tried;
  const auto answered = static_cast<std::size_t>(
      std::ranges::count_if(result.words, [](const auto& seen) { return seen.has_value(); }));
  if (answered < replicas_.asked()) result.may_be_somewhere = true;
  return result;
}

// Swaps until the node has the word or a newer one.
Task Registers::put_task(Place place, const Change& change, const Words& known,
                         const std::shared_ptr<Changed>& changed) const {
  const auto record = std::make_shared<std::vector<std::byte>>(
      encode(change.word, change.filling->content, layout_.content_bytes()));
  const Safeguards safeguards = options_.safeguards;
  const bool is_in_place = change.in_place && options_.in_place;
  return [=](std::size_t node, Link& link) {
    bool in_place = is_in_place && node == place.first;
    Seen seen = known[node].value_or(Seen());
    std::optional<bool> is_locked;
    while (seen.newest < change.word) {
      const bool fills =
          !change.filling->is_filled[node] && (change.fills || safeguards.filled_buffers);
      const auto one = link.swap(
          {.number = place.number,
           .expected = seen.own,
           .desired = change.word,
           .reads_words = false,
           .buffer = fills ? std::span<const std::byte>(*record) : std::span<const std::byte>(),
           .in_place =
               in_place ? std::span<const std::byte>(*record) : std::span<const std::byte>(),
           .lock = change.lock});
      if (!one) return false;
      if (fills) change.filling->is_filled[node] = true;
      in_place = false;
      const bool is_swapped = one->seen.own == change.word;
      seen = {.newest = std::max(seen.newest, one->seen.newest), .own = one->seen.own};
      if (change.lock && seen.newest >= change.word) is_locked = one->is_locked;
      if (!is_swapped && !safeguards.repeated_swaps) break;
    }
    if (change.lock && !is_locked) {
      is_locked = link.read_lock(*change.lock);
      if (!is_locked) return false;
    }
    changed->words[node] = seen;
    if (is_locked && *is_locked) changed->is_locked = true;
    return true;
  };
}

std::optional<Registers::Changed> Registers::put(Place place, const Change& change,
                                                 const Words& known) {
  const auto changed = std::make_shared<Changed>();
  changed->words.resize(nodes());
  if (!replicas_.run_at_majority(place.first, put_task(place, change, known, changed))) {
    return std::nullopt;
  }
  return *changed;
}

void Registers::put_later(Place place, const Change& change, const Words& known) {
  const auto changed = std::make_shared<Changed>();
  changed->words.resize(nodes());
  replicas_.run_later(place.first, put_task(place, change, known, changed));
}

}  // namespace falafel::swarm
