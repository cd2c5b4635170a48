#include "engine/placement/change.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/layout/pinned.h"

namespace falafel::engine {
namespace {

using Step = tl::expected<void, std::string>;
using Failure = tl::unexpected<std::string>;
using Key = std::vector<std::byte>;

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

Failure taken_over() {
  return Failure(std::string("somebody else has changed the list meanwhile; look at it first"));
}

Failure failed(const std::string& server, Answer answer, std::string_view deed) {
  const std::string_view reason =
      answer == Answer::disconnected ? " (it is away, has lost its memory, or this command stalled)"
                                     : "";
  return Failure("'" + server + "' answers '" + std::string(to_string(answer)) + "'" +
                 std::string(reason) + " while " + std::string(deed) +
                 "; repeat the change, or give it up");
}

class Change {
 public:
  Change(ChangeTools& tools, const std::vector<std::string>& next,
         const std::vector<std::string>& lost)
      : tools_(tools), next_(next), lost_(lost) {}

  tl::expected<ChangeReport, std::string> run() {
    const Step changed = check_request()
                             .and_then([this] { return read_list(); })
                             .and_then([this] { return reach_servers(); })
                             .and_then([this] { return search_for_strays(); })
                             .and_then([this] { return announce(); })
                             .and_then([this] { return move_keys(); });
    if (!changed) return Failure(changed.error());
    if (const auto emptied = receiver_without_copies()) {
      return Failure("the list has changed, but '" + *emptied +
                     "' has lost its memory just then, or is away: keys that moved to it may be "
                     "gone. Nothing was deleted, so their former servers still have them");
    }
    const Step swept = delete_originals();
    if (!swept)
      return Failure("the list has changed, but old copies take memory: " + swept.error());
    return report_;
  }

 private:
  Step check_request() const {
    if (std::string problem = problem_of(next_); !problem.empty()) return Failure(problem);
    for (const std::string& server : lost_) {
      if (has(next_, server)) return Failure("'" + server + "' is lost, and in the list as well");
    }
    return {};
  }

  Step read_list() {
    const auto entry = tools_.directory.read();
    if (!entry) return Failure(entry.error());
    list_ = entry->list;
    revision_ = entry->revision;
    has_list_ = !list_.servers.empty();
    if (list_.is_changing() && list_.next != next_) {
      return Failure("a change to " + joined(list_.next) +
                     " is under way; repeat it with the same list, or give it up");
    }
    if (!has_list_) list_ = {.servers = next_, .times = tools_.times};
    return {};
  }

  Step reach_servers() {
    std::vector<std::string> servers = list_.servers;
    servers.insert(servers.end(), next_.begin(), next_.end());
    for (const std::string& server : servers) {
      if (has(lost_, server) || servers_.contains(server)) continue;
      auto reached = tools_.reach(server, [this] { return has_lease(); });
      if (!reached) {
        return Failure("'" + server + "': " + reached.error() +
                       "; repeat this when it is back, or name it as lost with all of its keys");
      }
      servers_[server] = std::move(*reached);
    }
    return {};
  }

  // Strays

  struct Strays {
    std::uint64_t unproven = 0;
    std::uint64_t keys = 0;  // of the server, with these
  };

  // Whoever announced a change has searched before that.
  Step search_for_strays() {
    if (list_.is_changing() || tools_.may_delete_strays) return {};
    const Placement placement(list_);
    std::string found;
    for (const auto& [server, keys] : servers_) {
      const auto strays = strays_of(server, placement);
      if (!strays) return Failure(strays.error());
      if (has_list_ ? strays->unproven == 0 : strays->keys == 0) continue;
      found += (found.empty() ? "'" : ", '") + server + "' has " + std::to_string(strays->keys) +
               " keys, of which " + std::to_string(strays->unproven) + " would be deleted";
    }
    if (found.empty()) return {};
    const std::string_view reason =
        has_list_ ? "servers have keys that the list has at other servers, which do not have them: "
                  : "there is no list yet, and servers have keys: ";
    return Failure(std::string(reason) + found +
                   ". Make sure that these are the right servers, and that the list is the right "
                   "one. If these keys may go, say so (falafel members --delete-strays)");
  }

