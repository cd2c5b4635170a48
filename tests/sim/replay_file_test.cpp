#include "fabric/sim/replay_file/replay_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fabric/sim/replay_file/replay_file_frame.h"

namespace falafel::sim {
namespace {

using nlohmann::json;

ReplayFile small_file() {
  ReplayFile file;
  file.scenario = "two writers";
  file.scenario_options = {{"writers", 2}, {"keys", {"a", "b"}}, {"skew", 0.99}};
  file.options.strategy = StrategyKind::pct;
  file.options.set_fault_rate(FaultKind::client_crash, 200);
  file.choices = {{ChoiceKind::schedule, 3, 2, 0xffff},
                  {ChoiceKind::program, 0, ~std::uint64_t{0}, 0},
                  {ChoiceKind::loss, 2, 0, 17}};
  file.trace_hash = 0x00123456789abcde;
  file.build_identity = "0.1.0 \"quoted\"\n\xc3\xa9";
  return file;
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t position = text.find(from);
  ASSERT_NE(position, std::string::npos) << from;
  text.replace(position, from.size(), to);
}

// The small file with a part replaced and a correct checksum, as another program could write it.
std::string resealed(std::string_view from, std::string_view to) {
  std::string text = serialize(small_file());
  replace(text, from, to);
  text.erase(text.rfind("\n  \"checksum\"") + 1);
  seal_replay_file(text);
  return text;
}

void expect_error(std::string_view text, std::string_view message) {
  const auto parsed = parse_replay_file(text);
  ASSERT_FALSE(parsed) << "instead of: " << message;
  EXPECT_NE(parsed.error().find(message), std::string::npos) << parsed.error();
  EXPECT_LT(parsed.error().size(), 500U);
}

// -------------------------------------------------------------------------------------------------
// What was written is read

TEST(ReplayFile, IsReadAsWritten) {
  const auto parsed = parse_replay_file(serialize(small_file()));
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(*parsed, small_file());
}

TEST(ReplayFile, HasAFormThatPeopleCanRead) {
  const std::string text = serialize(small_file());
  EXPECT_TRUE(text.starts_with("{\n  \"format\": \"falafel-replay\",\n  \"version\": 1,\n"));
  for (const char* part :
       {"  \"scenario\": \"two writers\",\n", "    \"strategy\": \"pct\",\n",
        "    \"fault_rate.client_crash\": 200,\n", "    \"address_order\": false,\n",
        "  \"trace_hash\": \"00123456789abcde\",\n", "    [\"schedule\", 3, 2, 65535],\n",
        "    [\"program\", 0, 18446744073709551615, 0],\n", "    [\"loss\", 2, 0, 17]\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
  EXPECT_TRUE(json::accept(text));
}

// A run that was recorded without an option uses the option's default.
TEST(ReplayFile, MayBeOlderThanAnOption) {
  ReplayFile file = small_file();
  std::string text = serialize(file);
  std::size_t later_options = 0;
  for (const OptionDescription& option : option_descriptions()) {
    if (option.is_in_every_replay_file) continue;
    ++later_options;
    const std::size_t begin = text.find("    \"" + option.name + "\": ");
    ASSERT_NE(begin, std::string::npos) << option.name;
    text.erase(begin, text.find('\n', begin) + 1 - begin);
  }
  EXPECT_GT(later_options, 0U);
  text.erase(text.rfind("\n  \"checksum\"") + 1);
  seal_replay_file(text);
  const auto parsed = parse_replay_file(text);
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(*parsed, file);
}

TEST(ReplayFile, MayHaveNoChoices) {
  const auto parsed = parse_replay_file(serialize(ReplayFile{}));
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(*parsed, ReplayFile{});
}

TEST(ReplayFile, ReplacesWhatIsNotUtf8) {
  ReplayFile file;
  file.scenario = "\xff";
  const auto parsed = parse_replay_file(serialize(file));
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(parsed->scenario, "\xef\xbf\xbd");
}

std::vector<Choice> arbitrary_choices() {
  const auto raw =
      *rc::gen::arbitrary<std::vector<std::tuple<std::uint8_t, std::uint64_t, std::uint64_t>>>();
  std::vector<Choice> choices;
  choices.reserve(raw.size());
  for (const auto& [kind, bound, value] : raw) {
    choices.push_back({static_cast<ChoiceKind>(kind % choice_kind_count), bound,
                       bound == 0 ? value : value % bound, static_cast<std::uint16_t>(value)});
  }
  return choices;
}

RC_GTEST_PROP(ReplayFile, RoundTrips, (std::uint64_t seed, std::uint64_t trace_hash)) {
  ReplayFile file;
  const auto text = rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
  file.scenario = *text;
  file.build_identity = *text;
  file.scenario_options[*text] = *text;
  file.options = draw_swarm_options(seed);
  file.choices = arbitrary_choices();
  file.trace_hash = trace_hash;
  const auto parsed = parse_replay_file(serialize(file));
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == file);
}

// -------------------------------------------------------------------------------------------------
// Damaged files

TEST(DamagedReplayFile, IsTruncatedWhereverItIsCut) {
  const std::string text = serialize(small_file());
  for (std::size_t length = 1; length < text.size(); ++length) {
    const auto parsed = parse_replay_file(std::string_view(text).substr(0, length));
    ASSERT_FALSE(parsed) << "cut at " << length;
    ASSERT_TRUE(parsed.error().starts_with("truncated: ")) << length << ": " << parsed.error();
  }
}

TEST(DamagedReplayFile, IsNoticedWhicheverBitIsFlipped) {
  const std::string text = serialize(small_file());
  std::size_t altered_count = 0;
  for (std::size_t position = 0; position < text.size(); ++position) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[position] = static_cast<char>(flipped[position] ^ 1 << bit);
      const auto parsed = parse_replay_file(flipped);
      ASSERT_FALSE(parsed) << "bit " << bit << " of byte " << position;
      ASSERT_FALSE(parsed.error().starts_with("truncated: ")) << position << " " << flipped;
      altered_count += parsed.error().starts_with("altered: ") ? 1 : 0;
    }
  }
  // The remaining flips are in the first two lines.
  EXPECT_GT(altered_count, (text.size() - 60) * 8);
}

TEST(DamagedReplayFile, IsNoticedWhateverTheByteBecomes) {
  const std::string text = serialize(ReplayFile{});
  for (std::size_t position = 0; position < text.size(); ++position) {
    std::string changed = text;
    for (int difference = 1; difference < 256; ++difference) {
      changed[position] = static_cast<char>(text[position] ^ difference);
      ASSERT_FALSE(parse_replay_file(changed)) << position << " " << difference;
    }
  }
}

TEST(DamagedReplayFile, SaysWhatHappened) {
  const std::string text = serialize(small_file());
  expect_error(text + "\n", "altered: the text goes on after its end");
  expect_error(text + text, "altered: ");
  std::string edited = text;
  replace(edited, "two writers", "one writer");
  expect_error(edited, "altered: the contents do not match the checksum");
}

TEST(DamagedReplayFile, IsNoReplayFile) {
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("garbage"), std::string(1'000, '\0'),
        std::string("{\n  \"format\": \"other\",\n"), std::string(1'000'000, '[')}) {
    expect_error(text, "not a replay file");
  }
}

