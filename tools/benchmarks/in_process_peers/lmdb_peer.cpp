#include <lmdb.h>

#include <stdexcept>
#include <string>

#include "tools/benchmarks/in_process_peers/peer.h"

namespace falafel::in_process_peers {
namespace {

void require(int status, const char* call) {
  if (status != MDB_SUCCESS) {
    throw std::runtime_error(std::string(call) + ": " + mdb_strerror(status));
  }
}

MDB_val value_of(std::string_view text) {
  return {.mv_size = text.size(), .mv_data = const_cast<char*>(text.data())};
}

class LmdbPeer final : public Peer {
 public:
  explicit LmdbPeer(const PeerPlace& place) {
    require(mdb_env_create(&environment_), "mdb_env_create");
    require(mdb_env_set_mapsize(environment_, place.capacity_bytes), "mdb_env_set_mapsize");
    constexpr unsigned fastest = MDB_NOSYNC | MDB_NOMETASYNC | MDB_WRITEMAP | MDB_NORDAHEAD;
    require(mdb_env_open(environment_, place.directory.c_str(), fastest, 0600), "mdb_env_open");
    MDB_txn* transaction = nullptr;
    require(mdb_txn_begin(environment_, nullptr, 0, &transaction), "mdb_txn_begin");
    require(mdb_dbi_open(transaction, nullptr, 0, &database_), "mdb_dbi_open");
    require(mdb_txn_commit(transaction), "mdb_txn_commit");
    require(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &reading_), "mdb_txn_begin");
    mdb_txn_reset(reading_);
  }
  ~LmdbPeer() override {
    mdb_txn_abort(reading_);
    mdb_env_close(environment_);
  }
  LmdbPeer(const LmdbPeer&) = delete;
  LmdbPeer& operator=(const LmdbPeer&) = delete;

  // Renewing a transaction saves the search for a place in the table of readers.
  bool get(std::string_view key, std::vector<std::byte>& value) override {
    require(mdb_txn_renew(reading_), "mdb_txn_renew");
    MDB_val sought = value_of(key);
    MDB_val found{};
    const int status = mdb_get(reading_, database_, &sought, &found);
    if (status == MDB_SUCCESS) {
      const auto* const bytes = static_cast<const std::byte*>(found.mv_data);
      value.assign(bytes, bytes + found.mv_size);
    }
    mdb_txn_reset(reading_);
    if (status == MDB_NOTFOUND) return false;
    require(status, "mdb_get");
    return true;
  }

  void set(std::string_view key, std::string_view value) override {
    MDB_txn* transaction = nullptr;
    require(mdb_txn_begin(environment_, nullptr, 0, &transaction), "mdb_txn_begin");
    MDB_val written = value_of(key);
    MDB_val content = value_of(value);
    require(mdb_put(transaction, database_, &written, &content, 0), "mdb_put");
    require(mdb_txn_commit(transaction), "mdb_txn_commit");
  }

 private:
  MDB_env* environment_ = nullptr;
  MDB_dbi database_ = 0;
  MDB_txn* reading_ = nullptr;
};

}  // namespace

PeerKind lmdb_peer() {
  return {.create = [](const PeerPlace& place) { LmdbPeer creates(place); },
          .open = [](const PeerPlace& place) { return std::make_unique<LmdbPeer>(place); }};
}

}  // namespace falafel::in_process_peers
