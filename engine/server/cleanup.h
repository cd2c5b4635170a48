// A cleanup removes deleted entries from the table (Behringer 3.6.2). A deleted entry cannot simply
// become empty, because searches end at empty entries: the entries behind it in its collision chain
// have to move forward.
//
// There are two implementations. CleanupByRehash follows the thesis and locks the rest of a chain.
// CleanupByShift locks two entries at a time; stores with bounded walks (Safeguards::bounded_walks)
// use it.
#pragma once

namespace falafel::engine {

class Cleanup {
 public:
  virtual ~Cleanup() = default;
  // Finishes work that a cancelled fiber left incomplete. Must be called before anyone else looks
  // for locks.
  virtual void finish() = 0;
  // Cleans one part of the table. Waits. Returns true at the end of a pass.
  virtual bool clean_piece() = 0;
};

}  // namespace falafel::engine
