#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "falafel/fabric_options.h"

namespace falafel {
namespace {

// Sets or removes a variable of the environment until the end of the test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const {
    if (value == nullptr) {
      ::unsetenv(name_);
    } else {
      ::setenv(name_, value, 1);
    }
  }

  const char* name_;
  std::optional<std::string> before_;
};

std::string directory_with(const char* falafel_directory, const char* xdg_runtime_dir) {
  const Variable first("FALAFEL_DIRECTORY", falafel_directory);
  const Variable second("XDG_RUNTIME_DIR", xdg_runtime_dir);
  return default_directory().string();
}

TEST(DefaultDirectory, IsThatOfTheFirstVariableThatIsSet) {
  const std::string of_user = "/tmp/falafel-" + std::to_string(::geteuid());
  EXPECT_EQ(directory_with("/run/here", "/run/user/1"), "/run/here");
  EXPECT_EQ(directory_with(nullptr, "/run/user/1"), "/run/user/1/falafel");
  EXPECT_EQ(directory_with(nullptr, nullptr), of_user);
}

TEST(DefaultDirectory, IgnoresEmptyVariables) {
  const std::string of_user = "/tmp/falafel-" + std::to_string(::geteuid());
  EXPECT_EQ(directory_with("", "/run/user/1"), "/run/user/1/falafel");
  EXPECT_EQ(directory_with("", ""), of_user);
  EXPECT_EQ(directory_with(nullptr, ""), of_user);
}

TEST(DefaultDirectory, IgnoresARelativeRuntimeDirectory) {
  EXPECT_EQ(directory_with(nullptr, "run"), directory_with(nullptr, nullptr));
}

}  // namespace
}  // namespace falafel
