// Group: ranks that communicate by patterns. The C++ face of the library inside this repository;
// brigade.h is the C one.
//
// A group is a grid of rows x cols ranks, numbered row by row; a plain group is a 1 x n grid. Its
// scopes are the calling rank's row, its column, and all. Groups share one Engine per process and
// with it one staging pool.
//
// Ranks of a scope make the same calls on it in the same order. Calls on different scopes, and
// sends and receives, are independent of each other.

#ifndef BRIGADE_PATTERNS_GROUP_H_
#define BRIGADE_PATTERNS_GROUP_H_

#include <memory>

#include "membuf/status.h"
#include "patterns/engine.h"
#include "patterns/pattern_call.h"
#include "transport/bootstrap.h"

namespace brigade {

class Operation;

class Group {
 public:
  // Collective over the members of `bootstrap` (rows * cols of them) and nobody else. `engine` must
  // outlive the group. kInvalidArgument if the shape does not fit; kMismatch, naming both ranks, if
  // settings differ between members.
  static Status Create(Engine* engine, Bootstrap* bootstrap, int rows, int cols,
                       std::unique_ptr<Group>* group);
  // Local. Sends that have returned still reach their receivers.
  ~Group();

  int rank() const;
  int rows() const;
  int cols() const;
  int row() const;
  int col() const;
  // Ranks in a scope, and the calling rank's number in it. For kPointToPoint: the whole group.
  int ScopeSize(ChannelKind scope) const;
  int ScopeRank(ChannelKind scope) const;

  // Runs `call` to its end. On kInvalidArgument nothing happened; after any other failure the group
  // is broken and every further call on it returns that first failure.
  Status Run(const PatternCall& call, OperationStatistics* statistics = nullptr);

  // Starts `call` without waiting. kNoResource: the staging memory it needs is not free now;
  // nothing happened. `call.matrix`, locations and portions must stay valid until the operation is
  // done. Operations on one scope complete in the order of their starts.
  Status Start(const PatternCall& call, std::unique_ptr<Operation>* operation);
};

// A started operation. Destroying one that is not done waits for it.
class Operation {
 public:
  ~Operation();
  // Progresses; true once done, well or not. The outcome is `Wait()`'s.
  bool Test();
  // Waits until done and returns the outcome.
  Status Wait();
  const OperationStatistics& statistics() const;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_H_
