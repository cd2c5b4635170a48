// Tests of the program falafel check: exit statuses and output.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>

#include "fabric/sanitizers.h"
#include "tests/checkers/recorded_texts.h"

namespace falafel::checkers_test {
namespace {

#ifdef FALAFEL_ADDRESS_SANITIZER
constexpr bool has_address_sanitizer = true;
#else
constexpr bool has_address_sanitizer = false;
#endif

struct ProgramRun {
  int status = -1;
  std::string output;  // including error output
};

ProgramRun run_command(const std::string& command) {
  ProgramRun result;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> buffer{};
  while (const std::size_t length = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    result.output.append(buffer.data(), length);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

ProgramRun run(const std::string& arguments) {
  return run_command(FALAFEL_PROGRAM " " + arguments + " 2>&1");
}

std::string file(const std::string& name, std::string_view text) {
  const std::string path = testing::TempDir() + "falafel_check_command_" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

class CheckCommand : public testing::Test {
 protected:
  const std::string good_ = file("good.log", texts::good_register);
  const std::string bad_ = file("bad.log", texts::bad_register);
  const std::string broken_ = file("broken.log", "INFO jepsen.util - 1 :ok :read 3\n");
  const std::string check_ = "check --format jepsen-register ";
};

TEST_F(CheckCommand, TellsOfLinearizableHistories) {
  const ProgramRun result = run(check_ + good_);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, good_ + ": linearizable (9 operations)\n");
}

TEST_F(CheckCommand, ShowsThePrefixAndWhatDoesNotFit) {
  const ProgramRun result = run(check_ + bad_);
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(
      result.output,
      bad_ +
          ": not linearizable (3 operations)\n"
          "key \"register\": no order of its 3 operations is correct. The longest correct "
          "prefix has 2 operations:\n"
          "  1. client 0: set \"register\" to \"3\", stored (call 1, return 2)\n"
          "  2. client 1: compare-and-swap \"register\" from \"3\" to \"4\", swapped (call 3, "
          "return 4)\n"
          "Now the key is \"4\". The following operation must come next, before it returns at 6, "
          "but its answer is wrong:\n"
          "  client 0: get \"register\", found \"3\" (call 5, return 6)\n");
}

TEST_F(CheckCommand, NamesFileAndLineOfWhatCannotBeRead) {
  const ProgramRun result = run(check_ + broken_);
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.output, broken_ + ":1: process 1 returns without a pending call\n");
  EXPECT_EQ(run(check_ + good_ + ".missing").status, 2);
  EXPECT_EQ(run(check_ + testing::TempDir()).status, 2);
}

TEST_F(CheckCommand, SaysWhichLimitWasReached) {
  const ProgramRun result = run(check_ + "--steps 2 " + good_);
  EXPECT_EQ(result.status, 4);
  EXPECT_NE(result.output.find("at the limit of 2 steps"), std::string::npos) << result.output;
}

// Each value is pushed twice, so no monitor decides this history. The search remembers one state of
// the queue for each of very many orders.
std::string exploding_queue() {
  std::string lines = R"({"specification": "queue"})"
                      "\n";
  const auto add = [&](int client, std::string_view operation, int call) {
    lines += fmt::format(R"({{"client": {}, {}, "call": {}, "return": {}, "outcome": "answered"}})"
                         "\n",
                         client, operation, call, call + 7);
  };
  for (int index = 0; index < 240; ++index) {
    add(index % 4, fmt::format(R"("operation": "push", "value": {})", index / 2), 2 * index);
  }
  add(0, R"("operation": "pop", "result": 119)", 600);
  return lines;
}

TEST_F(CheckCommand, BoundsItsResidentMemory) {
  constexpr std::uint64_t limit_mib = has_address_sanitizer ? 512 : 64;
  const std::string path = file("exploding.spec", exploding_queue());
  // The peak of a child of a small process, because a new process inherits the peak of its parent.
  const std::string script =
      file("peak.py",
           "import resource, subprocess, sys\n"
           "status = subprocess.run(sys.argv[1:]).returncode\n"
           "print('peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, status)\n");
  const ProgramRun result =
      run_command(fmt::format("python3 {} {} check --format specification --memory-mib {} {}",
                              script, FALAFEL_PROGRAM, limit_mib, path));
  EXPECT_NE(result.output.find(": unknown (241 operations)\n"), std::string::npos) << result.output;
  const std::string limit = fmt::format("at the limit of {} bytes of memory", limit_mib << 20U);
  EXPECT_NE(result.output.find(limit), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("Its longest order passes "), std::string::npos) << result.output;
  const std::size_t peak = result.output.find("peak ");
  ASSERT_NE(peak, std::string::npos) << result.output;
  EXPECT_TRUE(result.output.ends_with(" 4\n")) << result.output;
  if (has_address_sanitizer) GTEST_SKIP() << "its own memory exceeds the limit";
  EXPECT_LE(std::stoull(result.output.substr(peak + 5)), limit_mib * 1'024 * 11 / 10);
}

TEST_F(CheckCommand, DoesNotJudgeAHistoryThatIsTooLarge) {
  std::string lines;
  for (int index = 0; index < 10; ++index) {
    lines += fmt::format(R"({{"client": 1, "key": "{}", "kind": "get", "call": 1, "return": 2, )"
                         R"("outcome": "not_found"}})"
                         "\n",
                         index);
  }
  const std::string path = file("large.jsonl", lines);
  const std::string check = "check --format jsonl --memory-mib 4 ";
  const ProgramRun result = run(check + path);
  EXPECT_EQ(result.status, 4);
  EXPECT_TRUE(std::regex_search(
      result.output, std::regex(R"(large\.jsonl:\d+: unknown: .*; check a part of it or raise)")))
      << result.output;
  const ProgramRun printed =
      run_command(FALAFEL_PROGRAM " " + check + "--json " + path + " 2>/dev/null");
  const auto json = nlohmann::json::parse(printed.output, nullptr, false);
  ASSERT_TRUE(json.is_array());
  EXPECT_EQ(json[0]["verdict"], "unknown");
}

TEST_F(CheckCommand, ExitsWithTheWorstOfSeveral) {
  EXPECT_EQ(run(check_ + good_ + " " + good_).status, 0);
  EXPECT_EQ(run(check_ + good_ + " " + bad_).status, 1);
  EXPECT_EQ(run(check_ + bad_ + " " + broken_ + " " + good_).status, 1);
  EXPECT_EQ(run(check_ + good_ + " " + broken_).status, 2);
  EXPECT_EQ(run(check_ + "--steps 2 " + broken_ + " " + good_).status, 2);
}

TEST_F(CheckCommand, ReadsOtherFormatsAndStandardInput) {
  EXPECT_EQ(run("check --format kv-log " + file("log.edn", texts::good_log)).status, 0);
  EXPECT_EQ(run("check --format kv-log - < " + file("bad.edn", texts::bad_log)).status, 1);
  EXPECT_EQ(run("check --format jsonl " + file("good.jsonl", texts::good_json)).status, 0);
  EXPECT_EQ(run("check --format jsonl " + file("bad.jsonl", texts::bad_json)).status, 1);
}

TEST_F(CheckCommand, JudgesAHistoryThatNamesItsSpecification) {
  const std::string pop =
      R"({"client": 2, "operation": "pop", "call": 3, "return": 4, "outcome": "answered", "result": )";
  const std::string start = R"({"specification": "queue"})"
                            "\n"
                            R"({"client": 1, "operation": "push", "value": "<b>", "call": 1, )"
                            R"("return": 2, "outcome": "answered"})"
                            "\n";
  const std::string page = testing::TempDir() + "falafel_check_command_page.html";
  const std::string check = "check --format specification --page " + page + " ";
  EXPECT_EQ(run(check + file("good.spec", start + pop + "\"<b>\"}")).status, 0);
  const std::string bad = file("bad.spec", start + pop + "7}");
  const ProgramRun result = run(check + bad);
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.output.find("  client 2: pop -> 7 (call 3, return 4)\n"), std::string::npos)
      << result.output;
  std::ifstream written(page);
  const std::string html(std::istreambuf_iterator<char>(written), {});
  EXPECT_NE(html.find("<g class=\"ordered\">"), std::string::npos) << html;
  EXPECT_NE(html.find("<g class=\"unfitting\">"), std::string::npos) << html;
  EXPECT_NE(html.find("1. push &quot;&lt;b&gt;&quot;"), std::string::npos) << html;
  const std::string broken = file("broken.spec", start + "{}");
  const ProgramRun unreadable = run(check + broken);
  EXPECT_EQ(unreadable.status, 2);
  EXPECT_EQ(unreadable.output, broken + ":3: \"client\" is missing; add it\n");
  EXPECT_EQ(run(check + bad + " " + bad).status, 2);
  EXPECT_EQ(run("check --format specification --json " + bad).status, 1);
  EXPECT_EQ(run(check_ + "--page " + page + " " + bad_).status, 1);
}

// The operations of one client do not overlap, and each has room for its text.
TEST_F(CheckCommand, PagesHaveRoomForEachOperation) {
  std::string lines = R"({"specification": "queue"})"
                      "\n";
  for (int push = 0; push < 4; ++push) {
    lines += fmt::format(
        R"({{"client": 123456789, "operation": "push", "value": "{}", "call": {}, "return": {}, )"
        R"("outcome": "answered"}})"
        "\n",
        std::string(push % 2 == 0 ? 50 : 3, 'x'), 10 * push, 10 * push + 1);
  }
  const std::string page = testing::TempDir() + "falafel_check_command_wide_page.html";
  const std::string path = file("wide.spec", lines);
  EXPECT_EQ(run("check --format specification --page " + page + " " + path).status, 0);
  std::ifstream written(page);
  const std::string html(std::istreambuf_iterator<char>(written), {});
  const std::regex bar(
      "<g class=\"\\w+\"><title>(.*?)</title><rect x=\"(\\d+)\" .*? width=\"(\\d+)\" .*?"
      "<text x=\"(\\d+)\" .*?>(.*?)</text>");
  std::size_t end = 0;
  std::size_t operations = 0;
  for (std::sregex_iterator match(html.begin(), html.end(), bar), last; match != last;
       ++match, ++operations) {
    const auto number = [&](std::size_t group) { return std::stoul(match->str(group)); };
    EXPECT_GE(number(2), end) << "it begins behind the one before";
    end = number(2) + number(3);
    const std::string label = std::regex_replace(match->str(5), std::regex("&quot;"), "'");
    const std::size_t letters = label.size();
    EXPECT_LE(number(4) + 8 * letters, end) << label;
    EXPECT_LE(letters, 40U);
  }
  EXPECT_EQ(operations, 4U);
  EXPECT_NE(html.find("<title>client 123456789: push &quot;" + std::string(50, 'x')),
            std::string::npos)
      << "the whole value is shown under the pointer";
}

TEST_F(CheckCommand, WithoutJudgedOperationIsNoSuccess) {
  const std::string refused =
      file("refused.jsonl",
           R"({"client": 1, "key": "a", "kind": "set", "value": "1", "call": 10, "return": 11, )"
           R"("outcome": "refused"})");
  const ProgramRun result = run("check --format jsonl " + refused);
  EXPECT_EQ(result.status, 5);
  EXPECT_EQ(result.output,
            refused +
                ": nothing judged (1 operations)\n"
                "No operation has an answer that says anything about the object: all were refused, "
                "failed or never returned. Record operations that succeed.\n");
  EXPECT_EQ(
      run("check --format jsonl " + refused + " " + file("good.jsonl", texts::good_json)).status,
      5);
  const ProgramRun json = run("check --json --format jsonl " + refused);
  EXPECT_NE(json.output.find("nothing judged"), std::string::npos) << json.output;
}

TEST_F(CheckCommand, InitialValuesAreThoseOfTheOption) {
  const std::string history =
      file("initial.jsonl",
           "{\"specification\": \"register\"}\n"
           R"({"client": 1, "operation": "read", "call": 1, "return": 2, "outcome": "answered", )"
           R"("result": 0})");
  EXPECT_EQ(run("check --format specification " + history).status, 1);
  EXPECT_EQ(run("check --format specification --initial 0 " + history).status, 0);
  EXPECT_EQ(run("check --format specification --initial '[1]' " + history).status, 2);
  EXPECT_EQ(run("check --format specification --initial '{' " + history).status, 2);
  EXPECT_EQ(run(check_ + "--initial 0 " + good_).status, 2);
}

// The specification selects the library by its path.
TEST_F(CheckCommand, LoadsASpecification) {
  const std::string history =
      file("bounded.jsonl",
           "{\"specification\": \"bounded_queue\"}\n"
           R"({"client": 1, "operation": "push", "value": 7, "call": 1, "return": 2, )"
           R"("outcome": "answered", "result": true})");
  const std::string library = "--specification " FALAFEL_SPECIFICATIONS;
  const std::string check = "check --format specification " + library + "bounded_queue.so ";
  EXPECT_EQ(run(check + history).output, history + ": linearizable (1 operations)\n");
  EXPECT_EQ(run(check + "--initial 0 " + history).status, 2);
  const std::string pops = file("pops.edn",
                                "{:type :invoke, :process 0, :f :pop, :value nil}\n"
                                "{:type :ok, :process 0, :f :pop, :value 7}\n");
  const ProgramRun wrong = run("check --format jepsen " + library + "bounded_queue.so " + pops);
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.output.find("client 0: pop -> 7"), std::string::npos) << wrong.output;
  const ProgramRun missing =
      run("check --format specification " + library + "lacks_apply.so " + history);
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.output.find("lacks the function apply"), std::string::npos) << missing.output;
  EXPECT_EQ(run(check_ + library + "bounded_queue.so " + good_).status, 2);
  EXPECT_EQ(run("check --format specification --specification queue " + history).status, 2);
}

TEST_F(CheckCommand, ReadsHistoriesOfJepsen) {
  const std::string history = file("history.edn",
                                   "{:type :invoke, :process 0, :f :write, :value 1}\n"
                                   "{:type :ok, :process 0, :f :write, :value 1}\n");
  EXPECT_EQ(run("check --format jepsen " + history).status, 0);
  EXPECT_EQ(run("check --format jepsen --specification register " + history).status, 0);
  const ProgramRun wrong = run("check --format jepsen --specification queue " + history);
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.output,
            history + ":1: the operation is \"write\", but must be one of: push, pop\n");
  EXPECT_EQ(run("check --format jepsen --specification heap " + history).status, 2);
}

