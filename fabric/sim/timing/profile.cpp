#include "fabric/sim/timing/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace falafel::sim::timing {

namespace {

using nlohmann::json;
using Unexpected = tl::unexpected<std::string>;

constexpr std::string_view format_name = "falafel profile 1";
constexpr double largest_value = 1e9;
constexpr double ps_per_ns = 1'000;

// The unit of a value in the file. Times are in nanoseconds there.
enum class Unit : std::uint8_t { nanoseconds, count };

struct Field {
  std::string_view name;
  Unit unit;
  std::uint64_t Profile::*member;
};

constexpr std::array fields{
    Field{"doorbell_ns", Unit::nanoseconds, &Profile::doorbell_ps},
    Field{"requester_ns", Unit::nanoseconds, &Profile::requester_ps},
    Field{"requester_interval_ns", Unit::nanoseconds, &Profile::requester_interval_ps},
    Field{"completion_ns", Unit::nanoseconds, &Profile::completion_ps},
    Field{"wire_ns", Unit::nanoseconds, &Profile::wire_ps},
    Field{"link_ns_per_byte", Unit::nanoseconds, &Profile::link_ps_per_byte},
    Field{"header_bytes", Unit::count, &Profile::header_bytes},
    Field{"bus_ns_per_byte", Unit::nanoseconds, &Profile::bus_ps_per_byte},
    Field{"read_ns", Unit::nanoseconds, &Profile::read_ps},
    Field{"write_ns", Unit::nanoseconds, &Profile::write_ps},
    Field{"atomic_ns", Unit::nanoseconds, &Profile::atomic_ps},
    Field{"send_ns", Unit::nanoseconds, &Profile::send_ps},
    Field{"acknowledge_ns_per_byte", Unit::nanoseconds, &Profile::acknowledge_ps_per_byte},
    Field{"placement_ns", Unit::nanoseconds, &Profile::placement_ps},
    Field{"read_gap_ns", Unit::nanoseconds, &Profile::read_gap_ps},
    Field{"read_interval_ns", Unit::nanoseconds, &Profile::read_interval_ps},
    Field{"read_interval_ns_per_byte", Unit::nanoseconds, &Profile::read_interval_ps_per_byte},
    Field{"write_interval_ns", Unit::nanoseconds, &Profile::write_interval_ps},
    Field{"atomic_interval_ns", Unit::nanoseconds, &Profile::atomic_interval_ps},
    Field{"send_interval_ns", Unit::nanoseconds, &Profile::send_interval_ps},
    Field{"word_interval_ns", Unit::nanoseconds, &Profile::word_interval_ps},
    Field{"retry_ns", Unit::nanoseconds, &Profile::retry_ps},
    Field{"cached_queue_pairs", Unit::count, &Profile::cached_queue_pairs},
    Field{"queue_pair_miss_ns", Unit::nanoseconds, &Profile::queue_pair_miss_ps},
    Field{"handshake_ns", Unit::nanoseconds, &Profile::handshake_ps},
    Field{"processors", Unit::count, &Profile::processors},
    Field{"post_ns", Unit::nanoseconds, &Profile::post_ps},
    Field{"poll_ns", Unit::nanoseconds, &Profile::poll_ps},
    Field{"hash_ns", Unit::nanoseconds, &Profile::hash_ps},
    Field{"hash_ns_per_byte", Unit::nanoseconds, &Profile::hash_ps_per_byte},
    Field{"checksum_ns", Unit::nanoseconds, &Profile::checksum_ps},
    Field{"checksum_ns_per_byte", Unit::nanoseconds, &Profile::checksum_ps_per_byte},
    Field{"copy_ns", Unit::nanoseconds, &Profile::copy_ps},
    Field{"copy_ns_per_byte", Unit::nanoseconds, &Profile::copy_ps_per_byte},
    Field{"operation_ns", Unit::nanoseconds, &Profile::operation_ps},
    Field{"round_trip_ns", Unit::nanoseconds, &Profile::round_trip_ps},
    Field{"lock_ns", Unit::nanoseconds, &Profile::lock_ps}};

constexpr std::array crc64_fields{
    Field{"crc64_check_ns_per_byte", Unit::nanoseconds, &Profile::crc64_check_ps_per_byte},
    Field{"crc64_update_ns_per_byte", Unit::nanoseconds, &Profile::crc64_update_ps_per_byte}};

constexpr std::array message_fields{
    Field{"message_send_interval_ns", Unit::nanoseconds, &Profile::message_send_interval_ps},
    Field{"message_receive_interval_ns", Unit::nanoseconds, &Profile::message_receive_interval_ps}};

constexpr std::array stream_fields{
    Field{"stream_send_ns", Unit::nanoseconds, &Profile::stream_send_ps},
    Field{"stream_receive_ns", Unit::nanoseconds, &Profile::stream_receive_ps},
    Field{"stream_copy_ns_per_byte", Unit::nanoseconds, &Profile::stream_copy_ps_per_byte},
    Field{"stream_wake_ns", Unit::nanoseconds, &Profile::stream_wake_ps}};

// Values of which a file has all or none.
struct OptionalGroup {
  std::string_view subject;
  std::span<const Field> fields;
  bool Profile::*is_present;
};

constexpr std::array optional_groups{
    OptionalGroup{"CRCs of 64 bits", crc64_fields, &Profile::has_crc64},
    OptionalGroup{"pipelines of messages", message_fields, &Profile::has_message_pipelines},
    OptionalGroup{"message streams", stream_fields, &Profile::has_message_streams}};

bool is_in(std::span<const Field> group, std::string_view name) {
  return std::ranges::find(group, name, &Field::name) != group.end();
}

double factor_of(const Field& field) { return field.unit == Unit::nanoseconds ? ps_per_ns : 1; }

tl::expected<json, std::string> parse_json(std::string_view text) {
  json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return Unexpected("the profile is not JSON");
  if (!parsed.is_object() || parsed.value("format", json()) != format_name) {
    return Unexpected(
        fmt::format("the profile does not begin with \"format\": \"{}\"", format_name));
  }
  for (const char* key : {"name", "title"}) {
    if (!parsed.contains(key) || !parsed[key].is_string()) {
      return Unexpected(fmt::format("the profile has no \"{}\"; add a text", key));
    }
  }
  if (!parsed.contains("values") || !parsed["values"].is_object()) {
    return Unexpected("the profile has no object \"values\"");
  }
  return parsed;
}

tl::expected<ProfileValue, std::string> read_value(const std::string& name, const json& entry) {
  const bool is_known =
      is_in(fields, name) || std::ranges::any_of(optional_groups, [&](const OptionalGroup& group) {
        return is_in(group.fields, name);
      });
  if (!is_known) {
    return Unexpected(fmt::format("unknown value '{}'; docs/performance.md lists all", name));
  }
  if (!entry.is_object() || !entry.contains("value") || !entry["value"].is_number() ||
      !entry.contains("source") || !entry["source"].is_string()) {
    return Unexpected(fmt::format(
        "'{}' needs a number \"value\" and a text \"source\" that says where it comes from", name));
  }
  ProfileValue value{.name = name, .value = entry["value"], .source = entry["source"]};
  if (!(value.value >= 0 && value.value <= largest_value)) {
    return Unexpected(fmt::format("'{}' is {}; use 0 to {}", name, value.value, largest_value));
  }
  if (value.source.empty()) return Unexpected(fmt::format("'{}' has an empty \"source\"", name));
  return value;
}

tl::expected<void, std::string> read_fields(std::span<const Field> group,
                                            std::span<const ProfileValue> values,
                                            Profile& profile) {
  for (const Field& field : group) {
    const auto value = std::ranges::find(values, field.name, &ProfileValue::name);
    if (value == values.end()) {
      return Unexpected(fmt::format("the profile lacks the value '{}'", field.name));
    }
    profile.*field.member =
        static_cast<std::uint64_t>(std::llround(value->value * factor_of(field)));
  }
  return {};
}

tl::expected<void, std::string> read_group(const OptionalGroup& group,
                                           std::span<const ProfileValue> values, Profile& profile) {
  profile.*group.is_present = std::ranges::any_of(
      values, [&](const ProfileValue& value) { return is_in(group.fields, value.name); });
  if (!(profile.*group.is_present)) return {};
  if (auto read = read_fields(group.fields, values, profile); !read) {
    return Unexpected(
        fmt::format("{}; give all values of {}, or none", read.error(), group.subject));
  }
  return {};
}

tl::expected<void, std::string> check(const Profile& profile) {
  if (profile.processors == 0) return Unexpected("'processors' is 0; use at least 1");
  if (profile.retry_ps == 0) return Unexpected("'retry_ns' is 0; a SEND would retry forever");
  return {};
}

}  // namespace

