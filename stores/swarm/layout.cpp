#include "stores/swarm/layout.h"

#include "stores/bytes.h"

namespace falafel::swarm {

std::string describe(Word word) {
  if (word.is_empty()) return "never written";
  return "timestamp " + std::to_string(word.timestamp()) + " of writer " +
         std::to_string(word.writer()) + " in buffer " + std::to_string(word.buffer()) +
         (word.is_verified() ? ", verified" : "");
}

Layout::Layout(const Options& options)
    : content_bytes_(fabric::word_bytes + stores::whole_words(options.value_bytes)),
      words_(options.metadata_words == 0 ? options.writers : options.metadata_words),
      registers_(std::uint64_t{options.writers} * options.registers_per_writer),
      writers_(options.writers),
      buffers_per_writer_(options.buffers_per_writer),
      buckets_((std::uint64_t{1} << (options.index_bits - 1)) * 3),
      key_bytes_(fabric::word_bytes + stores::whole_words(options.key_bytes)),
      buffers_offset_(registers_ * register_bytes()),
      index_offset_(buffers_offset_ + writers_ * buffers_per_writer_ * buffer_bytes()),
      keys_offset_(index_offset_ + slots() * fabric::word_bytes),
      memory_bytes_(keys_offset_ + registers_ * key_bytes_) {
  FALAFEL_ASSERT(options.writers <= Word::most_writers, "{} writers", options.writers);
  FALAFEL_ASSERT(buffers_per_writer_ <= Word::most_buffers, "{} buffers", buffers_per_writer_);
  FALAFEL_ASSERT(words_ > 0, "no metadata words");
  FALAFEL_ASSERT(options.fingerprint_bits <= 8, "{} bits", options.fingerprint_bits);
  FALAFEL_ASSERT(options.index_bits >= 2, "{} bits of the index", options.index_bits);
}

}  // namespace falafel::swarm
