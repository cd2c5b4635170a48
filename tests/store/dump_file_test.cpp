// The file format of falafel dump: what was written is read, and no damage passes as contents.
#include "tools/command_line/dump/dump_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layout/crc32c.h"

namespace falafel::dump {
namespace {

using Bytes = std::vector<std::byte>;

Bytes of_text(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

const std::vector<Entry>& written_entries() {
  using namespace std::string_view_literals;
  static const std::vector<Entry> entries = {
      {.key = of_text("first"), .value = of_text("a value"), .time_to_live_ns = 0},
      {.key = of_text("\0\n\xff"sv), .value = {}, .time_to_live_ns = 5'000'000'000},
      {.key = of_text("last"), .value = Bytes(70, std::byte{0}), .time_to_live_ns = 0}};
  return entries;
}

Bytes written_dump() {
  Bytes bytes;
  Writer writer([&bytes](std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return true;
  });
  EXPECT_TRUE(writer.begin(1));
  for (const Entry& entry : written_entries()) {
    EXPECT_TRUE(writer.add(entry.key, entry.value, entry.time_to_live_ns));
  }
  EXPECT_TRUE(writer.end());
  EXPECT_EQ(writer.entries(), written_entries().size());
  EXPECT_EQ(writer.bytes(), bytes.size());
  return bytes;
}

struct ReadDump {
  std::vector<Entry> entries;
  std::string problem;  // empty: none
};

ReadDump read(const Bytes& bytes) {
  std::size_t place = 0;
  Reader reader([&](std::span<std::byte> buffer) {
    const std::size_t count = std::min(buffer.size(), bytes.size() - place);
    if (count > 0) std::memcpy(buffer.data(), bytes.data() + place, count);
    place += count;
    return count;
  });
  ReadDump dump;
  if (const auto begun = reader.begin(); !begun) return {.entries = {}, .problem = begun.error()};
  while (true) {
    auto entry = reader.next();
    if (!entry) dump.problem = entry.error();
    if (!entry || !*entry) return dump;
    dump.entries.push_back(std::move(**entry));
  }
}

// Each entry that was read is one that was written, at its place.
void expect_beginning(const ReadDump& dump) {
  ASSERT_LE(dump.entries.size(), written_entries().size());
  for (std::size_t index = 0; index < dump.entries.size(); ++index) {
    EXPECT_EQ(dump.entries[index].key, written_entries()[index].key);
    EXPECT_EQ(dump.entries[index].value, written_entries()[index].value);
    EXPECT_EQ(dump.entries[index].time_to_live_ns, written_entries()[index].time_to_live_ns);
  }
}

TEST(DumpFile, IsReadAsItWasWritten) {
  const ReadDump dump = read(written_dump());
  EXPECT_EQ(dump.problem, "");
  EXPECT_EQ(dump.entries.size(), written_entries().size());
  expect_beginning(dump);
}

TEST(DumpFile, EachFlippedBitIsNoticed) {
  const Bytes whole = written_dump();
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes damaged = whole;
    damaged[bit / 8] ^= std::byte{1} << bit % 8;
    const ReadDump dump = read(damaged);
    EXPECT_NE(dump.problem, "") << "bit " << bit;
    expect_beginning(dump);
  }
}

TEST(DumpFile, IsIncompleteWithoutItsEnd) {
  const Bytes whole = written_dump();
  for (std::size_t length = 8; length < whole.size(); ++length) {
    const ReadDump dump = read(Bytes(whole.begin(), whole.begin() + static_cast<long>(length)));
    EXPECT_NE(dump.problem.find("incomplete"), std::string::npos) << length << dump.problem;
    expect_beginning(dump);
  }
}

TEST(DumpFile, LacksNoEntryAndHasNoneTwice) {
  constexpr std::size_t header_bytes = 32;
  const Bytes whole = written_dump();
  const auto begin = whole.begin() + static_cast<long>(header_bytes);
  const auto end_of_first = begin + 32 + 5 + 7;  // "first", "a value"
  Bytes shorter(whole.begin(), begin);
  shorter.insert(shorter.end(), end_of_first, whole.end());
  EXPECT_NE(read(shorter).problem.find("damaged"), std::string::npos);
  Bytes longer(whole.begin(), end_of_first);
  longer.insert(longer.end(), begin, whole.end());
  EXPECT_NE(read(longer).problem.find("damaged"), std::string::npos);
}

TEST(DumpFile, EndsAtItsEnd) {
  Bytes longer = written_dump();
  longer.push_back(std::byte{0});
  EXPECT_EQ(read(longer).problem, "more bytes follow the end of the dump");
}

TEST(DumpFile, OfAnotherKindIsRefused) {
  EXPECT_EQ(read({}).problem, "this is not a dump of a store");
  EXPECT_EQ(read(of_text("key,value\n1,2\n")).problem, "this is not a dump of a store");
}

TEST(DumpFile, OfANewerVersionIsRefusedWithBothVersions) {
  Bytes newer = written_dump();
  newer[8] = std::byte{2};
  const std::uint32_t checksum = engine::crc32c(std::span(newer).first(28));
  std::memcpy(newer.data() + 28, &checksum, sizeof checksum);
  const ReadDump dump = read(newer);
  EXPECT_TRUE(dump.entries.empty());
  EXPECT_NE(dump.problem.find("format version 2, and this program reads 1"), std::string::npos)
      << dump.problem;
}

}  // namespace
}  // namespace falafel::dump