TEST(DamagedReplayFile, NamesBothVersions) {
  std::string text = serialize(small_file());
  replace(text, "\"version\": 1,", "\"version\": 12,");
  expect_error(text, "format version 12 is not supported; this program reads version 1");
  replace(text, "\"version\": 12,", "\"version\": 1234567890123,");
  expect_error(text, "altered: it has no version");
  replace(text, "\"version\": 1234567890123,", "\"version\": x,");
  expect_error(text, "altered: it has no version");
}

// -------------------------------------------------------------------------------------------------
// Files that were sealed with wrong contents

TEST(ForeignReplayFile, HasUnknownOrMissingFields) {
  expect_error(resealed("\"scenario\": ", "\"scenery\": "), "unknown field \"scenery\"");
  expect_error(resealed("  \"scenario\": \"two writers\",\n", ""), "missing field \"scenario\"");
}

TEST(ForeignReplayFile, HasUnknownOrMissingOptions) {
  expect_error(resealed("\"pct_depth\": 3", "\"pct_dept\": 3"),
               "unknown option 'pct_dept'; the nearest that exists is pct_depth");
  expect_error(resealed("    \"pct_depth\": 3,\n", ""), "missing option pct_depth");
}

TEST(ForeignReplayFile, HasOptionsOutOfRange) {
  expect_error(resealed("\"pct_depth\": 3", "\"pct_depth\": 0"),
               "option pct_depth cannot be '0'; its values: 1 to 100");
  for (const char* value :
       {"-3", "3.0", "3e0", "null", "true", "[]", "{}", "[3]", "\"many\"", "18446744073709551616",
        "100000000000000000000000000000000000000000000000000"}) {
    expect_error(resealed("\"pct_depth\": 3", std::string("\"pct_depth\": ") + value),
                 "option pct_depth cannot be '");
  }
  expect_error(resealed("\"pct_depth\": 3", "\"pct_depth\": \"3\""), "stands without quotes");
  expect_error(resealed("\"strategy\": \"pct\"", "\"strategy\": \"guess\""),
               "option strategy cannot be 'guess'; its values: random, pct");
}

