// The calls of a history by the independent object that they concern. Calls that reveal nothing are
// left out: refused ones, and reads without an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "checkers/call_outline.h"
#include "checkers/linearization/object_model.h"
#include "checkers/linearization/remembered_model.h"

namespace falafel::checkers::linearization {

class ObjectPartition {
 public:
  void assign(const ObjectModel& model);

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
    Part(const ObjectPartition& all, std::size_t number) : all_(all), number_(number) {}

    std::size_t history_size() const { return all_.calls_.size(); }
    std::span<const std::uint32_t> positions() const { return all_.positions(number_); }
    std::uint64_t call_time(std::uint32_t position) const {
      return all_.calls_[position].call_time;
    }
    std::uint64_t return_time(std::uint32_t position) const {
      return all_.calls_[position].return_time;
    }
    bool is_indeterminate(std::uint32_t position) const {
      return !all_.calls_[position].has_answer;
    }
    const CallTransition& transition(std::uint32_t position) const {
      return all_.transitions_[position];
    }

   private:
    const ObjectPartition& all_;
    std::size_t number_;
  };

  Part part(std::size_t number) const { return {*this, number}; }

 private:
  struct Object {
    std::string name;
    std::vector<std::uint32_t> positions;
    std::vector<std::uint32_t> different;  // of the calls without an answer, one of each operation
  };

  Object& object_of(const ObjectModel& model, std::uint32_t position);
  void merge_with_equal(const ObjectModel& model, Object& object, std::uint32_t position);

  std::size_t answered_ = 0;
  std::vector<CallOutline> calls_;                // by position in the history
  std::vector<CallTransition> transitions_;       // by position in the history
  std::vector<Object> objects_;                   // by first call
  std::map<std::string, std::size_t> number_of_;  // by name
};

}  // namespace falafel::checkers::linearization
