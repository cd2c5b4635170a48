// Profiles of cards: their files are complete, each value has a source, and a mistake in a file is
// reported with its name. A run with a profile cannot be explored.
#include "fabric/sim/timing/profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace falafel::sim::timing {
namespace {

using nlohmann::json;

json valid() { return json::parse(profile_texts().front().text); }

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

TEST(Profile, AProfileWithoutProcessorsIsRefused) {
  json profile = valid();
  profile["values"]["processors"]["value"] = 0;
  EXPECT_NE(error_of(profile).find("'processors' is 0"), std::string::npos);
}

}  // namespace
}  // namespace falafel::sim::timing