// Nanoseconds since 1970 need all digits of 64 bits.
TEST_F(CheckCommand, KeepsAllDigitsOfNanoseconds) {
  const std::string set =
      R"({"client": 1, "key": "a", "kind": "set", "value": "1", "call": 1719430000000000000, )"
      R"("return": 1719430000000000001, "outcome": "stored"})"
      "\n";
  const std::string get = R"({"client": 2, "key": "a", "kind": "get", "call": 171943000000000000)";
  const std::string end = R"(, "return": 1719430000000000003, "outcome": "not_found"})";
  EXPECT_EQ(run("check --format jsonl " + file("later.jsonl", set + get + "2" + end)).status, 1);
  EXPECT_EQ(run("check --format jsonl " + file("touch.jsonl", set + get + "1" + end)).status, 0);
}

TEST_F(CheckCommand, PrintsJson) {
  const ProgramRun result = run(check_ + "--json " + good_ + " " + bad_);
  EXPECT_EQ(result.status, 1);
  const auto document = nlohmann::json::parse(result.output, nullptr, false);
  ASSERT_TRUE(document.is_array() && document.size() == 2) << result.output;
  EXPECT_EQ(document[0]["verdict"], "linearizable");
  EXPECT_EQ(document[0]["operations"], 9);
  EXPECT_EQ(document[1]["verdict"], "not linearizable");
  EXPECT_EQ(document[1]["longest_prefix"].size(), 2U);
  EXPECT_EQ(document[1]["unfitting"][0]["value"], "3");
  EXPECT_EQ(document[1]["unfitting"][0]["return"], 6);
}

TEST_F(CheckCommand, WrongUsageIsUnreadable) {
  EXPECT_EQ(run("").status, 2);
  EXPECT_EQ(run("check " + good_).status, 2);
  EXPECT_EQ(run("check --format elf " + good_).status, 2);
  EXPECT_EQ(run(check_ + "--steps 0 " + good_).status, 2);
  EXPECT_EQ(run("check --help").status, 0);
}

}  // namespace
}  // namespace falafel::checkers_test
