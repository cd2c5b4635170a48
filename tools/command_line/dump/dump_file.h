// The format of the files that falafel dump writes and falafel load reads: the entries of a store,
// independent of the layout of its memory. docs/store.md describes it byte by byte.
//
// A file is a header, a record for each entry, and a record that ends it. Each checksum extends the
// one before it, so a reader notices not only a damaged record, but also one that is missing, comes
// twice or is in another place. A file without its end is incomplete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace falafel::dump {

inline constexpr std::uint32_t format_version = 1;

// Takes the next bytes of the file. Returns false if they cannot be written.
using Sink = std::function<bool(std::span<const std::byte> bytes)>;
// Fills the buffer with the next bytes of the file. Returns their number, which is less than the
// buffer has only at the end of the file.
using Source = std::function<std::size_t(std::span<std::byte> buffer)>;

struct Entry {
  std::vector<std::byte> key;
  std::vector<std::byte> value;
  std::uint64_t time_to_live_ns = 0;  // what was left of it, as a scan reports it
};

// Each function returns false if the sink could not write; the file is then incomplete.
class Writer {
 public:
  explicit Writer(Sink sink) : sink_(std::move(sink)) {}

  bool begin(std::uint64_t wall_clock_ns);
  bool add(std::span<const std::byte> key, std::span<const std::byte> value,
           std::uint64_t time_to_live_ns);
  bool end();

  std::uint64_t entries() const { return entries_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  bool write(std::span<const std::byte> bytes);

  Sink sink_;
  std::uint32_t checksum_ = 0;  // of everything before
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

// Errors are texts for the user: the file is not a dump, is of a newer version, is damaged, is
// truncated, or continues behind its end. An entry that was returned is as it was written.
class Reader {
 public:
  explicit Reader(Source source) : source_(std::move(source)) {}

  tl::expected<void, std::string> begin();
  // Returns nothing at the end of a complete file.
  tl::expected<std::optional<Entry>, std::string> next();

 private:
  bool read(std::span<std::byte> bytes);
  bool read(std::vector<std::byte>& bytes, std::uint64_t count);
  std::string truncated() const;
  std::string damaged() const;

  Source source_;
  std::uint32_t checksum_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace falafel::dump
