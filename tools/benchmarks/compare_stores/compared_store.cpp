#include "tools/benchmarks/compare_stores/compared_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace falafel::compare_stores {

std::string client_name(std::uint32_t number) { return fmt::format("client {}", number); }

std::string node_name(std::uint32_t number) { return fmt::format("node {}", number); }

Reply reply_of(stores::Answer answer) {
  using stores::Answer;
  const std::string_view text = to_string(answer);
  switch (answer) {
    case Answer::found:
    case Answer::stored:
    case Answer::deleted: return {Outcome::done, text};
    case Answer::not_found: return {Outcome::absent, text};
    case Answer::busy: return {Outcome::busy, text};
    default: return {Outcome::failed, text};
  }
}

std::vector<ComparedStore> all_stores() {
  std::vector<ComparedStore> all = falafel_stores();
  for (const auto& list : {pilaf_stores(), nessie_stores(), two_sided_stores(), c_hint_stores(),
                           race_stores(), swarm_stores()}) {
    std::ranges::copy(list, std::back_inserter(all));
  }
  return all;
}

}  // namespace falafel::compare_stores
