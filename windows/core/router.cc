#include "windows/core/router.h"

#include <algorithm>
#include <string>

#include "membuf/accumulate.h"
#include "membuf/element.h"
#include "transport/host/host.h"
#include "transport/rules.h"
#include "windows/core/access_range.h"
#include "windows/layout/layout_cursor.h"
#include "windows/rules.h"

namespace brigade {
namespace {

// Finds the one element that both sides of an accumulate consist of.
Status FindElement(const RmaRequest& request, Element* element) {
  *element = request.target.layout->element();
  if (request.op != CombineOp::kNoOp && request.send.layout->element() != *element) {
    return Invalid(std::string("accumulates ") + ElementName(request.send.layout->element()) +
                   " into " + ElementName(*element));
  }
  if (IsDefined(request.op, *element)) return Status();
  return Invalid(std::string(CombineOpName(request.op)) + " is not defined for " +
                 ElementName(*element));
}

}  // namespace

Status Router::Open(Bootstrap* bootstrap, std::vector<MemberAttributes> members,
                    const WindowOptions& options, bool is_checked, bool answers) {
  rank_ = bootstrap->rank();
  size_ = bootstrap->size();
  members_ = std::move(members);
  has_short_blocks_ = options.has_short_blocks;
  targets_.resize(members_.size());
  direct_.resize(members_.size());
  struct Reach {
    bool all = true;
    bool some = false;
    bool maps_all = true;
    bool answers = false;
    bool delegates = false;
    bool has_mailboxes = true;
  } mine;
  mine.answers = answers;
  const Host here = Host::Here();
  for (int r = 0; r < size(); ++r) {
    const auto i = static_cast<size_t>(r);
    if (r == rank_ || options.goes_directly) {
      targets_[i] = TargetMemory::Open(member(r), here, size());
    }
    if (r == rank_ || !is_checked) direct_[i] = opened(r);
    mine.all = mine.all && direct(r) != nullptr;
    mine.some = mine.some || (r != rank_ && direct(r) != nullptr);
    mine.maps_all = mine.maps_all && (r == rank_ || member(r).bytes == 0 ||
                                      (opened(r) != nullptr && opened(r)->mapped() != nullptr));
    mine.delegates = mine.delegates || (has_short_blocks_ && IsPrivate(r));
    mine.has_mailboxes =
        mine.has_mailboxes && direct(r) != nullptr && direct(r)->mailboxes() != nullptr;
  }
  // No member closes its memory before all others have opened it.
  std::vector<Reach> all(members_.size());
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), all.data()));
  const auto any = [&](bool Reach::*what) {
    return std::any_of(all.begin(), all.end(), [&](const Reach& reach) { return reach.*what; });
  };
  const auto every = [&](bool Reach::*what) {
    return std::all_of(all.begin(), all.end(), [&](const Reach& reach) { return reach.*what; });
  };
  is_direct_ = every(&Reach::all);
  some_are_direct_ = any(&Reach::some);
  all_are_mapped_ = every(&Reach::maps_all);
  all_answer_ = every(&Reach::answers);
  has_mailboxes_ = every(&Reach::has_mailboxes);
  const MemberAttributes& own = member(rank_);
  is_delegate_ = own.kind == WindowMemory::kPrivate && own.bytes > 0 && any(&Reach::delegates);
  return Status();
}

bool Router::has_dynamic() const {
  return std::any_of(members_.begin(), members_.end(), [](const MemberAttributes& member) {
    return member.kind == WindowMemory::kDynamic;
  });
}

// The first blocks stand for all: as many as there must be, as the kernel sees them.
bool Router::HasManyBlocks(const RmaRequest& request) {
  constexpr int64_t kMostBytes = rules::kLeastDelegatedBlocks * rules::kMostDelegatedBlockBytes;
  if (request.target.bytes() < rules::kLeastDelegatedBlocks) return false;
  // Short gaps are read along.
  const int64_t across = request.kind == RmaKind::kGet ? int64_t{rules::kReadAcrossBytes} : 0;
  const auto is_apart = [&](int64_t gap) { return gap < 0 || gap > across; };
  int64_t blocks = 0;
  int64_t end = 0;  // of the last one
  LayoutCursor at(request.target.layout, request.target.count);
  while (at.position() < std::min(at.size(), kMostBytes)) {
    const Runs runs = at.Next();
    if (blocks == 0 || is_apart(runs.offset - end)) ++blocks;
    if (is_apart(runs.stride - runs.bytes)) {
      const int64_t counted = (kMostBytes - at.position() + runs.bytes - 1) / runs.bytes;
      blocks += std::min(runs.count, counted) - 1;
    }
    if (blocks >= rules::kLeastDelegatedBlocks) return true;
    end = runs.offset + (runs.count - 1) * runs.stride + runs.bytes;
    at.Skip(runs.count * runs.bytes);
  }
  return false;
}

Status Router::NoSuchRank(int rank) const {
  return Invalid("rank " + std::to_string(rank) + " of a window of " + std::to_string(size()) +
                 " ranks");
}

Status Router::Resolve(RmaRequest* request) const {
  const int rank = request->rank;
  BRIGADE_RETURN_IF_ERROR(CheckRank(rank));
  const MemberAttributes& member = this->member(rank);
  const RmaRequest::Values& target = request->target;
  int64_t low = 0;
  int64_t high = 0;
  int64_t bytes = 0;
  if (target.count < 0 || !target.layout->Bounds(target.count, &low, &high, &bytes)) {
    return Invalid(std::to_string(target.count) + " values at rank " + std::to_string(rank) +
                   ": must be 0 or more, of less than 2^62 bytes");
  }
  if (bytes != request->bytes()) {
    return Invalid(std::to_string(request->bytes()) + " bytes here, and " + std::to_string(bytes) +
                   " at rank " + std::to_string(rank));
  }
  const auto memory = static_cast<int64_t>(member.bytes);
  const int64_t displacement =
      request->displacement -
      (member.kind == WindowMemory::kDynamic ? static_cast<int64_t>(kProcessAddress) : 0);
  // A displacement may point anywhere, as long as the bytes of the datatype are inside. Behind
  // address 0 of a dynamic window a datatype has its addresses in itself.
  int64_t first = 0;
  int64_t end = 0;
  const bool is_inside = request->displacement >= 0 &&
                         !__builtin_mul_overflow(displacement, member.unit, &request->offset) &&
                         !__builtin_add_overflow(request->offset, low, &first) &&
                         !__builtin_add_overflow(request->offset, high, &end) && first >= 0 &&
                         end <= memory;
  if (bytes > 0 && !is_inside) {
    return Invalid(DescribeAccessOutside(member, rank, request->displacement, low, high));
  }
  if (!request->combines()) return Status();
  if (request->op != CombineOp::kNoOp && request->send.bytes() != bytes) {
    return Invalid(std::to_string(request->send.bytes()) + " bytes are accumulated, and " +
                   std::to_string(bytes) + " fetched");
  }
  return bytes == 0 ? Status() : FindElement(*request, &request->element);
}

}  // namespace brigade