tl::expected<std::vector<ProfileValue>, std::string> profile_values(std::string_view text) {
  const auto parsed = parse_json(text);
  if (!parsed) return Unexpected(parsed.error());
  std::vector<ProfileValue> values;
  for (const auto& [name, entry] : (*parsed)["values"].items()) {
    auto value = read_value(name, entry);
    if (!value) return Unexpected(value.error());
    values.push_back(std::move(*value));
  }
  return values;
}

tl::expected<Profile, std::string> parse_profile(std::string_view text) {
  const auto parsed = parse_json(text);
  if (!parsed) return Unexpected(parsed.error());
  const auto values = profile_values(text);
  if (!values) return Unexpected(values.error());
  Profile profile;
  profile.name = (*parsed)["name"];
  profile.title = (*parsed)["title"];
  if (auto read = read_fields(fields, *values, profile); !read) return Unexpected(read.error());
  for (const OptionalGroup& group : optional_groups) {
    if (auto read = read_group(group, *values, profile); !read) return Unexpected(read.error());
  }
  if (const auto checked = check(profile); !checked) return Unexpected(checked.error());
  return profile;
}

std::vector<std::string_view> profile_names() {
  std::vector<std::string_view> names;
  for (const ProfileText& profile : profile_texts()) names.push_back(profile.name);
  return names;
}

