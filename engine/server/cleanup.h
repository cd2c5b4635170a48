// A cleanup removes deleted entries from the table (Behringer 3.6.2). A deleted entry cannot just be
// emptied, because searches end at empty entries: what is behind it in its collision chain has to move up.
//
// There are two: CleanupByRehash is the thesis', which locks the rest of a chain. CleanupByShift locks two
// entries at a time; stores whose walks are bounded (Safeguards::bounded_walks) use it.
#pragma once

namespace falafel::engine {

class Cleanup {
 public:
  virtual ~Cleanup() = default;
  // Goes on with what a fiber that was cancelled has left in the middle. Before anybody else looks for locks.
  virtual void finish() = 0;
  // One piece of a pass over the table. Waits. True if the pass is over.
  virtual bool clean_piece() = 0;
};

}  // namespace falafel::engine