  tl::expected<Strays, std::string> strays_of(const std::string& server,
                                              const Placement& placement) {
    const auto contents = contents_of(server);
    if (!contents) return Failure(contents.error());
    Strays strays{.keys = contents->keys.size()};
    for (const auto& [key, time_to_live_ns] : contents->keys) {
      const std::string& owner = placement.current_server_of(key);
      if (owner == server) continue;
      const auto reached = servers_.find(owner);  // not if it is lost
      const bool is_proven =
          reached != servers_.end() && reached->second->get(key).answer == Answer::found;
      if (!is_proven) ++strays.unproven;
    }
    return strays;
  }

  Step announce() {
    former_ = list_.servers;
    list_.next = next_;
    list_.changed_by = tools_.own_number;
    return replace(list_);
  }

  Step move_keys() {
    tools_.wait(list_.times.settle_ns);
    const Placement placement(list_);
    return wait_for_end_of_operations()
        .and_then([&] { return delete_strays(placement); })
        .and_then([&] { return copy(placement); })
        .and_then([this] { return make_sure_of_list(0); })
        .and_then([this] { return make_sure_of_copies(); })
        .and_then([this] { return replace({.servers = next_, .times = list_.times}); });
  }

  // The list

  Step replace(const PlacementList& list) {
    const auto replaced = tools_.directory.replace(list, revision_);
    if (!replaced) return Failure(replaced.error());
    if (!*replaced) return taken_over();
    list_ = list;
    return make_sure_of_list(0);
  }

  // Makes sure that the directory had our list at most `age_ns` ago.
  Step make_sure_of_list(std::uint64_t age_ns) {
    const std::uint64_t asked_ns = tools_.now_ns();
    if (asked_ns < confirmed_ns_ + age_ns) return {};
    const auto entry = tools_.directory.read();
    if (!entry) return Failure(entry.error());
    if (entry->list != list_) return taken_over();
    revision_ = entry->revision;
    confirmed_ns_ = asked_ns;
    return {};
  }

  // Whoever takes the change over waits for longer than a lease.
  bool has_lease() const { return tools_.now_ns() < confirmed_ns_ + list_.times.lease_ns; }

  // Leaves time to begin an operation while it has the lease.
  Step may_operate() { return make_sure_of_list(list_.times.lease_ns / 2); }

  Step wait_for_end_of_operations() {
    for (const auto& [server, keys] : servers_) {
      const auto ended = keys->wait_for_end_of_operations(list_.times.settle_ns);
      if (!ended) {
        return failed(server, ended.error(),
                      "it is asked whether operations under the list before have ended (its "
                      "process may be stopped, or that of one of its clients)");
      }
    }
    return {};
  }

  // The copies

  // A server of the next list that may lack what was copied to it.
  std::optional<std::string> receiver_without_copies() {
    for (const std::string& server : next_) {
      if (!servers_[server]->is_same_incarnation()) return server;
    }
    return std::nullopt;
  }

  Step make_sure_of_copies() {
    const auto emptied = receiver_without_copies();
    if (!emptied) return {};
    return Failure("'" + *emptied +
                   "' has lost its memory since keys were copied to it, or is away; repeat the "
                   "change, or give it up");
  }

  // The keys

  tl::expected<ServerKeys::Contents, std::string> contents_of(const std::string& server) {
    ServerKeys::Contents contents;
    const auto done = servers_[server]->list(contents);
    if (!done) return failed(server, done.error(), "its keys are listed");
    return contents;
  }

  // Deletes the keys for which is_remains(key, server).
  template <typename IsRemains>
  Step sweep(const IsRemains& is_remains) {
    for (const auto& [server, keys] : servers_) {
      const auto contents = contents_of(server);
      if (!contents) return Failure(contents.error());
      for (const auto& [key, time_to_live_ns] : contents->keys) {
        if (!is_remains(key, server)) continue;
        if (Step current = may_operate(); !current) return current;
        const Answer answer = keys->remove(key).answer;
        if (answer == Answer::deleted) ++report_.deleted;
        if (answer != Answer::deleted && answer != Answer::not_found) {
          return failed(server, answer, "keys of other servers are deleted");
        }
      }
    }
    return {};
  }

