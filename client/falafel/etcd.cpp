#include "falafel/etcd.h"

#include <fmt/format.h>
#include <sodium/utils.h>

#include <charconv>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace falafel {
namespace {

using nlohmann::json;

std::string to_base64(std::string_view text) {
  std::string encoded(sodium_base64_ENCODED_LEN(text.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(encoded.data(), encoded.size(),
                    reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  encoded.pop_back();  // the terminating zero
  return encoded;
}

std::optional<std::string> from_base64(std::string_view encoded) {
  std::string text(encoded.size(), '\0');
  std::size_t length = 0;
  const int status =
      sodium_base642bin(reinterpret_cast<unsigned char*>(text.data()), text.size(), encoded.data(),
                        encoded.size(), nullptr, &length, nullptr, sodium_base64_VARIANT_ORIGINAL);
  if (status != 0) return std::nullopt;
  text.resize(length);
  return text;
}

// The gateway writes numbers of 64 bits as strings.
std::optional<std::uint64_t> number_of(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  const auto& digits = found->get_ref<const std::string&>();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

tl::expected<Etcd, std::string> Etcd::of_endpoints(const std::vector<std::string>& endpoints,
                                                   const EtcdAccess& access) {
  auto requests = EtcdRequests::of_endpoints(endpoints, access);
  if (!requests) return tl::unexpected(requests.error());
  return Etcd(std::move(*requests));
}

tl::expected<Etcd::StoredValue, std::string> Etcd::read(std::string_view key) {
  const auto answer = requests_.call("/v3/kv/range", {{"key", to_base64(key)}});
  if (!answer) return tl::unexpected(answer.error());
  const auto found = answer->find("kvs");
  if (found == answer->end()) return StoredValue();
  const auto malformed = [] {
    return tl::unexpected(std::string("etcd's answer has no value of the known form"));
  };
  if (!found->is_array() || found->size() != 1 || !found->front().is_object()) return malformed();
  const json& entry = found->front();
  const auto revision = number_of(entry, "mod_revision");
  // The gateway leaves an empty value out.
  const json encoded = entry.value("value", json(""));
  if (!revision || !encoded.is_string()) return malformed();
  auto text = from_base64(encoded.get_ref<const std::string&>());
  if (!text) return malformed();
  return StoredValue{.text = std::move(*text), .revision = *revision};
}

tl::expected<bool, std::string> Etcd::replace(std::string_view key, std::string_view text,
                                              std::uint64_t revision) {
  const json compare{{"target", "MOD"},
                     {"result", "EQUAL"},
                     {"key", to_base64(key)},
                     {"mod_revision", fmt::format("{}", revision)}};
  const json put{{"request_put", {{"key", to_base64(key)}, {"value", to_base64(text)}}}};
  const auto answer = requests_.call(
      "/v3/kv/txn", {{"compare", json::array({compare})}, {"success", json::array({put})}});
  if (!answer) return tl::unexpected(answer.error());
  // The gateway leaves out what is false.
  const json succeeded = answer->value("succeeded", json(false));
  return succeeded.is_boolean() && succeeded.get<bool>();
}

// The answer to a watch has no end: a first part without events, and one for each change, or one
// that says that there will be none.
void Etcd::wait_for_change(std::string_view key, std::uint64_t revision,
                           std::chrono::nanoseconds longest, const std::stop_token& stop) const {
  requests_.watch(
      "/v3/watch",
      {{"create_request",
        {{"key", to_base64(key)}, {"start_revision", fmt::format("{}", revision + 1)}}}},
      {.longest = longest, .stop = stop, .awaited = {"\"events\"", "\"canceled\""}});
}

}  // namespace falafel
