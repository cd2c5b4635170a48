#include "tools/command_line/dump/transfer.h"

#include <algorithm>
#include <cstddef>

namespace falafel::dump {

using engine::Answer;

namespace {

std::string_view text_of(const std::vector<std::byte>& bytes) { return falafel::text_of(bytes); }

// The scan cannot be stopped, so a dump that cannot be written ends it by an exception.
struct CannotWrite {};

}  // namespace

tl::expected<void, DumpFailure> dump_store(Store& store, Writer& writer, const Progress& progress) {
  const auto add = [&](std::string_view key, std::span<const std::byte> value,
                       std::uint64_t time_to_live_ns) {
    if (!writer.add(falafel::bytes_of(key), value, time_to_live_ns)) throw CannotWrite();
    progress(writer.entries());
  };
  try {
    const auto scanned = store.for_each_key(add);
    if (scanned) return {};
    return tl::unexpected(DumpFailure{.answer = scanned.error()});
  } catch (const CannotWrite&) {
    return tl::unexpected(DumpFailure{.is_of_file = true});
  }
}

bool Load::fits_batch(const Entry& entry) const {
  constexpr std::size_t most_entries = 256;
  constexpr std::uint64_t most_bytes = std::uint64_t{4} << 20U;
  return batch_.empty() ||
         (batch_.size() < most_entries && batch_bytes_ + entry.value.size() <= most_bytes &&
          batch_.front().time_to_live_ns == entry.time_to_live_ns);
}

std::optional<LoadFailure> Load::run(Reader& reader) {
  if (auto begun = reader.begin(); !begun) return LoadFailure{.problem_of_file = begun.error()};
  while (true) {
    auto entry = reader.next();
    if (!entry || !*entry || !fits_batch(**entry)) {
      if (auto failure = store_batch()) return failure;
    }
    if (!entry) return LoadFailure{.problem_of_file = entry.error()};
    if (!*entry) return std::nullopt;
    batch_bytes_ += (*entry)->value.size();
    batch_.push_back(std::move(**entry));
  }
}

std::optional<LoadFailure> Load::store_batch() {
  if (keeps_existing_) {
    if (auto failure = drop_existing()) return failure;
  }
  if (batch_.empty()) return std::nullopt;
  std::vector<Destination::KeyAndValue> pairs;
  pairs.reserve(batch_.size());
  for (const Entry& entry : batch_) pairs.emplace_back(text_of(entry.key), text_of(entry.value));
  std::optional<LoadFailure> failure;
  for (const auto& result : destination_.set_many(pairs, batch_.front().time_to_live_ns)) {
    if (auto found = count(result.answer); found && !failure) failure = std::move(found);
  }
  if (failure) return failure;
  batch_.clear();
  batch_bytes_ = 0;
  progress_(counts_.loaded + counts_.kept + counts_.not_fitting());
  return std::nullopt;
}

// A key that the dump has twice is in one batch or in two. One of its values stays in either case.
std::optional<LoadFailure> Load::drop_existing() {
  std::vector<std::string_view> keys;
  keys.reserve(batch_.size());
  for (const Entry& entry : batch_) keys.push_back(text_of(entry.key));
  const std::vector<engine::GetResult> results = destination_.get_many(keys);
  std::vector<Entry> absent;
  for (std::size_t index = 0; index < batch_.size(); ++index) {
    switch (results[index].answer) {
      case Answer::found: ++counts_.kept; break;
      case Answer::not_found:
      case Answer::corrupted: absent.push_back(std::move(batch_[index])); break;
      default: return LoadFailure{.problem_of_file = {}, .answer = results[index].answer};
    }
  }
  batch_ = std::move(absent);
  return std::nullopt;
}

std::optional<LoadFailure> Load::count(Answer answer) {
  switch (answer) {
    case Answer::stored: ++counts_.loaded; return std::nullopt;
    case Answer::table_full: ++counts_.table_full; return std::nullopt;
    case Answer::out_of_memory: ++counts_.store_full; return std::nullopt;
    case Answer::value_too_large: ++counts_.too_large; return std::nullopt;
    default: return LoadFailure{.problem_of_file = {}, .answer = answer};
  }
}

}  // namespace falafel::dump
