#include "stores/nessie/options.h"

#include "stores/nessie/hashing.h"
#include "stores/nessie/layout.h"

namespace falafel::nessie {

Options Options::hardened() {
  Options options;
  options.safeguards = Safeguards::hardened();
  options.emptied = EmptyWord::keeps_dte;
  options.abort = Abort::restore;
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

}  // namespace

std::optional<std::string> find_invalid_option(const Options& options, std::uint64_t nodes,
                                               const fabric::DeviceAttributes& device) {
  if (auto problem = find_invalid_table(options)) return problem;
  if (nodes == 0 || nodes > most_nodes) {
    return "there are " + std::to_string(nodes) + " nodes; there must be 1 to " +
           std::to_string(most_nodes);
  }
  const DataEntryLayout entry(options.most_key_bytes, options.most_value_bytes);
  if (entry.entry_bytes() > device.max_message_bytes) {
    return "an entry has " + std::to_string(entry.entry_bytes()) +
           " bytes, more than the device moves at once; choose a smaller most_value_bytes";
  }
  if (options.expiration_ns <= options.clock_error_ns) {
    return "expiration_ns is not longer than clock_error_ns; choose a longer one";
  }
  if (device.atomic_capability == fabric::AtomicCapability::none) {
    return "the device has no atomics, which Nessie needs";
  }
  if (options.completion == Completion::watermark && !device.places_in_address_order) {
    return "completion is watermark, but the device does not place in address order; choose queue";
  }
  return std::nullopt;
}

}  // namespace falafel::nessie