TEST(ForeignReplayFile, HasWrongChoices) {
  const std::string loss = "[\"loss\", 2, 0, 17]";
  expect_error(resealed(loss, "[\"loss\", 2, 2, 17]"),
               "choice 2: value 2 is not below its bound 2");
  expect_error(resealed(loss, "[\"lost\", 2, 0, 17]"), "choice 2: unknown kind \"lost\"");
  expect_error(resealed(loss, "[\"loss\", 2, 0, 65536]"), "choice 2: checkpoint 65536 exceeds");
  for (const char* choice :
       {"[]", "{}", "null", "7", "\"loss\"", "[\"loss\", 2, 0]", "[\"loss\", 2, 0, 17, 1]",
        "[7, 2, 0, 17]", "[\"loss\", -2, 0, 17]", "[\"loss\", 2.0, 0, 17]", "[\"loss\", 2, [], 17]",
        "[\"loss\", 2, 0, \"17\"]", "[\"loss\", 18446744073709551616, 0, 17]"}) {
    expect_error(resealed(loss, choice), "choice 2: ");
  }
}

TEST(ForeignReplayFile, HasFieldsOfWrongTypes) {
  expect_error(resealed("\"two writers\"", "7"), "scenario is 7, not a string");
  expect_error(resealed("\"two writers\"", "null"), "scenario is null, not a string");
  expect_error(resealed("{\"keys\":[\"a\",\"b\"],\"skew\":0.99,\"writers\":2}", "[]"),
               "scenario_options is [], not an object");
  std::string text = resealed("\"choices\": [", "\"choices\": {}, \"x\": [");
  expect_error(text, "unknown field \"x\"");
  for (const char* hash :
       {"\"\"", "\"00123456789abcd\"", "\"00123456789ABCDE\"", "\"000123456789abcde\"",
        "\"0x123456789abcde\"", "\"-0123456789abcde\""}) {
    expect_error(resealed("\"00123456789abcde\"", hash), "not 16 hexadecimal digits");
  }
  expect_error(resealed("\"00123456789abcde\"", "7"), "trace_hash is 7, not a string");
}

TEST(ForeignReplayFile, IsNoJson) {
  for (const char* scenario :
       {"", "two", "\"two", "\"\xff\"", "\"\\ud800\"", "[1,]", "01", "1e999", "// no\n1", "NaN"}) {
    expect_error(resealed("\"two writers\"", scenario), "not valid JSON: ");
  }
}

TEST(ForeignReplayFile, IsHostile) {
  constexpr std::size_t depth = 2'000'000;
  for (const std::string& nested :
       {std::string(depth, '['), std::string(depth, '[') + std::string(depth, ']')}) {
    expect_error(resealed("\"two writers\"", nested), "nested more than 32 deep");
  }
  expect_error(resealed("\"two writers\"", "\"" + std::string(depth, 'x')), "not valid JSON: ");
  expect_error(resealed("\"two writers\"", "[\"" + std::string(depth, 'x') + "\"]"),
               "not a string");
  expect_error(resealed("\"pct_depth\"", "\"" + std::string(depth, 'x') + "\""), "unknown option");
  expect_error(resealed("\"schedule\"", "\"" + std::string(depth, 'x') + "\""), "unknown kind");
}

RC_GTEST_PROP(ForeignReplayFile, IsNeverACrash, (const std::string& garbage)) {
  RC_ASSERT(!parse_replay_file(garbage));
  std::string sealed = replay_file_head() + garbage;
  seal_replay_file(sealed);
  RC_ASSERT(!parse_replay_file(sealed));
  const std::string part = resealed("\"two writers\"", garbage);
  RC_ASSERT(!parse_replay_file(part));
}

// -------------------------------------------------------------------------------------------------
// On disk

class ReplayFileOnDisk : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_ = testing::TempDir() + "falafel_replay_file_test.json";
};

TEST_F(ReplayFileOnDisk, IsLoadedAsSaved) {
  ASSERT_TRUE(save_replay_file(small_file(), path_));
  const auto loaded = load_replay_file(path_);
  ASSERT_TRUE(loaded) << loaded.error();
  EXPECT_EQ(*loaded, small_file());
}

TEST_F(ReplayFileOnDisk, IsReplacedAsAWhole) {
  ASSERT_TRUE(save_replay_file(small_file(), path_));
  ASSERT_TRUE(save_replay_file(ReplayFile{}, path_));
  EXPECT_EQ(load_replay_file(path_).value(), ReplayFile{});
}

TEST_F(ReplayFileOnDisk, NamesThePathInErrors) {
  EXPECT_EQ(load_replay_file(path_).error(),
            path_ + ": cannot open the file: No such file or directory");
  std::ofstream(path_) << "garbage";
  EXPECT_TRUE(load_replay_file(path_).error().starts_with(path_ + ": not a replay file"));
  const std::string folder = testing::TempDir();
  EXPECT_TRUE(load_replay_file(folder).error().starts_with(folder + ": cannot read the file: "));
  EXPECT_TRUE(
      save_replay_file({}, folder).error().starts_with(folder + ": cannot create the file"));
}

TEST_F(ReplayFileOnDisk, NoticesAFullDisk) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no device that is always full";
  EXPECT_EQ(save_replay_file({}, "/dev/full").error(),
            "/dev/full: cannot write the file: No space left on device");
}

}  // namespace
}  // namespace falafel::sim
