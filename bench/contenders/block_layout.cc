#include "bench/contenders/block_layout.h"

#include "membuf/check.h"
#include "membuf/element.h"
#include "membuf/status.h"
#include "windows/layout/layout_names.h"

namespace brigade::bench {
namespace {

constexpr int64_t kInt = sizeof(int);

TypedLayout MakeLayout(BlockKind kind) {
  TypedLayout made;
  Status status;
  if (kind == BlockKind::kVector) {
    TypedLayout vector;
    status = TypedLayout::Repeat(BlockLayout::kVectorBlocks, 2 * kInt,
                                 TypedLayout::One(Element::kInt32), &vector);
    BRIGADE_CHECK(status.ok());
    status = TypedLayout::Repeat(BlockLayout::kVectors, vector.extent(), vector, &made);
  } else {
    const TypedLayout pair = TypedLayout::Run(Element::kInt32, 2);
    std::vector<TypedLayout::Part> parts;
    for (int block = 0; block < BlockLayout::kStructBlocks; ++block) {
      parts.push_back({BlockLayout::OffsetOf(block), &pair});
    }
    status = TypedLayout::List(parts, &made);
  }
  BRIGADE_CHECK(status.ok());
  return made;
}

}  // namespace

int64_t BlockLayout::OffsetOf(int block) { return kInt * (3 * block + block / 3); }

BlockLayout::BlockLayout(BlockKind kind) : kind_(kind), layouts_(1, MakeLayout(kind)) {
  BRIGADE_CHECK_EQ(layout().size(), kBytes);
}

void BlockLayout::Forget() {
  // In turn one more than there are names: each has lost its own when its turn comes.
  while (layouts_.size() <= LayoutName::kNames) layouts_.push_back(MakeLayout(kind_));
  turn_ = (turn_ + 1) % layouts_.size();
}

}  // namespace brigade::bench
