#include "tools/scenarios/nessie/drawn_store.h"

namespace falafel::nessie_scenario {
namespace {

using nessie::Options;
using nessie::Safeguards;

// -------------------------------------------------------------------------------------------------
// NessieCD

Options draw_published(check::World& world) {
  Options options;
  options.emptied = world.one_of({nessie::EmptyWord::constant, nessie::EmptyWord::keeps_dte});
  options.abort = world.one_of({nessie::Abort::leave, nessie::Abort::restore});
  return options;
}

void draw_unique_empty_words(check::World& world, Options& options) {
  if (!world.safeguard("unique-empty-words")) options.emptied = nessie::EmptyWord::constant;
}

Options draw_hardened(check::World& world) {
  Options options = Options::hardened();
  for (const nessie::SafeguardDescription& safeguard : nessie::safeguard_descriptions) {
    // With generations and validated hits, no operation depends on clocks. The last two are those
    // of workers.
    const bool matters = safeguard.enabled != &Safeguards::expiration &&
                         safeguard.enabled != &Safeguards::expiry_reset &&
                         safeguard.enabled != &Safeguards::group_locks &&
                         safeguard.enabled != &Safeguards::fenced_index;
    if (matters) options.safeguards.*safeguard.enabled = world.safeguard(safeguard.name);
  }
  draw_unique_empty_words(world, options);
  if (!world.safeguard("restored-words")) options.abort = nessie::Abort::leave;
  return options;
}

void draw_mechanisms(check::World& world, Options& options) {
  options.filter_bits = world.one_of({7U, 1U, 0U});
  options.cache_entries = world.one_of({0U, 2U});
  options.previous_versions = world.choose(3) != 0;
  options.multi_read = world.choose(2) != 0;
  options.lazy_marks = world.choose(3) == 2;
  options.give_up_on_invalid =
      world.choose(4) == 3 ? nessie::GiveUpOnInvalid::any : nessie::GiveUpOnInvalid::same_key;
}

Options draw_client_driven(check::World& world, Variant variant) {
  Options options = variant == Variant::hardened ? draw_hardened(world) : draw_published(world);
  draw_mechanisms(world, options);
  return options;
}

// -------------------------------------------------------------------------------------------------
// NessieSD and NessieHY

// The published architectures rely on the order of addresses, whether or not the device promises
// it.
void draw_arrival(check::World& world, Options& options) {
  options.arrival =
      world.one_of({nessie::Arrival::tail_in_address_order, nessie::Arrival::separate_flag_write});
  options.assumes_address_order = true;
}

void draw_safeguards_of_gets(check::World& world, Options& options) {
  Safeguards& safeguards = options.safeguards;
  safeguards.reverse_pass = world.safeguard("reverse-pass");
  safeguards.entry_generations = world.safeguard("entry-generations");
  safeguards.validated_hits = world.safeguard("validated-hits");
  safeguards.fenced_index = world.safeguard("fenced-index");
  draw_unique_empty_words(world, options);
}

Options draw_served(check::World& world, const Kind& kind) {
  if (kind.variant == Variant::published) {
    Options options = Options::published(kind.architecture);
    draw_arrival(world, options);
    options.emptied = world.one_of({nessie::EmptyWord::constant, nessie::EmptyWord::keeps_dte});
    return options;
  }
  Options options = Options::hardened(kind.architecture);
  options.safeguards.group_locks = world.safeguard("group-locks");
  if (!world.safeguard("message-checksums")) draw_arrival(world, options);
  options.request_timeout_ns = world.safeguard("time-outs")
                                   ? world.one_of({300U, 50U, 1'000U}) * microsecond_ns
                                   : fabric::never_ns;
  options.safeguards.keyed_checksums = world.safeguard("keyed-checksums");
  if (options.is_hybrid()) draw_safeguards_of_gets(world, options);
  return options;
}

// Clients that READ. As published, they rely on the order of addresses.
void draw_completion(check::World& world, const Kind& kind, DrawnStore& store) {
  if (kind.architecture == nessie::Architecture::server_driven) return;
  store.trusts_watermarks =
      kind.variant == Variant::published || !world.safeguard("promised-order");
  const bool may_wait = kind.architecture == nessie::Architecture::hybrid;
  const bool waits = may_wait && !store.trusts_watermarks && world.choose(2) == 1;
  store.options.completion = waits ? nessie::Completion::queue : nessie::Completion::watermark;
  if (store.trusts_watermarks) store.options.assumes_address_order = true;
}

// All candidates of a key are on one node, so entries move only where a node has more slots than a
// key has candidates.
void draw_service(check::World& world, Options& options) {
  if (options.is_client_driven()) return;
  options.index_entries = 2 + world.choose(4);
  options.data_entries = 3 + world.choose(8);
  options.server_workers = world.one_of({2U, 1U, 3U});
  options.slots_per_lock = world.one_of<std::uint64_t>({1, 2, 3});
  options.most_clients = 16;
}

}  // namespace

// The first value of each choice is the simplest.
DrawnStore draw_store(check::World& world, const Kind& kind) {
  const auto nodes = static_cast<std::uint32_t>(1 + world.choose(3));
  Options options = kind.architecture == nessie::Architecture::client_driven
                        ? draw_client_driven(world, kind.variant)
                        : draw_served(world, kind);
  options.deadline_check = world.one_of({nessie::DeadlineCheck::both, nessie::DeadlineCheck::at_end,
                                         nessie::DeadlineCheck::before_each_verb});
  options.index_entries = 1 + world.choose(3);
  options.data_entries = 3 + world.choose(4);
  options.most_key_bytes = 8;
  options.most_value_bytes = 16;
  options.ways = 3 - static_cast<std::uint32_t>(world.choose(2));
  options.hash_seed = world.choose(64);
  options.most_migrations = 1 + static_cast<std::uint32_t>(world.choose(3));
  options.clock_error_ns = 2 * microsecond_ns;
  options.expiration_ns = world.one_of({30U, 10U, 100U, 1'000U}) * microsecond_ns;
  options.connect_timeout_ns = 20'000 * microsecond_ns;
  options.acknowledge_timeout_ns = 2'000 * microsecond_ns;
  options.retry_count = 1;
  draw_service(world, options);
  DrawnStore store{.nodes = nodes,
                   .most_attempts = kind.variant == Variant::published ? 4U : 0U,
                   .options = options};
  draw_completion(world, kind, store);
  const bool relies_on_checksums = kind.variant == Variant::hardened && !options.is_client_driven();
  if (relies_on_checksums) {
    store.values = world.one_of({Values::equal_words, Values::equal_words, Values::colliding});
  }
  return store;
}

std::string describe(const DrawnStore& store) {
  const Options& options = store.options;
  const auto number = [](auto value) { return std::to_string(static_cast<std::uint64_t>(value)); };
  std::string text = "nodes " + number(store.nodes) + ", slots per node " +
                     number(options.index_entries) + ", DTEs per node " +
                     number(options.data_entries) + ", ways " + number(options.ways) +
                     ", hash seed " + number(options.hash_seed) + ", deadline check " +
                     number(options.deadline_check) + ", empty word " + number(options.emptied) +
                     ", expiration " + number(options.expiration_ns / microsecond_ns) +
                     " us, completion " + number(options.completion);
  if (options.is_client_driven()) {
    return text + ", filter bits " + number(options.filter_bits) + ", cache entries " +
           number(options.cache_entries) + ", previous versions " +
           number(options.previous_versions) + ", multi read " + number(options.multi_read) +
           ", lazy marks " + number(options.lazy_marks) + ", give up on invalid " +
           number(options.give_up_on_invalid) + ", abort " + number(options.abort);
  }
  if (options.request_timeout_ns != fabric::never_ns) {
    text += ", time-out " + number(options.request_timeout_ns / microsecond_ns) + " us";
  }
  return text + ", workers " + number(options.server_workers) + ", slots per lock " +
         number(options.slots_per_lock) + ", arrival " + number(options.arrival) + ", values " +
         number(store.values);
}

}  // namespace falafel::nessie_scenario
