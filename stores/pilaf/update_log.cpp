#include "stores/pilaf/update_log.h"

#include <algorithm>
#include <utility>

namespace falafel::pilaf {

UpdateLog::UpdateLog(fabric::Host& host, const Options& options,
                     std::shared_ptr<fabric::MemoryBlock> block)
    : host_(host), options_(options), block_(std::move(block)), has_appended_(host.create_event()) {
  begin_run();
}

fabric::Result<std::unique_ptr<UpdateLog>> UpdateLog::open(fabric::Host& host,
                                                           const Options& options) {
  auto kept = host.keep_memory(options.log_name, options.log_bytes);
  if (!kept) return tl::unexpected(kept.error());
  return std::unique_ptr<UpdateLog>(new UpdateLog(host, options, std::move(kept->block)));
}

// A process that ends before it has stored the magic word has logged nothing.
void UpdateLog::begin_run() {
  if (block_->load(log_magic_offset) == log_magic) {
    run_ = block_->load(log_runs_offset) + 1;
  } else {
    block_->store(log_incarnation_offset, host_.random(0));
  }
  block_->store(log_runs_offset, run_);
  block_->store(log_magic_offset, log_magic);
}

std::uint64_t UpdateLog::incarnation() const { return block_->load(log_incarnation_offset); }

stores::Checksum UpdateLog::checksum() const {
  return options_.safeguards.keyed_checksums ? stores::Checksum::keyed(incarnation())
                                             : stores::Checksum();
}

bool UpdateLog::replay(const std::function<bool(const LoggedChange&)>& apply) {
  const std::span<const std::byte> bytes = block_->bytes();  // nobody else accesses it
  std::optional<stores::Checksum> verifies_by;
  if (options_.safeguards.record_checksums) verifies_by = checksum();
  while (const auto change =
             parse_log_record(bytes.subspan(end_), statistics_.replayed + 1, verifies_by)) {
    if (!apply(*change)) return false;
    ++statistics_.replayed;
    end_ += log_record_bytes_of(change->key.size(), change->value.size());
  }
  statistics_.found_part = end_ < bytes.size() && bytes[end_] != std::byte{0};
  statistics_.appended = statistics_.durable = statistics_.replayed;
  const std::uint64_t most_bytes =
      stores::whole_words(log_record_header_bytes + options_.largest_request_bytes);
  if (run_ > 0) erase_behind_end(std::min(most_bytes, options_.log_bytes - end_));
  return true;
}

// Otherwise a shorter record would end in front of the rest of this one. That could be a record, if
// a client has chosen a value that looks like one.
void UpdateLog::erase_behind_end(std::uint64_t length_bytes) {
  block_->write(end_, std::vector<std::byte>(length_bytes));
}

bool UpdateLog::has_room_for(const LoggedChange& change) const {
  const std::uint64_t used_bytes = end_ + waiting_bytes_;
  return log_record_bytes_of(change.key.size(), change.value.size()) <=
         options_.log_bytes - used_bytes;
}

void UpdateLog::append(const LoggedChange& change) {
  waiting_.push_back(make_log_record(change, ++statistics_.appended, checksum()));
  waiting_bytes_ += waiting_.back().size();
  has_appended_->notify_all();
}

void UpdateLog::flush() {
  while (!waiting_.empty()) {
    const std::vector<std::byte>& record = waiting_.front();
    block_->write(end_, record);
    ++statistics_.durable;
    last_bytes_ = record.size();
    end_ += last_bytes_;
    waiting_bytes_ -= last_bytes_;
    waiting_.pop_front();
  }
}

void UpdateLog::flush_after_delay() {
  host_.sleep_until(host_.now_ns() + options_.log_delay_ns);
  flush();
}

void UpdateLog::keep_flushing() {
  while (true) {
    while (waiting_.empty()) has_appended_->wait(fabric::never_ns);
    flush_after_delay();
  }
}

void UpdateLog::take_back_last() {
  --statistics_.appended;
  --statistics_.durable;
  end_ -= last_bytes_;
  erase_behind_end(last_bytes_);
}

}  // namespace falafel::pilaf
