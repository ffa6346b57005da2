// GroupBootstrap: some ranks of an open group as the members of a new one. It needs nothing but the
// group: the members gather by multi-broadcasts in which all ranks of the group take part.
//
// Different members may have different numbers of gathers, and those of several new groups go on at
// the same time. So ranks gather in rounds. In each, every rank says whether it has something to
// gather; a rank that has not takes part for the others. The rounds end together, with one in which
// no rank has.
//
// A round is one multi-broadcast of lengths over all ranks of the open group, and a second one of
// the data if there is any. Use takes one round more than the member with the most gathers.

#ifndef BRIGADE_PATTERNS_GROUP_GROUP_BOOTSTRAP_H_
#define BRIGADE_PATTERNS_GROUP_GROUP_BOOTSTRAP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/group/group.h"
#include "transport/bootstrap.h"

namespace brigade {

class GroupBootstrap : public Bootstrap {
 public:
  // Runs `body` on `members`, which are ranks of `parent` in the order of their new ranks: equal on
  // all members, and without members in common with lists of other ranks. An empty list: this rank
  // is no member of anything. Collective over `parent`, as a call on its scope kAll, on which
  // `body` makes no call itself. Blocks until the bodies of all ranks have returned. Returns the
  // failure of the parent, if it is broken or breaks meanwhile; otherwise the result of `body`, OK
  // without; kOutOfMemory if it throws std::bad_alloc.
  static Status Use(Group* parent, const std::vector<int>& members,
                    const std::function<Status(Bootstrap*)>& body);
  // The same with all ranks of `parent` as members, in their order.
  static Status Use(Group* parent, const std::function<Status(Bootstrap*)>& body);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  std::optional<Parent> parent() const override;
  // kMismatch: a member's body has returned, or it gathers another number of bytes.
  Status AllGather(const void* mine, size_t bytes, void* all) override;

 private:
  GroupBootstrap(Engine* engine, GroupState* parent, const std::vector<int>& members);

  // The contributions of all ranks of the parent to a round.
  struct Round {
    std::vector<int64_t> lengths;
    std::vector<std::byte> data;  // of all, by rank
  };
  // Takes part in a round, with `bytes` bytes, or kNothing.
  Status TakePart(const void* mine, int64_t bytes, Round* round);
  // Takes part until no rank has anything.
  Status Finish();

  Engine* const engine_;
  GroupState* const parent_;
  const std::vector<int> members_;  // ranks of the parent
  int rank_ = -1;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_GROUP_BOOTSTRAP_H_
