#include "stores/replicated/layout.h"

#include "stores/bytes.h"

namespace falafel::replicated {

std::string describe(Word word) {
  if (word == Word()) return "never written";
  return "stamp " + std::to_string(word.stamp()) + " of writer " + std::to_string(word.writer()) +
         (word.is_absent() ? ", absent" : "") + ", container " + std::to_string(word.container()) +
         (word.is_settled() ? ", settled" : "");
}

Layout::Layout(const Options& options)
    : keys_(options.keys),
      containers_per_writer_(options.containers_per_writer),
      container_bytes_(mark_bytes + header_bytes + stores::whole_words(options.value_bytes)),
      memory_bytes_(container_offset(first_container(options.writers))) {
  FALAFEL_ASSERT(options.writers <= Word::most_writers, "{} writers", options.writers);
  FALAFEL_ASSERT(first_container(options.writers) <= Word::most_containers, "{} containers",
                 first_container(options.writers));
}

}  // namespace falafel::replicated