static bool is_in_program(std::string_view name) {
  return std::ranges::find(profile_texts(), name, &ProfileText::name) != profile_texts().end();
}

tl::expected<Profile, std::string> find_profile(std::string_view name) {
  const auto profile = std::ranges::find(profile_texts(), name, &ProfileText::name);
  if (profile != profile_texts().end()) return parse_profile(profile->text);
  return Unexpected(fmt::format("there is no profile '{}'; name a file, or one of: {}", name,
                                fmt::join(profile_names(), ", ")));
}

tl::expected<Profile, std::string> find_or_read_profile(const std::string& name) {
  std::ifstream file(name);
  const bool looks_like_a_path = name.find('/') != std::string::npos || name.ends_with(".json");
  if (is_in_program(name) || (!file.is_open() && !looks_like_a_path)) return find_profile(name);
  file.peek();  // fails for a directory
  if (!file.is_open() || file.bad()) {
    return Unexpected(fmt::format("cannot read '{}'; check the file", name));
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto profile = parse_profile(text);
  if (!profile) return Unexpected(fmt::format("'{}': {}", name, profile.error()));
  return profile;
}

std::string to_text(const Profile& profile,
                    const std::function<std::string(std::string_view name)>& source_of) {
  nlohmann::ordered_json values;
  const auto write = [&](const Field& field) {
    values[std::string(field.name)] = {
        {"value", static_cast<double>(profile.*field.member) / factor_of(field)},
        {"source", source_of(field.name)}};
  };
  std::ranges::for_each(fields, write);
  for (const OptionalGroup& group : optional_groups) {
    if (profile.*group.is_present) std::ranges::for_each(group.fields, write);
  }
  const nlohmann::ordered_json text{{"format", format_name},
                                    {"name", profile.name},
                                    {"title", profile.title},
                                    {"values", values}};
  return text.dump(2) + '\n';
}

}  // namespace falafel::sim::timing
