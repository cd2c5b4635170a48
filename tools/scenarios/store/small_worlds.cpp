#include "tools/scenarios/store/small_worlds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "tools/scenarios/store/small_world_builder.h"

namespace falafel::store_scenario {
namespace {

using Builder = SmallWorldBuilder;

PlannedOperation plan(const Builder& builder, SmallOperation operation) {
  switch (operation) {
    case SmallOperation::get: return builder.get(Builder::present_key);
    case SmallOperation::get_absent: return builder.get(Builder::absent_key);
    case SmallOperation::set_new: return builder.set(Builder::absent_key);
    case SmallOperation::set: return builder.set(Builder::present_key);
    case SmallOperation::update: return builder.update(Builder::present_key);
    case SmallOperation::update_absent: return builder.update(Builder::absent_key);
    case SmallOperation::remove: break;
  }
  return builder.remove(Builder::present_key);
}

bool needs_memory(const std::vector<SmallOperation>& operations) {
  using enum SmallOperation;
  return std::ranges::any_of(operations, [](SmallOperation operation) {
    return operation == set || operation == set_new || operation == update ||
           operation == update_absent;
  });
}

bool changes_region(Beside beside) {
  return beside == Beside::region || beside == Beside::region_in_turn;
}

bool cleans(Beside beside) {
  return beside == Beside::cleanup || beside == Beside::cleanup_by_device;
}

bool collects_region(Beside beside) {
  return beside == Beside::collection || beside == Beside::collection_by_device ||
         beside == Beside::region_to_block || beside == Beside::region_to_block_by_device;
}

bool collects_block(Beside beside) {
  return beside == Beside::block || beside == Beside::block_by_device;
}

bool has_blocks(Beside beside) {
  return collects_block(beside) || beside == Beside::region_to_block ||
         beside == Beside::region_to_block_by_device;
}

bool swaps_by_device(Beside beside) {
  return beside == Beside::cleanup_by_device || beside == Beside::collection_by_device ||
         beside == Beside::region_to_block_by_device || beside == Beside::block_by_device;
}

// Enough for two regions of the client whose region is collected, and for one of each client that
// stores something.
std::uint32_t block_count(const SmallPlans& plans) {
  const auto regions = std::ranges::count_if(
      plans, [](const std::vector<SmallOperation>& plan) { return needs_memory(plan); });
  return engine::fewest_blocks + static_cast<std::uint32_t>(regions);
}

std::string name_of(const SmallPlans& plans, Beside beside) {
  std::vector<std::string> names;
  names.reserve(plans.size());
  for (const std::vector<SmallOperation>& operations : plans) {
    std::vector<std::string_view> words;
    words.reserve(operations.size());
    for (const SmallOperation operation : operations) words.push_back(to_string(operation));
    names.push_back(fmt::format("{}", fmt::join(words, ",")));
  }
  const std::string name = fmt::format("{}", fmt::join(names, "+"));
  return beside == Beside::nothing ? name : fmt::format("{}-{}", name, to_string(beside));
}

enum class Kind : std::uint8_t { plain, cached, fingerprint, restarted };

std::string_view prefix_of(Kind kind) {
  constexpr std::array<std::string_view, 4> prefixes{"", "cached-", "fingerprint-", "restarted-"};
  return prefixes[static_cast<std::size_t>(kind)];
}

explorer::SmallWorld make_world_of(const SmallPlans& plans, Beside beside, Kind kind) {
  Builder builder;
  const bool are_cached = kind == Kind::cached;
  if (are_cached) builder.cache_locations();
  if (kind == Kind::fingerprint) builder.use_fingerprints();
  if (kind == Kind::restarted) {
    builder.restart_server();
    builder.take_turns();
  }
  const bool has_storing_owner =
      collects_region(beside) || collects_block(beside) || beside == Beside::growth;
  if (has_blocks(beside)) builder.use_blocks(block_count(plans));
  if (swaps_by_device(beside)) builder.swap_by_device();
  if (has_storing_owner || changes_region(beside)) builder.free_at_once();
  if (beside == Beside::region_in_turn) builder.take_turns();
  for (const std::vector<SmallOperation>& operations : plans) {
    std::vector<PlannedOperation> planned;
    planned.reserve(operations.size());
    for (const SmallOperation operation : operations) planned.push_back(plan(builder, operation));
    builder.add_client(planned);
  }
  if (cleans(beside)) builder.prepare_set(0, Builder::deleted_key);
  if (!has_storing_owner) builder.prepare_set(0, Builder::present_key);
  if (cleans(beside)) builder.prepare_delete(0, Builder::deleted_key);
  for (std::uint32_t client = 0; client < plans.size(); ++client) {
    if (needs_memory(plans[client])) builder.prepare_set(client, Builder::other_key);
  }
  if (changes_region(beside)) builder.fill_region(0, Builder::usual_containers);
  if (cleans(beside)) builder.clean_up();
  const auto read_first = [&] {
    for (std::uint32_t client = 0; are_cached && client < plans.size(); ++client) {
      builder.prepare_get(client, Builder::present_key);
    }
  };
  if (!has_storing_owner) read_first();
  if (collects_region(beside)) builder.collect_region_with(Builder::present_key, read_first);
  if (collects_block(beside)) builder.collect_block_with(Builder::present_key, read_first);
  if (beside == Beside::growth) builder.grow_table_with(Builder::present_key, read_first);
  return builder.build(std::string(prefix_of(kind)) + name_of(plans, beside));
}

SmallPlans plans_of(const std::vector<SmallOperation>& operations) {
  SmallPlans plans;
  for (const SmallOperation operation : operations) plans.push_back({operation});
  return plans;
}

}  // namespace

std::string_view to_string(SmallOperation operation) {
  constexpr std::array<std::string_view, small_operation_count + 2> names{
      "get", "get_absent", "set_new", "set", "delete", "update", "update_absent"};
  return names[static_cast<std::size_t>(operation)];
}

std::string_view to_string(Beside beside) {
  constexpr std::array<std::string_view, beside_count> names{"nothing",
                                                             "cleanup",
                                                             "collection",
                                                             "cleanup_by_device",
                                                             "collection_by_device",
                                                             "region",
                                                             "region_in_turn",
                                                             "region_to_block",
                                                             "block",
                                                             "region_to_block_by_device",
                                                             "block_by_device",
                                                             "growth"};
  return names[static_cast<std::size_t>(beside)];
}

explorer::SmallWorld make_small_world(const SmallPlans& plans, Beside beside) {
  return make_world_of(plans, beside, Kind::plain);
}

explorer::SmallWorld make_cached_world(const std::vector<SmallOperation>& operations,
                                       Beside beside) {
  return make_world_of(plans_of(operations), beside, Kind::cached);
}

explorer::SmallWorld make_fingerprint_world(const std::vector<SmallOperation>& operations,
                                            Beside beside) {
  return make_world_of(plans_of(operations), beside, Kind::fingerprint);
}

explorer::SmallWorld make_restarted_world(const std::vector<SmallOperation>& operations,
                                          Beside beside) {
  return make_world_of(plans_of(operations), beside, Kind::restarted);
}

explorer::SmallWorld make_small_world(const std::vector<SmallOperation>& operations,
                                      Beside beside) {
  return make_small_world(plans_of(operations), beside);
}

explorer::SmallWorld make_crossed_world(SmallOperation first, SmallOperation second,
                                        Beside beside) {
  return make_small_world(SmallPlans{{first, second}, {second, first}}, beside);
}

static void append_cached_worlds(std::vector<explorer::SmallWorld>& worlds) {
  using enum SmallOperation;
  for (const Beside beside : {Beside::nothing, Beside::cleanup, Beside::collection}) {
    for (const auto& operations : {std::vector{get, get},
                                   {get, set},
                                   {get, remove},
                                   {set, set},
                                   {set, remove},
                                   {remove, remove}}) {
      worlds.push_back(make_cached_world(operations, beside));
    }
  }
}

static void append_fingerprint_worlds(std::vector<explorer::SmallWorld>& worlds) {
  for (const Beside beside : {Beside::nothing, Beside::cleanup, Beside::collection}) {
    for (std::size_t first = 0; first < small_operation_count; ++first) {
      for (std::size_t second = first; second < small_operation_count; ++second) {
        worlds.push_back(make_fingerprint_world(
            {static_cast<SmallOperation>(first), static_cast<SmallOperation>(second)}, beside));
      }
    }
  }
}

static void append_update_worlds(std::vector<explorer::SmallWorld>& worlds) {
  using enum SmallOperation;
  for (const Beside beside : {Beside::nothing, Beside::cleanup, Beside::collection}) {
    for (const auto& operations : {std::vector{get, update},
                                   {set, update},
                                   {remove, update},
                                   {update, update},
                                   {set_new, update_absent},
                                   {update_absent, update_absent}}) {
      worlds.push_back(make_small_world(operations, beside));
    }
  }
}

static void append_restarted_worlds(std::vector<explorer::SmallWorld>& worlds) {
  using enum SmallOperation;
  for (const Beside beside :
       {Beside::nothing, Beside::cleanup, Beside::collection, Beside::block}) {
    for (const auto& operations : {std::vector{get},
                                   {get_absent},
                                   {set_new},
                                   {set},
                                   {remove},
                                   {get, get},
                                   {get, set},
                                   {get, remove},
                                   {set, set},
                                   {set, remove},
                                   {remove, remove}}) {
      worlds.push_back(make_restarted_world(operations, beside));
    }
  }
}

std::vector<explorer::SmallWorld> all_small_worlds() {
  std::vector<explorer::SmallWorld> worlds;
  std::vector<explorer::SmallWorld> crossed;
  for (std::size_t number = 0; number < beside_count; ++number) {
    const auto beside = static_cast<Beside>(number);
    const bool is_region = changes_region(beside);
    const bool has_crossed =
        beside == Beside::nothing || beside == Beside::cleanup || beside == Beside::collection;
    for (std::size_t first = 0; first < small_operation_count; ++first) {
      for (std::size_t second = 0; second < small_operation_count; ++second) {
        const std::vector<SmallOperation> operations{static_cast<SmallOperation>(first),
                                                     static_cast<SmallOperation>(second)};
        if (is_region ? !needs_memory({operations[0]}) : second < first) continue;
        worlds.push_back(make_small_world(operations, beside));
        if (has_crossed) {
          crossed.push_back(make_crossed_world(operations[0], operations[1], beside));
        }
      }
      const auto alone = static_cast<SmallOperation>(first);
      if (is_region && needs_memory({alone})) worlds.push_back(make_small_world({alone}, beside));
    }
  }
  std::ranges::move(crossed, std::back_inserter(worlds));
  append_cached_worlds(worlds);
  append_fingerprint_worlds(worlds);
  append_update_worlds(worlds);
  append_restarted_worlds(worlds);
  return worlds;
}

}  // namespace falafel::store_scenario
