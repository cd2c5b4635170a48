// The text of a story: lines that repeat are folded, a long text is cut, and clues are repeated.
#include <gtest/gtest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/explain.h"
#include "explorer/story.h"
#include "fabric/random.h"

namespace falafel::explorer {
namespace {

// Lines of one letter each, at the steps 1, 2, ...
Explanation story_of(std::string_view letters) {
  Explanation explanation;
  for (const char letter : letters) {
    explanation.story.push_back(
        {.step = explanation.story.size() + 1, .who = "client", .text = std::string(1, letter)});
  }
  return explanation;
}

std::string repeated(std::string_view part, std::size_t count) {
  std::string text;
  for (std::size_t time = 0; time < count; ++time) text += part;
  return text;
}

// The letters of the lines, and what other lines say, separated by blanks.
std::string shown(const Explanation& explanation, bool is_short = false) {
  const std::string text = to_text(explanation, is_short);
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    const bool is_told = line.find("client") != std::string::npos;
    if (!result.empty()) result += ' ';
    result += is_told ? line.substr(line.size() - 1) : line.substr(line.find_first_not_of(' '));
    begin = end + 1;
  }
  return result;
}

TEST(StoryText, FoldsALineThatRepeats) {
  EXPECT_EQ(shown(story_of("a" + repeated("b", 218) + "c")),
            "a b ... repeated 217 more times, until step 219 c");
}

TEST(StoryText, FoldsSeveralLinesThatRepeat) {
  EXPECT_EQ(shown(story_of("x" + repeated("abc", 100) + "ab")),
            "x a b c ... these 3 lines are repeated 99 more times, until step 301 a b");
}

TEST(StoryText, FoldsRepetitionsOneByOne) {
  EXPECT_EQ(shown(story_of(repeated("a", 10) + repeated("bc", 10))),
            "a ... repeated 9 more times, until step 10 "
            "b c ... these 2 lines are repeated 9 more times, until step 30");
}

TEST(StoryText, LeavesFewLinesAsTheyAre) {
  EXPECT_EQ(shown(story_of("aaaabcbc")), "a a a a b c b c");
}

TEST(StoryText, ComparesTheParties) {
  Explanation explanation = story_of(repeated("a", 100));
  for (std::size_t line = 1; line < 100; line += 2) explanation.story[line].who = "client 2";
  EXPECT_EQ(shown(explanation), "a a ... these 2 lines are repeated 49 more times, until step 100");
}

TEST(StoryText, DoesNotFoldAcrossTheCriticalStep) {
  Explanation explanation = story_of(repeated("a", 100));
  explanation.critical = CriticalStep{.choice = 1, .step = 50, .deciding_step = 51};
  EXPECT_EQ(shown(explanation),
            "a ... repeated 49 more times, until step 50 "
            "a ------------- the violation is inevitable from here on "
            "a ... repeated 48 more times, until step 100");
}

TEST(StoryText, MarksTheLineThatDecides) {
  Explanation explanation = story_of("abc");
  explanation.critical = CriticalStep{.choice = 1, .step = 1, .deciding_step = 2};
  EXPECT_EQ(shown(explanation), "a b ------------- the violation is inevitable from here on c");
  std::istringstream lines(to_text(explanation, false));
  std::vector<std::string> marked;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("     2 >")) marked.push_back(line.substr(line.size() - 1));
  }
  EXPECT_EQ(marked, std::vector<std::string>{"b"});
}

// The step that decides has no line of its own.
TEST(StoryText, SaysWhereASilentStepDecides) {
  Explanation explanation = story_of("abc");
  explanation.story.erase(explanation.story.begin() + 1);
  explanation.critical = CriticalStep{.choice = 1, .step = 1, .deciding_step = 2};
  EXPECT_EQ(shown(explanation), "a ------------- the violation is inevitable from here on c");
}

TEST(StoryText, FoldsTheEnd) {
  Explanation explanation = story_of("abcd");
  for (std::size_t line = 1; line < 4; ++line) {
    explanation.story[line].text = "the queue pair is closed";
  }
  EXPECT_EQ(shown(explanation), "a 2  3 queue pairs are closed");
}

TEST(StoryText, RepeatsTheLastCluesOfAFailure) {
  Explanation explanation = story_of("abcdefgh");
  for (const std::size_t line : {0U, 1U, 2U, 3U, 5U, 6U}) explanation.story[line].is_clue = true;
  EXPECT_EQ(shown(explanation), "a b c d e f g h");
  explanation.violations.emplace_back().verdict = checkers::Verdict::violated;
  EXPECT_EQ(shown(explanation),
            "a b c d e f g h Why, perhaps: what the program may not expect happened last here "
            "b c d f g");
}

TEST(StoryText, CutsWhatIsLongAlthoughItIsFolded) {
  std::string letters;
  fabric::RandomGenerator random(1);
  for (int line = 0; line < 200; ++line) letters += static_cast<char>('a' + random.below(26));
  const std::string text = shown(story_of(letters), true);
  EXPECT_NE(text.find("... 40 lines"), std::string::npos) << text;
  EXPECT_EQ(shown(story_of(repeated("a", 1'000)), true),
            "a ... repeated 999 more times, until step 1000");
}

}  // namespace
}  // namespace falafel::explorer
