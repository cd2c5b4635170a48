// Random operations of clients with keys of their own against plain maps, on random networks.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/stores/swarm/cluster.h"

namespace falafel::swarm_test {
namespace {

using swarm::Answer;
using swarm::Client;

struct DrawnOperation {
  int kind = 0;  // 0, 1: SET; 2: GET; 3: DELETE
  int key = 0;
  std::size_t value_bytes = 0;
};

ClusterOptions draw_cluster() {
  ClusterOptions cluster;
  swarm::Options& options = cluster.options;
  options.guesses = *rc::gen::arbitrary<bool>();
  options.in_place = *rc::gen::arbitrary<bool>();
  options.contacts = *rc::gen::element(swarm::Contacts::majority, swarm::Contacts::all);
  options.metadata_words = *rc::gen::inRange(0U, 9U);
  options.cached_keys = *rc::gen::element<std::uint64_t>(0, 1, 2, 100);
  options.tick_ns = *rc::gen::element<std::uint64_t>(40, 466, 1'000'000'000);
  options.ticks_ahead = *rc::gen::inRange<std::uint64_t>(1, 4);
  options.index_bits = *rc::gen::inRange(3U, 7U);
  options.fingerprint_bits = *rc::gen::element(0U, 2U, 8U);
  options.safeguards.own_index_node = *rc::gen::arbitrary<bool>();
  cluster.seed = *rc::gen::arbitrary<std::uint64_t>();
  return cluster;
}

std::vector<DrawnOperation> draw_operations() {
  return *rc::gen::container<std::vector<DrawnOperation>>(rc::gen::build<DrawnOperation>(
      rc::gen::set(&DrawnOperation::kind, rc::gen::inRange(0, 4)),
      rc::gen::set(&DrawnOperation::key, rc::gen::inRange(0, 6)),
      rc::gen::set(&DrawnOperation::value_bytes, rc::gen::inRange<std::size_t>(0, 25))));
}

// Applies the operation to the store and to the model; a message if they differ.
std::string apply(Client& client, const std::string& prefix, const DrawnOperation& operation,
                  std::map<std::string, std::string>& model) {
  const std::string key = prefix + std::to_string(operation.key);
  if (operation.kind < 2) {
    const std::string value(operation.value_bytes,
                            static_cast<char>('a' + operation.value_bytes % 26));
    model[key] = value;
    return set(client, key, value) == Answer::stored ? "" : "SET of " + key + " fails\n";
  }
  const auto expected = model.find(key);
  if (operation.kind == 2) {
    const std::string value = expected == model.end() ? "[not found]" : expected->second;
    return get(client, key) == value ? "" : "GET of " + key + " does not find " + value + "\n";
  }
  const bool is_present = expected != model.end();
  model.erase(key);
  const Answer answer = remove(client, key);
  return answer == Answer::deleted || (answer == Answer::not_found && !is_present)
             ? ""
             : "DELETE of " + key + " fails\n";
}

RC_GTEST_PROP(SwarmProperty, BehavesLikeAMap, ()) {
  TestCluster cluster(draw_cluster());
  std::string problems;
  for (const std::string prefix : {"first ", "second "}) {
    const auto operations = draw_operations();
    cluster.add_client([prefix, operations, &problems](fabric::Host&, Client& client) {
      std::map<std::string, std::string> model;
      for (const DrawnOperation& operation : operations) {
        problems += apply(client, prefix, operation, model);
      }
    });
  }
  problems += cluster.run();
  RC_ASSERT(problems == "");
}

}  // namespace
}  // namespace falafel::swarm_test
