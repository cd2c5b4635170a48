#include "checkers/linearization/object_partition.h"

#include <utility>

#include "fabric/fabric.h"

namespace falafel::checkers::linearization {

namespace {

void require_valid(const ObjectModel& model, const CallOutline& call, std::size_t position) {
  const bool returns = call.has_answer && !call.is_refused;
  FALAFEL_ASSERT(!returns || call.return_time >= call.call_time,
                 "the operation returns before its call: {}", model.describe(position));
}

}  // namespace

void ObjectPartition::assign(const ObjectModel& model) {
  answered_ = 0;
  calls_.clear();
  transitions_.assign(model.calls(), {});
  objects_.clear();
  number_of_.clear();
  if (!model.has_parts()) objects_.resize(1);
  for (std::uint32_t position = 0; position < model.calls(); ++position) {
    const CallOutline& call = calls_.emplace_back(model.outline(position));
    require_valid(model, call, position);
    const bool only_reads = model.only_reads(position);
    transitions_[position] = {.number = position, .call = position, .only_reads = only_reads};
    if (call.is_refused || (only_reads && !call.has_answer)) continue;
    Object& object = object_of(model, position);
    if (!call.has_answer) merge_with_equal(model, object, position);
    if (call.has_answer) ++answered_;
    object.positions.push_back(position);
  }
}

ObjectPartition::Object& ObjectPartition::object_of(const ObjectModel& model,
                                                    std::uint32_t position) {
  if (!model.has_parts()) return objects_.front();
  std::string name = model.part(position);
  const auto [entry, is_new] = number_of_.emplace(name, objects_.size());
  if (is_new) objects_.emplace_back().name = std::move(name);
  return objects_[entry->second];
}

void ObjectPartition::merge_with_equal(const ObjectModel& model, Object& object,
                                       std::uint32_t position) {
  if (!model.compares_operations()) return;
  for (const std::uint32_t earlier : object.different) {
    if (!model.are_equal(earlier, position)) continue;
    transitions_[position].number = earlier;
    return;
  }
  object.different.push_back(position);
}

}  // namespace falafel::checkers::linearization
