// docs/store-layout.md states each field's offset and width. This test compares it with the
// structures.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layout/container.h"
#include "engine/layout/control_message.h"
#include "engine/layout/status_line.h"
#include "engine/layout/superblock.h"

namespace falafel::engine {
namespace {

struct Field {
  std::string_view name;
  std::size_t offset;
  std::size_t bytes;
};

#define FALAFEL_FIELD(structure, field)                                                            \
  Field { #field, offsetof(structure, field), sizeof(structure::field) }

struct Structure {
  std::string_view heading;  // of its section
  std::size_t bytes;
  std::vector<Field> fields;
};

std::vector<Structure> structures() {
  return {
      {"## The superblock",
       sizeof(Superblock),
       {FALAFEL_FIELD(Superblock, magic), FALAFEL_FIELD(Superblock, version),
        FALAFEL_FIELD(Superblock, unit_bytes), FALAFEL_FIELD(Superblock, chunk_bytes),
        FALAFEL_FIELD(Superblock, table_offset), FALAFEL_FIELD(Superblock, table_entries),
        FALAFEL_FIELD(Superblock, regions_offset), FALAFEL_FIELD(Superblock, region_bytes),
        FALAFEL_FIELD(Superblock, region_count), FALAFEL_FIELD(Superblock, mature_0_offset),
        FALAFEL_FIELD(Superblock, mature_bytes), FALAFEL_FIELD(Superblock, mature_1_offset),
        FALAFEL_FIELD(Superblock, hash_key), FALAFEL_FIELD(Superblock, incarnation),
        FALAFEL_FIELD(Superblock, tag_bits), FALAFEL_FIELD(Superblock, fingerprint_bits),
        FALAFEL_FIELD(Superblock, size_class_bits), FALAFEL_FIELD(Superblock, later_tables),
        FALAFEL_FIELD(Superblock, crc)}},
      {"## The status line",
       sizeof(StatusLine),
       {FALAFEL_FIELD(StatusLine, rebindings), FALAFEL_FIELD(StatusLine, tables),
        FALAFEL_FIELD(StatusLine, zero)}},
      {"## Containers",
       sizeof(ContainerHeader),
       {FALAFEL_FIELD(ContainerHeader, magic), FALAFEL_FIELD(ContainerHeader, zero),
        FALAFEL_FIELD(ContainerHeader, key_bytes), FALAFEL_FIELD(ContainerHeader, value_bytes),
        FALAFEL_FIELD(ContainerHeader, header_crc), FALAFEL_FIELD(ContainerHeader, key_crc),
        FALAFEL_FIELD(ContainerHeader, value_crc)}},
      {"### From the client, when it connects",
       sizeof(ClientHello),
       {FALAFEL_FIELD(ClientHello, magic), FALAFEL_FIELD(ClientHello, version),
        FALAFEL_FIELD(ClientHello, loopback_secret)}},
      {"### From the server, when it accepts",
       sizeof(ServerHello),
       {FALAFEL_FIELD(ServerHello, magic), FALAFEL_FIELD(ServerHello, version),
        FALAFEL_FIELD(ServerHello, chunk_key), FALAFEL_FIELD(ServerHello, table_key),
        FALAFEL_FIELD(ServerHello, chunk_bytes), FALAFEL_FIELD(ServerHello, heartbeat_timeout_ns)}},
      {"### Afterwards, in both directions",
       sizeof(ControlMessage),
       {FALAFEL_FIELD(ControlMessage, kind), FALAFEL_FIELD(ControlMessage, region),
        FALAFEL_FIELD(ControlMessage, incarnation), FALAFEL_FIELD(ControlMessage, epoch),
        FALAFEL_FIELD(ControlMessage, remote_key), FALAFEL_FIELD(ControlMessage, need),
        FALAFEL_FIELD(ControlMessage, received)}}};
}

#undef FALAFEL_FIELD

std::string document() {
  std::ifstream stream(FALAFEL_SOURCE_FOLDER "/docs/store-layout.md");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Returns the text from a heading to the next one.
std::string section(const std::string& text, std::string_view heading) {
  const std::size_t start = text.find(fmt::format("\n{}\n", heading));
  if (start == std::string::npos) return "";
  const std::size_t end = text.find("\n#", start + heading.size());
  return text.substr(start, end == std::string::npos ? end : end - start);
}

// Returns the rows that name a field, truncated after its name.
std::vector<std::string> field_rows(const std::string& text) {
  std::vector<std::string> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name_end = line.find("` |");
    const bool is_field = line.size() > 2 && line[0] == '|' && line[2] >= '0' && line[2] <= '9';
    if (is_field && name_end != std::string::npos) rows.push_back(line.substr(0, name_end + 3));
  }
  return rows;
}

TEST(LayoutDocument, TellsEveryFieldAndNoOther) {
  const std::string text = document();
  for (const Structure& structure : structures()) {
    std::vector<std::string> expected;
    std::size_t end = 0;
    for (const Field& field : structure.fields) {
      EXPECT_EQ(field.offset, end)
          << structure.heading << ": a field is missing before " << field.name;
      end = field.offset + field.bytes;
      expected.push_back(fmt::format("| {} | {} | `{}` |", field.offset, field.bytes, field.name));
    }
    EXPECT_EQ(end, structure.bytes) << structure.heading << ": a field is missing at the end";
    EXPECT_EQ(field_rows(section(text, structure.heading)), expected) << structure.heading;
  }
}

TEST(LayoutDocument, TellsTheKindsOfMessages) {
  const std::string text = section(document(), "### Afterwards, in both directions");
  const std::vector<std::pair<MessageKind, std::string_view>> kinds{
      {MessageKind::request_region, "request_region"},
      {MessageKind::release_region, "release_region"},
      {MessageKind::heartbeat, "heartbeat"},
      {MessageKind::goodbye, "goodbye"},
      {MessageKind::grant_region, "grant_region"},
      {MessageKind::deny_region, "deny_region"},
      {MessageKind::request_cleanup, "request_cleanup"},
      {MessageKind::report_accesses, "report_accesses"},
      {MessageKind::report_freed, "report_freed"},
      {MessageKind::ask_for_quiescence, "ask_for_quiescence"},
      {MessageKind::acknowledge, "acknowledge"},
      {MessageKind::cleanup_done, "cleanup_done"},
      {MessageKind::return_regions, "return_regions"},
      {MessageKind::request_end, "request_end"},
      {MessageKind::operations_ended, "operations_ended"},
      {MessageKind::ask_for_end, "ask_for_end"},
      {MessageKind::all_ended, "all_ended"}};
  for (const auto& [kind, name] : kinds) {
    const std::string row = fmt::format("| `{}` | {} |", name, static_cast<std::uint32_t>(kind));
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

TEST(LayoutDocument, TellsTheVersionAndTheLimits) {
  const std::string text = document();
  for (const std::string& fact :
       {fmt::format("version {} of the layouts", layout_version),
        fmt::format("version {} of the messages", message_version),
        fmt::format("| 4 | 4 | `version` | {} |", message_version),
        fmt::format("`{:#06x}`", container_magic), fmt::format("`{:#010x}`", hello_magic),
        fmt::format("{} bytes", superblock_bytes)}) {
    EXPECT_NE(text.find(fact), std::string::npos) << fact;
  }
}

}  // namespace
}  // namespace falafel::engine
