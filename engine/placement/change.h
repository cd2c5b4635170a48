// Changes the list of servers of a cluster, and moves the keys (placement.h).
//
// Whoever changes the list also keeps a lease: before each operation on a server it makes sure that
// the directory has named it within PlacementTimes::lease_ns. Somebody else who takes the change
// over waits for settle_ns and for the end of operations, so no operations of the two mix. A change
// that was interrupted at any point can be repeated:
//
// 0. Unless somebody has announced this change before, all servers are searched for keys that they
//    do not have by the list, and for any keys if there is no list. Such keys are deleted without a
//    question only if they are also at the servers that have them by the list. Otherwise the change
//    ends here, or the caller has said that they may go.
// 1. The list gets the next one beside it. Clients stop using the keys that move.
// 2. After settle_ns, each server proves that no operation from before is left: its process runs,
//    and each client has reported so or is fenced. Without the proof, a client that stalled
//    together with the server for longer than settle_ns could finish an operation under an older
//    list. Then each server deletes the keys that are not its own under the list before. A server
//    that joins has none of its own. They are remains of earlier changes.
// 3. The keys that move are copied to their next servers, which replaces what an interrupted
//    attempt has copied.
// 4. The list is replaced by the next one, if every server of that list answers and still has the
//    memory that it had before the copies. Clients use the keys at their new servers.
// 5. If these servers still have it, each server deletes the keys that are not its own any more, to
//    free memory.
//
// A container that does not verify has no key to move, and stops nothing: the report names it.
//
// A server may restart over its memory (ServerOptions::kept_memory). It then has every copy that it
// has acknowledged, and the change goes on. If a server loses its memory before step 4, the change
// fails, and no key is gone that the server did not have by the list. If it loses it between its
// answer in step 4 and the new list, it costs the keys that it had just received. These are then
// not deleted at their former servers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "engine/client/damaged_container.h"
#include "engine/client/results.h"
#include "engine/placement/placement.h"

namespace falafel::engine {

// The place where all clients find the list.
class PlacementDirectory {
 public:
  struct Entry {
    PlacementList list{};        // empty if there is none yet
    std::uint64_t revision = 0;  // 0: there is no list yet
  };
  virtual ~PlacementDirectory() = default;
  // The current list, or newer. Errors are explanations.
  virtual tl::expected<Entry, std::string> read() = 0;
  // Replaces the list if its revision is still the given one; otherwise returns false. After an
  // error, it may have been replaced.
  virtual tl::expected<bool, std::string> replace(const PlacementList& list,
                                                  std::uint64_t revision) = 0;
};

// A GET of this key shows that a server answers, whether it is found or not.
inline constexpr std::array<std::byte, 1> any_key{};

// The keys of a server while its memory has the same content. Each call waits. After the server has
// lost its memory, calls answer `disconnected`, because it has nothing of what it was given.
class ServerKeys {
 public:
  struct Listed {
    std::vector<std::byte> key;
    std::uint64_t time_to_live_ns = 0;  // as VisitPair has it
  };
  struct Contents {
    std::vector<Listed> keys{};
    std::vector<DamagedContainer> damaged{};
  };
  virtual ~ServerKeys() = default;
  // All keys that nobody changes meanwhile, each at least once, but those of containers that do not
  // verify. An error: the contents lack some.
  virtual tl::expected<void, Answer> list(Contents& contents) = 0;
  virtual GetResult get(std::span<const std::byte> key) = 0;
  virtual SetResult set(std::span<const std::byte> key, std::span<const std::byte> value,
                        std::uint64_t time_to_live_ns) = 0;
  virtual DeleteResult remove(std::span<const std::byte> key) = 0;
  virtual DeleteResult drop(const DamagedContainer& damaged) = 0;
  // As Client::wait_for_end_of_operations().
  virtual tl::expected<void, Answer> wait_for_end_of_operations(std::uint64_t timeout_ns) = 0;
  // Asks the server; true if it answers and its memory still has this content.
  virtual bool is_same_incarnation() = 0;
};

using ReachedKeys = tl::expected<std::unique_ptr<ServerKeys>, std::string>;
using MayChange = std::function<bool()>;

struct ChangeTools {
  PlacementDirectory& directory;
  // Connects to a server. Right before each operation that changes it, on the operation's fiber,
  // the keys call may_change(). If it returns false, they answer `disconnected`.
  std::function<ReachedKeys(const std::string& server, const MayChange& may_change)> reach;
  std::function<std::uint64_t()> now_ns;
  std::function<void(std::uint64_t duration_ns)> wait;
  PlacementTimes times{};        // of a list that is new; others keep theirs
  std::uint64_t own_number = 0;  // random, not 0
  // A change may delete strays: keys that are nowhere else than at servers that do not have them by
  // the list.
  bool may_delete_strays = false;
  bool drops_damaged = false;  // containers that do not verify
};

struct ChangeReport {
  std::uint64_t moved = 0;    // keys that were copied
  std::uint64_t deleted = 0;  // at servers that they do not belong to
  // The containers that do not verify, at servers of the list before. Their keys are not copied:
  // they stay where they are, or were dropped.
  struct Damaged {
    std::string server;
    DamagedContainer container;
    bool is_dropped = false;
  };
  std::vector<Damaged> damaged{};
};

// Servers in `lost` leave the list, are not asked for their keys, and take these with them. Without
// a list so far, it becomes the list.
// Errors are explanations with a remedy; the change is then either not begun or can be repeated or
// given up.
tl::expected<ChangeReport, std::string> change_placement(ChangeTools& tools,
                                                         const std::vector<std::string>& next,
                                                         const std::vector<std::string>& lost = {});
// Returns to the list before a change that is under way.
tl::expected<void, std::string> give_up_change(PlacementDirectory& directory);

}  // namespace falafel::engine
