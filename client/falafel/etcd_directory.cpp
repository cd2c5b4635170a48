#include "falafel/etcd_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "fabric/time_units.h"

namespace falafel {
namespace {

using nlohmann::json;

constexpr int format = 1;
constexpr std::uint64_t longest_ms = 3'600'000;

tl::expected<std::vector<std::string>, std::string> parse_names(const json& names) {
  const auto is_text = [](const json& name) { return name.is_string(); };
  if (!names.is_array() || !std::ranges::all_of(names, is_text)) {
    return tl::unexpected(std::string("not a list of names"));
  }
  auto parsed = names.get<std::vector<std::string>>();
  if (std::string problem = engine::problem_of(parsed); !problem.empty()) {
    return tl::unexpected(problem);
  }
  return parsed;
}

tl::expected<engine::PlacementTimes, std::string> parse_times(const json& object) {
  const json lease = object.value("lease_ms", json());
  const json settle = object.value("settle_ms", json());
  if (!lease.is_number_unsigned() || !settle.is_number_unsigned()) {
    return tl::unexpected(std::string("lease_ms or settle_ms: no number"));
  }
  const auto lease_ms = lease.get<std::uint64_t>();
  const auto settle_ms = settle.get<std::uint64_t>();
  if (lease_ms == 0 || settle_ms <= lease_ms || settle_ms > longest_ms) {
    return tl::unexpected(
        fmt::format("lease_ms is {} and settle_ms {}; 0 < lease_ms < settle_ms <= {} must hold",
                    lease_ms, settle_ms, longest_ms));
  }
  return engine::PlacementTimes{.lease_ns = lease_ms * fabric::millisecond_ns,
                                .settle_ns = settle_ms * fabric::millisecond_ns};
}

}  // namespace

tl::expected<engine::PlacementList, std::string> parse_placement(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return tl::unexpected(std::string("not a JSON object"));
  if (object.value("format", json()) != format) {
    return tl::unexpected(fmt::format("its format is not {}, which this version knows", format));
  }
  const auto servers = parse_names(object.value("servers", json()));
  if (!servers) return tl::unexpected("servers: " + servers.error());
  const auto times = parse_times(object);
  if (!times) return tl::unexpected(times.error());
  engine::PlacementList list{.servers = *servers, .times = *times};
  if (!object.contains("next")) return list;
  const auto next = parse_names(object["next"]);
  if (!next) return tl::unexpected("next: " + next.error());
  const json changed_by = object.value("changed_by", json());
  if (!changed_by.is_number_unsigned()) return tl::unexpected(std::string("changed_by: no number"));
  list.next = *next;
  list.changed_by = changed_by.get<std::uint64_t>();
  return list;
}

std::string to_text(const engine::PlacementList& list) {
  json object{{"format", format},
              {"servers", list.servers},
              {"lease_ms", list.times.lease_ns / fabric::millisecond_ns},
              {"settle_ms", list.times.settle_ns / fabric::millisecond_ns}};
  if (list.is_changing()) {
    object["next"] = list.next;
    object["changed_by"] = list.changed_by;
  }
  constexpr int on_one_line = -1;
  return object.dump(on_one_line, ' ', false, json::error_handler_t::replace);
}

tl::expected<EtcdDirectory::Entry, std::string> EtcdDirectory::read() {
  const auto value = etcd_.read(key_);
  if (!value) return tl::unexpected(value.error());
  if (value->revision == 0) return Entry();
  auto list = parse_placement(value->text);
  if (!list) {
    return tl::unexpected(
        fmt::format("the list of servers in etcd's key '{}' is damaged: {}", key_, list.error()));
  }
  return Entry{.list = std::move(*list), .revision = value->revision};
}

tl::expected<bool, std::string> EtcdDirectory::replace(const engine::PlacementList& list,
                                                       std::uint64_t revision) {
  const std::string text = to_text(list);
  // The directory does not write a list that clients cannot read or would read differently.
  const auto readable = parse_placement(text);
  if (!readable) return tl::unexpected("this is no list of servers: " + readable.error());
  if (*readable != list) {
    return tl::unexpected(
        std::string("a list of servers has names in UTF-8, and times in whole milliseconds"));
  }
  return etcd_.replace(key_, text, revision);
}

}  // namespace falafel
