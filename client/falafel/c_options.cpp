#include "falafel/c_options.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <concepts>
#include <limits>
#include <optional>
#include <ranges>
#include <vector>

namespace falafel {
namespace {

// The conversions of texts. Each returns what the option expects instead, or an empty text.

std::string convert(std::string_view text, std::string& value) {
  value = text;
  return {};
}

std::string convert(std::string_view text, std::filesystem::path& value) {
  value = text;
  return {};
}

std::string convert(std::string_view text, bool& value) {
  if (text != "true" && text != "false") return "true or false";
  value = text == "true";
  return {};
}

template <std::unsigned_integral Number>
std::string convert(std::string_view text, Number& value) {
  const bool is_hexadecimal = text.starts_with("0x");
  const std::string_view digits = text.substr(is_hexadecimal ? 2 : 0);
  const char* const end = digits.data() + digits.size();
  Number number{};
  const auto parsed = std::from_chars(digits.data(), end, number, is_hexadecimal ? 16 : 10);
  if (parsed.ec != std::errc{} || parsed.ptr != end) {
    return fmt::format("a number from 0 to {}", std::numeric_limits<Number>::max());
  }
  value = number;
  return {};
}

// Separated by commas.
std::string convert(std::string_view text, std::vector<std::string>& values) {
  values.clear();
  for (const auto part : std::views::split(text, ','))
    values.emplace_back(part.begin(), part.end());
  return {};
}

template <typename Value>
std::string convert(std::string_view text, std::optional<Value>& value) {
  Value present{};
  std::string expected = convert(text, present);
  if (expected.empty()) value = present;
  return expected;
}

template <auto member>
std::string set_in_cluster(ClusterOptions& options, std::string_view text) {
  return convert(text, options.*member);
}

template <auto member>
std::string set_in_etcd_access(ClusterOptions& options, std::string_view text) {
  return convert(text, options.etcd_access.*member);
}

template <auto member>
std::string set_in_store(ClusterOptions& options, std::string_view text) {
  return convert(text, options.store.*member);
}

template <auto member>
std::string set_in_fabric(ClusterOptions& options, std::string_view text) {
  return convert(text, options.store.fabric.*member);
}

template <auto member>
std::string set_in_spare(ClusterOptions& options, std::string_view text) {
  std::optional<SparePort>& spare = options.store.fabric.spare;
  if (!spare) spare.emplace();
  return convert(text, *spare.*member);
}

struct Option {
  std::string_view name;
  std::string (*set)(ClusterOptions& options, std::string_view text);
};

constexpr std::array option_table{
    Option{"fabric", &set_in_fabric<&FabricOptions::fabric>},
    Option{"directory", &set_in_fabric<&FabricOptions::directory>},
    Option{"huge_pages", &set_in_fabric<&FabricOptions::huge_pages>},
    Option{"memory_limit_bytes", &set_in_fabric<&FabricOptions::memory_limit_bytes>},
    Option{"device", &set_in_fabric<&FabricOptions::device>},
    Option{"port", &set_in_fabric<&FabricOptions::port>},
    Option{"gid_index", &set_in_fabric<&FabricOptions::gid_index>},
    Option{"partition_key", &set_in_fabric<&FabricOptions::partition_key>},
    Option{"traffic_class", &set_in_fabric<&FabricOptions::traffic_class>},
    Option{"service_level", &set_in_fabric<&FabricOptions::service_level>},
    Option{"own_address", &set_in_fabric<&FabricOptions::own_address>},
    Option{"spare_device", &set_in_spare<&SparePort::device>},
    Option{"spare_port", &set_in_spare<&SparePort::port>},
    Option{"spare_gid_index", &set_in_spare<&SparePort::gid_index>},
    Option{"spare_own_address", &set_in_spare<&SparePort::own_address>},
    Option{"max_operations_in_flight", &set_in_store<&StoreOptions::max_operations_in_flight>},
    Option{"location_cache_entries", &set_in_store<&StoreOptions::location_cache_entries>},
    Option{"connect_timeout_ns", &set_in_store<&StoreOptions::connect_timeout_ns>},
    Option{"server_timeout_ns", &set_in_store<&StoreOptions::server_timeout_ns>},
    Option{"reconnect_interval_ns", &set_in_store<&StoreOptions::reconnect_interval_ns>},
    Option{"metrics", &set_in_store<&StoreOptions::metrics>},
    Option{"etcd", &set_in_cluster<&ClusterOptions::etcd>},
    Option{"etcd_key", &set_in_cluster<&ClusterOptions::etcd_key>},
    Option{"etcd_ca_file", &set_in_etcd_access<&EtcdAccess::ca_file>},
    Option{"etcd_certificate_file", &set_in_etcd_access<&EtcdAccess::certificate_file>},
    Option{"etcd_certificate_key_file", &set_in_etcd_access<&EtcdAccess::certificate_key_file>},
    Option{"etcd_user", &set_in_etcd_access<&EtcdAccess::user>},
    Option{"etcd_password_file", &set_in_etcd_access<&EtcdAccess::password_file>},
};

std::string unknown_option(std::string_view name) {
  std::string names;
  for (const Option& option : option_table) {
    if (!names.empty()) names += ", ";
    names += option.name;
  }
  return fmt::format("there is no option '{}'; available: {}", name, names);
}

}  // namespace

std::string set_option(ClusterOptions& options, std::string_view name, std::string_view value) {
  for (const Option& option : option_table) {
    if (option.name != name) continue;
    const std::string expected = option.set(options, value);
    if (expected.empty()) return {};
    return fmt::format("option '{}': '{}' is not {}", name, value, expected);
  }
  return unknown_option(name);
}

}  // namespace falafel
