#include "windows/multiply/blas.h"

#include "gtest/gtest.h"
#include "test/support/load_blas.h"

namespace brigade {
namespace {

// This program is linked with none.
TEST(Blas, IsFoundOnceTheProcessHasIt) {
  Gemm gemm;
  const Status none = Gemm::Find(Element::kDouble, &gemm);
  EXPECT_EQ(none.code(), StatusCode::kUnavailable);
  EXPECT_NE(none.message().find("no dgemm_ in this process"), std::string::npos);
  EXPECT_EQ(Gemm::Find(Element::kInt32, &gemm).code(), StatusCode::kInvalidArgument);

  LoadBlas();
  for (const Element element :
       {Element::kFloat, Element::kComplexFloat, Element::kComplexDouble, Element::kDouble}) {
    EXPECT_TRUE(Gemm::Find(element, &gemm).ok());
  }
  const double a[] = {1, 2, 3, 4};
  const double b[] = {5, 6};
  const double alpha = 2;
  const double beta = 10;
  double c[] = {1, 1};
  gemm('T', 'N', 2, 1, 2, &alpha, a, 2, b, 2, &beta, c, 2);
  EXPECT_EQ(c[0], 44);
  EXPECT_EQ(c[1], 88);
}

}  // namespace
}  // namespace brigade
