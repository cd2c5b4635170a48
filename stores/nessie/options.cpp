#include "stores/nessie/options.h"

#include "stores/nessie/hashing.h"
#include "stores/nessie/layout.h"
#include "stores/nessie/message.h"

namespace falafel::nessie {

// NessieSD and NessieHY have none of the mechanisms of 4.1.3 and 4.3.2 (5).
Options Options::published(Architecture architecture) {
  Options options;
  options.architecture = architecture;
  if (options.is_client_driven()) return options;
  options.filter_bits = 0;
  options.cache_entries = 0;
  options.previous_versions = false;
  options.multi_read = false;
  return options;
}

Options Options::hardened(Architecture architecture) {
  constexpr std::uint64_t response_timeout_ns = 1'000'000'000;
  Options options = published(architecture);
  options.safeguards = Safeguards::hardened();
  options.emptied = EmptyWord::keeps_dte;
  options.abort = Abort::restore;
  options.arrival = Arrival::checksum;
  options.request_timeout_ns = response_timeout_ns;
  return options;
}

namespace {

std::optional<std::string> find_invalid_table(const Options& options) {
  if (options.index_entries == 0) return "index_entries is 0; it must be at least 1";
  if (options.data_entries == 0 || options.data_entries > data_entry_limit) {
    return "data_entries is " + std::to_string(options.data_entries) + "; it must be 1 to 2^47";
  }
  if (options.most_key_bytes == 0) return "most_key_bytes is 0; it must be at least 1";
  if (options.ways == 0 || options.ways > most_ways) {
    return "ways is " + std::to_string(options.ways) + "; it must be 1 to " +
           std::to_string(most_ways);
  }
  if (options.filter_bits > most_filter_bits) {
    return "filter_bits is " + std::to_string(options.filter_bits) + "; it must be at most " +
           std::to_string(most_filter_bits);
  }
  return std::nullopt;
}

std::optional<std::string> find_invalid_service(const Options& options,
                                                const fabric::DeviceAttributes& device) {
  if (options.is_client_driven()) return std::nullopt;
  if (options.server_workers == 0) return "server_workers is 0; it must be at least 1";
  if (options.most_clients == 0) return "most_clients is 0; it must be at least 1";
  if (options.slots_per_lock == 0) return "slots_per_lock is 0; it must be at least 1";
  if (options.most_key_bytes > most_message_key_bytes) {
    return "most_key_bytes is " + std::to_string(options.most_key_bytes) + "; a request has " +
           std::to_string(most_message_key_bytes) + " at most";
  }
  if (options.request_timeout_ns == 0) return "request_timeout_ns is 0; it must be at least 1";
  if (options.arrival == Arrival::tail_in_address_order && !options.assumes_address_order &&
      !device.places_in_address_order) {
    return "arrival is tail_in_address_order, but the device does not place in address order; "
           "choose checksum";
  }
  if (options.is_hybrid() && (options.cache_entries != 0 || options.previous_versions)) {
    return "NessieHY has neither a cache nor previous versions; set cache_entries to 0 and "
           "previous_versions to false";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_invalid_option(const Options& options, std::uint64_t nodes,
                                               const fabric::DeviceAttributes& device) {
  if (auto problem = find_invalid_table(options)) return problem;
  if (auto problem = find_invalid_service(options, device)) return problem;
  if (nodes == 0 || nodes > most_nodes) {
    return "there are " + std::to_string(nodes) + " nodes; there must be 1 to " +
           std::to_string(most_nodes);
  }
  const DataEntryLayout entry(options.most_key_bytes, options.most_value_bytes);
  // Messages are shorter than entries, because their header is.
  if (entry.entry_bytes() > device.max_message_bytes) {
    return "an entry has " + std::to_string(entry.entry_bytes()) +
           " bytes, more than the device moves at once; choose a smaller most_value_bytes";
  }
  if (options.expiration_ns <= options.clock_error_ns) {
    return "expiration_ns is not longer than clock_error_ns; choose a longer one";
  }
  if (options.is_client_driven() && device.atomic_capability == fabric::AtomicCapability::none) {
    return "the device has no atomics, which NessieCD needs";
  }
  if (options.completion == Completion::watermark && !options.assumes_address_order &&
      !device.places_in_address_order) {
    return "completion is watermark, but the device does not place in address order; choose queue";
  }
  return std::nullopt;
}

}  // namespace falafel::nessie
