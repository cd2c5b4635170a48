#include "falafel_build_identity.h"

#include <gtest/gtest.h>

#ifdef NDEBUG
#error "NDEBUG is defined: assertions must be on in every build type"
#endif

namespace falafel::build {

TEST(BuildIdentity, SaysWhatWasBuilt) {
  EXPECT_FALSE(version.empty());
  EXPECT_FALSE(revision.empty());
  EXPECT_FALSE(build_type.empty());
}

TEST(BuildIdentity, NamesTheCompilerWithItsVersion) {
  EXPECT_NE(compiler.find(' '), std::string_view::npos);
  EXPECT_NE(compiler.find_first_of("0123456789"), std::string_view::npos);
}

}  // namespace falafel::build
