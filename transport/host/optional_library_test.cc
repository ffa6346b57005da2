#include "transport/host/optional_library.h"

#include <cmath>
#include <initializer_list>
#include <string>

#include "gtest/gtest.h"

// Declared, and nowhere defined.
int brigade_test_missing();

namespace brigade {
namespace {

struct Mathematics : OptionalLibrary {
  explicit Mathematics(std::initializer_list<const char*> files) : OptionalLibrary(files) {}
  BRIGADE_OPTIONAL_FUNCTION(cbrtf);
};

struct MoreMathematics : Mathematics {
  MoreMathematics() : Mathematics({"libm.so.6"}) {}
  BRIGADE_OPTIONAL_FUNCTION(brigade_test_missing);
  BRIGADE_OPTIONAL_FUNCTION(cbrtl);
};

TEST(OptionalLibrary, HasItsDeclaredFunctions) {
  const Mathematics library({"libm.so.6"});
  ASSERT_TRUE(library.status().ok()) << library.status().ToString();
  EXPECT_EQ(library.cbrtf(27), 3);
}

TEST(OptionalLibrary, MayBeMissing) {
  const Mathematics library({"libbrigade_nowhere.so.8", "libbrigade_nowhere.so.7"});
  EXPECT_EQ(library.status().code(), StatusCode::kUnavailable);
  for (const char* name : {"libbrigade_nowhere.so.8: cannot open", "; libbrigade_nowhere.so.7: "}) {
    EXPECT_NE(library.status().message().find(name), std::string::npos)
        << library.status().message();
  }
}

TEST(OptionalLibrary, MayHaveSeveralNames) {
  const Mathematics library({"libbrigade_nowhere.so.7", "libm.so.6"});
  ASSERT_TRUE(library.status().ok()) << library.status().ToString();
  EXPECT_EQ(library.cbrtf(27), 3);
}

TEST(OptionalLibrary, MayLackAFunction) {
  const MoreMathematics library;
  EXPECT_EQ(library.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(library.status().message().find("brigade_test_missing"), std::string::npos);
}

}  // namespace
}  // namespace brigade
