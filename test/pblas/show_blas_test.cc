// A BLAS that a plugin alone sees, and that has products of one kind of elements alone.

#include <dlfcn.h>

#include "gtest/gtest.h"
#include "pblas_shim/process_functions.h"

namespace brigade {
namespace pblas {
namespace {

void* plugin = nullptr;

TEST(ShowBlas, ShowsThatOfAnyElements) {
  plugin = dlopen("test/pblas/partial_blas.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(plugin, nullptr) << dlerror();
  ASSERT_EQ(dlsym(RTLD_DEFAULT, "zgemm_"), nullptr);
  find_first = [](const char* name) { return dlsym(plugin, name); };
  ShowBlas();
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "zgemm_"), dlsym(plugin, "zgemm_"));
}

}  // namespace
}  // namespace pblas
}  // namespace brigade