  Step delete_strays(const Placement& placement) {
    return sweep([&](const Key& key, const std::string& server) {
      return placement.current_server_of(key) != server;
    });
  }

  // Deletes the originals of the keys that were copied, and nothing else.
  Step delete_originals() {
    const Placement before({.servers = former_});
    const Placement after({.servers = next_});
    return sweep([&](const Key& key, const std::string& server) {
      return before.current_server_of(key) == server && after.current_server_of(key) != server;
    });
  }

  Step copy(const Placement& placement) {
    for (const std::string& server : list_.servers) {
      if (has(lost_, server)) continue;
      const std::uint64_t listed_ns = tools_.now_ns();
      const auto contents = contents_of(server);
      if (!contents) return Failure(contents.error());
      for (const DamagedContainer& damaged : contents->damaged) {
        if (Step noted = note(server, damaged); !noted) return noted;
      }
      for (const auto& [key, time_to_live_ns] : contents->keys) {
        const std::string& target = placement.next_server_of(key);
        if (target == server) continue;
        Step copied =
            copy(key, {.listed_ns = listed_ns, .left_ns = time_to_live_ns}, server, target);
        if (!copied) return copied;
      }
    }
    return {};
  }

  Step note(const std::string& server, const DamagedContainer& damaged) {
    report_.damaged.push_back({.server = server, .container = damaged});
    if (!tools_.drops_damaged) return {};
    if (Step current = may_operate(); !current) return current;
    const Answer answer = servers_[server]->drop(damaged).answer;
    report_.damaged.back().is_dropped = answer == Answer::deleted;
    if (answer == Answer::deleted || answer == Answer::not_found) return {};
    return failed(server, answer, "a damaged container is dropped");
  }

  // The time to live that a key had left when the keys of its server were listed; 0: it has none.
  struct ListedTime {
    std::uint64_t listed_ns = 0;
    std::uint64_t left_ns = 0;

    bool passes() const { return left_ns != 0 && left_ns != pinned_time_to_live_ns; }
  };

  Step copy(std::span<const std::byte> key, const ListedTime& time, const std::string& source,
            const std::string& target) {
    const GetResult found = servers_[source]->get(key);
    if (found.answer == Answer::not_found) return {};  // it has expired, or was evicted
    if (found.answer != Answer::found) return failed(source, found.answer, "a key is read");
    if (Step current = may_operate(); !current) return current;
    const std::uint64_t age_ns = tools_.now_ns() - time.listed_ns;
    if (time.passes() && time.left_ns <= age_ns) return {};  // it expires now
    const std::uint64_t time_to_live_ns = time.passes() ? time.left_ns - age_ns : time.left_ns;
    const Answer answer = servers_[target]->set(key, found.value, time_to_live_ns).answer;
    if (answer != Answer::stored) return failed(target, answer, "a key is copied to it");
    ++report_.moved;
    return {};
  }

  ChangeTools& tools_;
  const std::vector<std::string>& next_;
  const std::vector<std::string>& lost_;
  PlacementList list_;
  bool has_list_ = false;
  std::vector<std::string> former_;  // the servers of the list before
  std::uint64_t revision_ = 0;
  std::uint64_t confirmed_ns_ = 0;
  std::map<std::string, std::unique_ptr<ServerKeys>> servers_;
  ChangeReport report_;
};

}  // namespace

tl::expected<ChangeReport, std::string> change_placement(ChangeTools& tools,
                                                         const std::vector<std::string>& next,
                                                         const std::vector<std::string>& lost) {
  return Change(tools, next, lost).run();
}

tl::expected<void, std::string> give_up_change(PlacementDirectory& directory) {
  const auto entry = directory.read();
  if (!entry) return Failure(entry.error());
  if (!entry->list.is_changing()) return Failure(std::string("no change is under way"));
  const auto replaced = directory.replace(
      {.servers = entry->list.servers, .times = entry->list.times}, entry->revision);
  if (!replaced) return Failure(replaced.error());
  if (!*replaced) return taken_over();
  return {};
}

}  // namespace falafel::engine
