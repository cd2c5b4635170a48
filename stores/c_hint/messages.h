// The messages between client and server: private data of the connection request and reply, then
// SEND and RECV; and the reports that clients WRITE into their containers (C-Hint 3.4.1).
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::c_hint {

inline constexpr std::uint32_t hello_magic = 0x4348'494e;
inline constexpr std::uint32_t layout_version = 3;

struct ClientHello {
  std::uint32_t magic = hello_magic;
  std::uint32_t version = layout_version;
  // Random; the same in all connections of a client, so the server drops the connection that the
  // client has given up.
  std::uint64_t client_id = 0;
  std::uint32_t container_key = 0;  // permits WRITE of the client's container, which is at 0
  std::uint32_t container_bytes = 0;
};
static_assert(sizeof(ClientHello) == 24);

struct ServerHello {
  std::uint32_t magic = hello_magic;
  std::uint32_t version = layout_version;
  std::uint64_t items_bytes = 0;
  // Random; another run of the server has none of the items. Also the secret of keyed checksums.
  std::uint64_t incarnation = 0;
  std::uint32_t items_key = 0;      // permits READ of the items
  std::uint32_t container_key = 0;  // permits WRITE of this client's container, which is at 0
  std::uint32_t container_bytes = 0;
  std::uint32_t largest_message_bytes = 0;
  std::uint32_t uses_checksums = 0;
  std::uint32_t has_keyed_checksums = 0;
  std::uint32_t leases_are_absolute = 0;
  std::uint32_t zero = 0;
};
static_assert(sizeof(ServerHello) == 56);
static_assert(sizeof(ServerHello) <= fabric::max_private_data_bytes);

enum class RequestKind : std::uint32_t { get = 1, set = 2, remove = 3, report = 4, ping = 5 };

// Followed by the key and the value. A report is in the value, or in the container.
struct RequestHeader {
  RequestKind kind = RequestKind::ping;
  std::uint32_t request_id = 0;
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
  // report: its bytes in the container; set: the time to live in nanoseconds, 0: without end.
  std::uint64_t argument = 0;
};
static_assert(sizeof(RequestHeader) == 24);

enum class ReplyStatus : std::uint32_t {
  stored = 1,
  deleted = 2,
  found = 3,
  not_found = 4,
  out_of_memory = 5,
  alive = 6,     // to a ping
  reported = 7,  // to a report
};

// A pointer to an item, and its lease: its term, or its end if leases are absolute.
struct RemotePointer {
  std::uint64_t offset = 0;
  std::uint64_t item_bytes = 0;  // 0: there is no pointer
  std::uint64_t version = 0;
  std::uint64_t lease_ns = 0;
};

// Followed by the value. Renewed leases are in the value, or in the client's container.
struct ReplyHeader {
  std::uint32_t request_id = 0;
  ReplyStatus status = ReplyStatus::alive;
  std::uint32_t value_bytes = 0;
  std::uint32_t container_bytes = 0;
  RemotePointer pointer{};
  std::uint64_t budget_left_ns = 0;  // for further reports
};
static_assert(sizeof(ReplyHeader) == 56);
static_assert(sizeof(ReplyHeader) >= sizeof(RequestHeader));

// A report is a row of these, its reply one of renewed leases in the same order.
struct ReportEntry {
  std::uint64_t hash = 0;
  std::uint64_t version = 0;
  std::uint32_t accesses = 1;  // since the item was reported last
  std::uint32_t zero = 0;
};
struct RenewedLease {
  std::uint64_t hash = 0;
  std::uint64_t version = 0;
  std::uint64_t lease_ns = 0;  // 0: the item is not cached in this version
};
static_assert(sizeof(ReportEntry) == 24);
static_assert(sizeof(RenewedLease) == 24);

// As many as there are bytes for.
template <typename Row>
std::vector<Row> rows_from_bytes(std::span<const std::byte> bytes) {
  static_assert(std::has_unique_object_representations_v<Row>);
  std::vector<Row> rows(bytes.size() / sizeof(Row));
  if (!rows.empty()) std::memcpy(rows.data(), bytes.data(), rows.size() * sizeof(Row));
  return rows;
}

}  // namespace falafel::c_hint
