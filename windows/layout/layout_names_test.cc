#include "windows/layout/layout_names.h"

#include <gtest/gtest.h>

#include <vector>

namespace brigade {
namespace {

TypedLayout Bytes(int64_t count) { return TypedLayout::Run(Element::kByte, count); }

TEST(LayoutNames, EachIsSentOncePerTarget) {
  GivenLayoutNames names;
  const TypedLayout one = Bytes(1);
  const TypedLayout two = Bytes(2);
  const LayoutName first = names.NameOf(one);
  const LayoutName second = names.NameOf(two);
  EXPECT_NE(first.index, second.index);
  EXPECT_TRUE(names.MustSend(first, 7));
  EXPECT_FALSE(names.MustSend(first, 7));
  EXPECT_TRUE(names.MustSend(first, 3));
  EXPECT_TRUE(names.MustSend(second, 7));
  const std::vector<TypedLayout> copies = {one};
  EXPECT_EQ(names.NameOf(copies[0]).index, first.index);
  EXPECT_FALSE(names.MustSend(names.NameOf(copies[0]), 7));
  // Not the same datatype, though it walks alike.
  EXPECT_NE(names.NameOf(one.Resized(100)).index, first.index);
}

TEST(LayoutNames, TheOldestNameIsGivenAnew) {
  GivenLayoutNames names;
  KnownLayouts known;
  std::vector<TypedLayout> layouts;
  for (int i = 0; i < LayoutName::kNames; ++i) {
    layouts.push_back(Bytes(i));
    const LayoutName name = names.NameOf(layouts[i]);
    EXPECT_EQ(name.index, i);
    EXPECT_TRUE(names.MustSend(name, 0));
    ASSERT_TRUE(known.Learn(5, name, layouts[i]).ok());
  }
  const LayoutName kept = names.NameOf(layouts[0]);  // is used again
  const LayoutName old{1, 1};
  ASSERT_EQ(known.Find(5, old)->size(), 1);

  const TypedLayout another = Bytes(1000);
  const LayoutName name = names.NameOf(another);
  EXPECT_EQ(name.index, old.index);
  EXPECT_EQ(known.Find(5, name), nullptr);
  EXPECT_TRUE(names.MustSend(name, 0));
  ASSERT_TRUE(known.Learn(5, name, another).ok());
  EXPECT_EQ(known.Find(5, name)->size(), 1000);
  EXPECT_EQ(known.Find(5, old), nullptr);
  EXPECT_EQ(known.Find(5, kept)->size(), 0);
  // The datatype that had it before gets another.
  EXPECT_NE(names.NameOf(layouts[1]).index, old.index);
}

TEST(LayoutNames, AnUnknownNameIsNotFound) {
  KnownLayouts known;
  EXPECT_EQ(known.Find(0, {3, 1}), nullptr);
  ASSERT_TRUE(known.Learn(0, {3, 1}, Bytes(1)).ok());
  EXPECT_EQ(known.Find(1, {3, 1}), nullptr);
  EXPECT_EQ(known.Find(0, {2, 1}), nullptr);
  EXPECT_EQ(known.Find(0, {2, 0}), nullptr);
  EXPECT_EQ(known.Find(0, {4, 1}), nullptr);
  EXPECT_EQ(known.Learn(0, {LayoutName::kNames, 1}, Bytes(1)).code(), StatusCode::kMismatch);
}

}  // namespace
}  // namespace brigade
