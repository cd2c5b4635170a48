#include "tools/store_scenario/small_worlds.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "tools/store_scenario/small_world_builder.h"

namespace falafel::store_scenario {
namespace {

using Builder = SmallWorldBuilder;

PlannedOperation plan(const Builder& builder, SmallOperation operation) {
  switch (operation) {
    case SmallOperation::get: return builder.get(Builder::present_key);
    case SmallOperation::get_absent: return builder.get(Builder::absent_key);
    case SmallOperation::set_new: return builder.set(Builder::absent_key);
    case SmallOperation::set: return builder.set(Builder::present_key);
    case SmallOperation::remove: break;
  }
  return builder.remove(Builder::present_key);
}

bool needs_memory(SmallOperation operation) {
  return operation == SmallOperation::set || operation == SmallOperation::set_new;
}

std::string name_of(const std::vector<SmallOperation>& operations, Beside beside) {
  std::string name;
  for (const SmallOperation operation : operations) {
    if (!name.empty()) name += '+';
    name += to_string(operation);
  }
  return beside == Beside::nothing ? name : fmt::format("{}-{}", name, to_string(beside));
}

}  // namespace

std::string_view to_string(SmallOperation operation) {
  constexpr std::array<std::string_view, small_operation_count> names{"get", "get_absent",
                                                                      "set_new", "set", "delete"};
  return names[static_cast<std::size_t>(operation)];
}

std::string_view to_string(Beside beside) {
  constexpr std::array<std::string_view, beside_count> names{
      "nothing", "cleanup", "collection", "cleanup_by_device", "collection_by_device", "region"};
  return names[static_cast<std::size_t>(beside)];
}

explorer::SmallWorld make_small_world(const std::vector<SmallOperation>& operations,
                                      Beside beside) {
  Builder builder;
  const bool cleans = beside == Beside::cleanup || beside == Beside::cleanup_by_device;
  const bool collects = beside == Beside::collection || beside == Beside::collection_by_device;
  if (beside == Beside::cleanup_by_device || beside == Beside::collection_by_device) {
    builder.swap_by_device();
  }
  if (collects || beside == Beside::region) builder.free_at_once();
  for (const SmallOperation operation : operations) builder.add_client({plan(builder, operation)});
  if (cleans) builder.prepare_set(0, Builder::deleted_key);
  if (!collects) builder.prepare_set(0, Builder::present_key);
  if (cleans) builder.prepare_delete(0, Builder::deleted_key);
  for (std::uint32_t client = 0; client < operations.size(); ++client) {
    if (needs_memory(operations[client])) builder.prepare_set(client, Builder::other_key);
  }
  if (beside == Beside::region) builder.fill_region(0, Builder::usual_containers);
  if (cleans) builder.clean_up();
  if (collects) builder.collect_region_with(Builder::present_key);
  return builder.build(name_of(operations, beside));
}

std::vector<explorer::SmallWorld> all_small_worlds() {
  std::vector<explorer::SmallWorld> worlds;
  for (std::size_t beside = 0; beside < beside_count; ++beside) {
    for (std::size_t first = 0; first < small_operation_count; ++first) {
      for (std::size_t second = 0; second < small_operation_count; ++second) {
        const bool is_region = static_cast<Beside>(beside) == Beside::region;
        const std::vector<SmallOperation> operations{static_cast<SmallOperation>(first),
                                                     static_cast<SmallOperation>(second)};
        if (is_region ? !needs_memory(operations[0]) : second < first) continue;
        worlds.push_back(make_small_world(operations, static_cast<Beside>(beside)));
      }
    }
  }
  for (const SmallOperation operation : {SmallOperation::set, SmallOperation::set_new}) {
    worlds.push_back(make_small_world({operation}, Beside::region));
  }
  return worlds;
}

}  // namespace falafel::store_scenario
