// The server's log of PUTs and DELETEs on its local disk (Pilaf 3.1, 4), from which a restarted
// server rebuilds its contents.
//
// Memory that outlives the process (fabric::Host::keep_memory) stands for the disk. A record waits
// in memory of the process until flush() writes it. A process that ends before that loses it. In
// the middle of a flush, it leaves a part of one record behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "stores/pilaf/log_record.h"
#include "stores/pilaf/options.h"

namespace falafel::pilaf {

struct LogStatistics {
  std::uint64_t replayed = 0;  // records that this run of the server has found
  bool found_part = false;     // behind them, a part of a record
  std::uint64_t appended = 0;  // records, with those that were replayed
  std::uint64_t durable = 0;   // of those, the ones that are on the disk
};

class UpdateLog {
 public:
  // `host` and `options` outlive the log. Errors: those of Host::keep_memory.
  static fabric::Result<std::unique_ptr<UpdateLog>> open(fabric::Host& host,
                                                         const Options& options);
  UpdateLog(const UpdateLog&) = delete;
  UpdateLog& operator=(const UpdateLog&) = delete;

  // The same for all servers on this log, and another for each.
  std::uint64_t incarnation() const;
  std::uint64_t run() const { return run_; }

  // Calls `apply` for each record in order, and erases what is behind the last one. Call it once,
  // before all others. False: `apply` has failed.
  bool replay(const std::function<bool(const LoggedChange&)>& apply);

  bool has_room_for(const LoggedChange& change) const;
  // There is room.
  void append(const LoggedChange& change);
  // Writes all records that are waiting. One fiber at a time.
  void flush();
  // Waits for records. Then waits for the disk (Options::log_delay_ns) and writes them, forever.
  void keep_flushing();
  // Waits for the disk and writes.
  void flush_after_delay();
  // The last record, which flush() has written, is void.
  void take_back_last();

  const LogStatistics& statistics() const { return statistics_; }

 private:
  UpdateLog(fabric::Host& host, const Options& options, std::shared_ptr<fabric::MemoryBlock> block);
  void begin_run();
  stores::Checksum checksum() const;
  void erase_behind_end(std::uint64_t length_bytes);

  fabric::Host& host_;
  const Options& options_;
  std::shared_ptr<fabric::MemoryBlock> block_;
  std::uint64_t run_ = 0;
  std::uint64_t end_ = log_header_bytes;  // of what is written
  std::uint64_t last_bytes_ = 0;          // of the record before that
  std::uint64_t waiting_bytes_ = 0;
  std::deque<std::vector<std::byte>> waiting_;
  std::unique_ptr<fabric::Event> has_appended_;
  LogStatistics statistics_;
};

}  // namespace falafel::pilaf
