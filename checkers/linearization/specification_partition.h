// The calls of a history by the independent object that they concern. Calls that reveal nothing are
// left out: refused ones, and reads without an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "checkers/linearization/specification_model.h"
#include "checkers/specification.h"
#include "checkers/specification_history.h"
#include "fabric/fabric.h"

namespace falafel::checkers::linearization {

template <Specification S>
class SpecificationPartition {
 public:
  // The history must outlive its use here.
  void assign(std::span<const Call<S>> history) {
    history_ = history;
    objects_.clear();
    answered_ = 0;
    number_of_.clear();
    transitions_.assign(history.size(), {});
    if constexpr (!PartitionedSpecification<S>) objects_.resize(1);
    for (std::uint32_t position = 0; position < history.size(); ++position) {
      const Call<S>& call = history[position];
      require_valid(call);
      transitions_[position] = {.number = position, .call = &call};
      if (call.is_refused || reads_without_answer(call)) continue;
      Object& object = object_of(call);
      if (!call.result) merge_with_equal(object, position);
      if (call.result) ++answered_;
      object.positions.push_back(position);
    }
  }

  // The part's name; empty if the specification has no parts.
  const std::string& name(std::size_t part) const { return objects_[part].name; }
  std::span<const std::uint32_t> positions(std::size_t part) const {
    return objects_[part].positions;
  }

  std::size_t parts() const { return objects_.size(); }

  // The number of calls in all parts that have an answer.
  std::size_t answered() const { return answered_; }

  class Part {
   public:
    Part(const SpecificationPartition& all, std::size_t number) : all_(all), number_(number) {}

    std::size_t history_size() const { return all_.history_.size(); }
    std::span<const std::uint32_t> positions() const { return all_.positions(number_); }
    std::uint64_t call_time(std::uint32_t position) const {
      return all_.history_[position].call_time;
    }
    std::uint64_t return_time(std::uint32_t position) const {
      return all_.history_[position].return_time;
    }
    bool is_indeterminate(std::uint32_t position) const {
      return !all_.history_[position].result.has_value();
    }
    const SpecificationTransition<S>& transition(std::uint32_t position) const {
      return all_.transitions_[position];
    }

   private:
    const SpecificationPartition& all_;
    std::size_t number_;
  };

  Part part(std::size_t number) const { return {*this, number}; }

 private:
  struct Object {
    std::string name;
    std::vector<std::uint32_t> positions;
    std::vector<std::uint32_t> different;  // of the calls without an answer, one of each operation
  };

  static void require_valid(const Call<S>& call) {
    const bool returns = call.result.has_value() && !call.is_refused;
    FALAFEL_ASSERT(!returns || call.return_time >= call.call_time,
                   "the operation returns before its call: {}", describe(call));
  }

  static bool reads_without_answer(const Call<S>& call) {
    return !call.result && SpecificationModel<S>::only_reads({.call = &call});
  }

  Object& object_of(const Call<S>& call) {
    if constexpr (!PartitionedSpecification<S>) {
      return objects_.front();
    } else {
      std::string name = S::partition(call.operation);
      const auto [entry, is_new] = number_of_.emplace(name, objects_.size());
      if (is_new) objects_.emplace_back().name = std::move(name);
      return objects_[entry->second];
    }
  }

  void merge_with_equal(Object& object, std::uint32_t position) {
    if constexpr (std::equality_comparable<typename S::Operation>) {
      for (const std::uint32_t earlier : object.different) {
        if (history_[earlier].operation != history_[position].operation) continue;
        transitions_[position].number = earlier;
        return;
      }
      object.different.push_back(position);
    }
  }

  std::span<const Call<S>> history_;
  std::size_t answered_ = 0;
  std::vector<Object> objects_;                          // by first call
  std::map<std::string, std::size_t> number_of_;         // by name
  std::vector<SpecificationTransition<S>> transitions_;  // by position in the history
};

}  // namespace falafel::checkers::linearization
