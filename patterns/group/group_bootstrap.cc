#include "patterns/group/group_bootstrap.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "membuf/strided_layout.h"
#include "patterns/engine/out_of_memory.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/group_calls.h"

namespace brigade {
namespace {

// The length of a rank that has nothing to gather.
constexpr int64_t kNothing = -1;

Matrix BytesAt(void* data, size_t bytes) {
  return {static_cast<std::byte*>(data), StridedLayout::Contiguous(bytes)};
}

}  // namespace

Status GroupBootstrap::Use(Group* parent, const std::vector<int>& members,
                           const std::function<Status(Bootstrap*)>& body) {
  GroupBootstrap bootstrap(parent->engine(), parent->state(), members);
  const Status result =
      members.empty() ? Status() : CatchOutOfMemory([&] { return body(&bootstrap); });
  const Status finished = bootstrap.Finish();
  return finished.ok() ? result : finished;
}

Status GroupBootstrap::Use(Group* parent, const std::function<Status(Bootstrap*)>& body) {
  std::vector<int> all(parent->state()->members());
  std::iota(all.begin(), all.end(), 0);
  return Use(parent, all, body);
}

GroupBootstrap::GroupBootstrap(Engine* engine, GroupState* parent, const std::vector<int>& members)
    : engine_(engine), parent_(parent), members_(members) {
  const auto self = std::find(members_.begin(), members_.end(), parent->rank);
  if (self != members_.end()) rank_ = static_cast<int>(self - members_.begin());
}

std::optional<Bootstrap::Parent> GroupBootstrap::parent() const {
  if (parent_->closed) return std::nullopt;
  return Parent{parent_->id, &members_};
}

Status GroupBootstrap::AllGather(const void* mine, size_t bytes, void* all) {
  Round round;
  BRIGADE_RETURN_IF_ERROR(TakePart(mine, static_cast<int64_t>(bytes), &round));
  std::vector<size_t> begins;  // of each rank's data
  size_t begin = 0;
  for (const int64_t length : round.lengths) {
    begins.push_back(begin);
    begin += static_cast<size_t>(std::max(length, int64_t{0}));
  }
  for (size_t member = 0; member < members_.size(); ++member) {
    const int64_t length = round.lengths[static_cast<size_t>(members_[member])];
    if (length == static_cast<int64_t>(bytes)) continue;
    return Status(StatusCode::kMismatch,
                  "the members of a new group differ in what they gather: rank " +
                      std::to_string(rank_) + " " + std::to_string(bytes) + " bytes, rank " +
                      std::to_string(member) + " " +
                      (length == kNothing ? "nothing" : std::to_string(length) + " bytes"));
  }
  if (bytes == 0) return Status();
  auto* to = static_cast<std::byte*>(all);
  for (const int rank : members_) {
    std::memcpy(to, round.data.data() + begins[static_cast<size_t>(rank)], bytes);
    to += bytes;
  }
  return Status();
}

Status GroupBootstrap::TakePart(const void* mine, int64_t bytes, Round* round) {
  const size_t ranks = parent_->members();
  const auto self = static_cast<size_t>(parent_->rank);
  std::vector<Matrix> blocks(ranks);
  PatternCall call;
  call.pattern = Pattern::kMultiBroadcast;
  call.topology.shape = Shape::kFree;
  call.blocks = blocks.data();
  round->lengths.assign(ranks, 0);
  round->lengths[self] = bytes;
  for (size_t r = 0; r < ranks; ++r) blocks[r] = BytesAt(&round->lengths[r], sizeof(int64_t));
  BRIGADE_RETURN_IF_ERROR(RunCall(engine_, parent_, call));

  const auto bytes_of = [&](size_t rank) {
    return static_cast<size_t>(std::max(round->lengths[rank], int64_t{0}));
  };
  size_t all = 0;
  for (size_t r = 0; r < ranks; ++r) all += bytes_of(r);
  if (all == 0) return Status();
  return BreakIfOutOfMemory(engine_, parent_, [&] {
    round->data.resize(all);
    std::byte* at = round->data.data();
    for (size_t r = 0; r < ranks; at += bytes_of(r++)) blocks[r] = BytesAt(at, bytes_of(r));
    if (bytes > 0) std::memcpy(blocks[self].data, mine, static_cast<size_t>(bytes));
    return RunCall(engine_, parent_, call);
  });
}

Status GroupBootstrap::Finish() {
  Round round;
  do {
    BRIGADE_RETURN_IF_ERROR(TakePart(nullptr, kNothing, &round));
  } while (std::any_of(round.lengths.begin(), round.lengths.end(),
                       [](int64_t length) { return length != kNothing; }));
  return Status();
}

}  // namespace brigade
