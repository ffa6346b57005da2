#include "patterns/api/sized.h"

#include <cstring>
#include <string>

#include "brigade/brigade.h"
#include "brigade/multiply.h"
#include "gtest/gtest.h"

namespace brigade {
namespace {

template <typename Sized>
struct Longer {
  Sized known;
  int unknown;
};

// Every function that takes a structure reads it or writes it in one of the two ways.
template <typename Sized>
void CheckStructure(const char* name, const Sized& initial) {
  SCOPED_TRACE(name);
  const std::string initialiser = std::string("initialise it with ") + name + "_init()";
  const auto refuses = [&](Sized* given, const std::string& text) {
    Sized copy;
    for (const Status& status :
         {ReadSized(name, *given, &copy), WriteSized(name, initial, given)}) {
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
      EXPECT_NE(status.message().find(initialiser), std::string::npos) << status.message();
    }
  };
  Sized given;
  std::memset(&given, 0, sizeof(given));
  refuses(&given, "has a size of 0");
  given.size = sizeof(Sized) - 1;
  refuses(&given, "has a size of ");
  given.size = 0x7fffffffffffffff;
  refuses(&given, "has a size of ");

  Longer<Sized> longer;
  std::memset(&longer, 0, sizeof(longer));
  longer.known.size = sizeof(longer);
  Sized copy;
  EXPECT_TRUE(ReadSized(name, longer.known, &copy).ok());
  EXPECT_EQ(copy.size, sizeof(Sized));
  EXPECT_TRUE(WriteSized(name, initial, &longer.known).ok());
  EXPECT_EQ(longer.known.size, sizeof(longer));
  EXPECT_EQ(longer.unknown, 0);
  longer.unknown = 1;
  refuses(&longer.known, "sets a field that version ");
}

TEST(Sized, StructuresOfAnyVersionOrNone) {
  CheckStructure("brigade_options", brigade_options_init());
  CheckStructure("brigade_call_options", brigade_call_options_init());
  CheckStructure("brigade_statistics", brigade_statistics_init());
  CheckStructure("brigade_failure", brigade_failure_init());
  CheckStructure("brigade_bootstrap_options", brigade_bootstrap_options_init());
  CheckStructure("brigade_product", brigade_product_init());
  CheckStructure("brigade_multiply_options", brigade_multiply_options_init());
  CheckStructure("brigade_multiply_statistics", brigade_multiply_statistics_init());
}

}  // namespace
}  // namespace brigade
