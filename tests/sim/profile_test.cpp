// Profiles of cards: their files are complete, each value has a source, and a mistake in a file is
// reported with its name. A run with a profile cannot be explored.
#include "fabric/sim/timing/profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace falafel::sim::timing {
namespace {

using nlohmann::json;

json valid() { return json::parse(profile_texts().front().text); }

std::string_view find_text(std::string_view name) {
  for (const ProfileText& profile : profile_texts()) {
    if (profile.name == name) return profile.text;
  }
  ADD_FAILURE() << "no profile " << name;
  return "";
}

std::string error_of(const json& profile) {
  const auto parsed = parse_profile(profile.dump());
  return parsed ? "" : parsed.error();
}

TEST(Profile, ThoseOfTheProgramAreValidAndBearTheirNames) {
  ASSERT_FALSE(profile_names().empty());
  for (const ProfileText& text : profile_texts()) {
    const auto profile = parse_profile(text.text);
    ASSERT_TRUE(profile.has_value()) << text.name << ": " << profile.error();
    EXPECT_EQ(profile->name, text.name);
    EXPECT_FALSE(profile->title.empty());
    const auto values = profile_values(text.text);
    ASSERT_TRUE(values.has_value()) << text.name << ": " << values.error();
    for (const ProfileValue& value : *values) {
      EXPECT_FALSE(value.source.empty()) << value.name;
    }
  }
}

TEST(Profile, TimesAreInPicoseconds) {
  json profile = valid();
  profile["values"]["wire_ns"]["value"] = 1.5;
  EXPECT_EQ(parse_profile(profile.dump())->wire_ps, 1'500U);
}

TEST(Profile, AnUnknownNameListsTheKnownOnes) {
  const auto found = find_profile("connectx9");
  ASSERT_FALSE(found.has_value());
  EXPECT_NE(found.error().find("connectx9"), std::string::npos);
  EXPECT_NE(found.error().find("connectx3-qdr"), std::string::npos);
}

TEST(Profile, MistakesAreReportedByName) {
  json profile = valid();
  profile["values"]["wire_ns"]["value"] = -1;
  EXPECT_NE(error_of(profile).find("'wire_ns' is -1"), std::string::npos);
  profile["values"]["wire_ns"].erase("source");
  EXPECT_NE(error_of(profile).find("'wire_ns' needs"), std::string::npos);
  profile["values"].erase("wire_ns");
  EXPECT_NE(error_of(profile).find("lacks the value 'wire_ns'"), std::string::npos);
  profile["values"]["wires_ns"] = {{"value", 1}, {"source", "none"}};
  EXPECT_NE(error_of(profile).find("unknown value 'wires_ns'"), std::string::npos);
  profile["format"] = "another";
  EXPECT_NE(error_of(profile).find("\"format\""), std::string::npos);
  EXPECT_NE(parse_profile("{").error().find("not JSON"), std::string::npos);
}

TEST(Profile, TheCostsOfMessageStreamsAreAllThereOrAbsent) {
  json profile = json::parse(find_text("connectx2-ddr"));
  EXPECT_TRUE(parse_profile(profile.dump())->has_message_streams);
  EXPECT_EQ(parse_profile(profile.dump())->stream_send_ps, 3'965'000U);
  profile["values"].erase("stream_wake_ns");
  EXPECT_NE(error_of(profile).find("lacks the value 'stream_wake_ns'; give all"),
            std::string::npos);
  for (const char* name : {"stream_send_ns", "stream_receive_ns", "stream_copy_ns_per_byte"}) {
    profile["values"].erase(name);
  }
  const auto without = parse_profile(profile.dump());
  ASSERT_TRUE(without.has_value()) << without.error();
  EXPECT_FALSE(without->has_message_streams);
}

// Half a group could only be a mistake.
TEST(Profile, PipelinesOfMessagesAndCrcsOf64BitsAreWholeOrAbsent) {
  json profile = json::parse(find_text("connectx2-ddr"));
  EXPECT_TRUE(parse_profile(profile.dump())->has_message_pipelines);
  EXPECT_EQ(parse_profile(profile.dump())->message_receive_interval_ps, 667'000U);
  profile["values"].erase("message_send_interval_ns");
  EXPECT_NE(error_of(profile).find("give all values of pipelines of messages, or none"),
            std::string::npos);
  profile["values"].erase("message_receive_interval_ns");
  profile["values"].erase("crc64_update_ns_per_byte");
  EXPECT_NE(error_of(profile).find("give all values of CRCs of 64 bits, or none"),
            std::string::npos);
  profile["values"].erase("crc64_check_ns_per_byte");
  const auto parsed = parse_profile(profile.dump());
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_FALSE(parsed->has_message_pipelines);
  EXPECT_FALSE(parsed->has_crc64);
}

TEST(Profile, ItsTextHasAllThatItHas) {
  for (const ProfileText& text : profile_texts()) {
    const Profile profile = parse_profile(text.text).value();
    const auto again = parse_profile(to_text(profile, [](std::string_view) { return "a test"; }));
    ASSERT_TRUE(again.has_value()) << again.error();
    EXPECT_EQ(*again, profile) << text.name;
  }
}

TEST(Profile, AProfileWithoutProcessorsIsRefused) {
  json profile = valid();
  profile["values"]["processors"]["value"] = 0;
  EXPECT_NE(error_of(profile).find("'processors' is 0"), std::string::npos);
}

}  // namespace
}  // namespace falafel::sim::timing
