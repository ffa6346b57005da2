// Group: ranks that communicate by patterns. The C++ interface of the library; brigade.h is the
// interface for C.
//
// A group is a grid of rows x cols ranks, numbered row by row; a plain group is a 1 x n grid. Its
// scopes are the calling rank's row, its column, and all. Groups share one Engine per process and
// with it one staging pool.
//
// The ranks of a scope make the same calls on it in the same order. Calls on different scopes, and
// sends and receives, are independent of each other: each has a channel of its own.

#ifndef BRIGADE_PATTERNS_GROUP_GROUP_H_
#define BRIGADE_PATTERNS_GROUP_GROUP_H_

#include <memory>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/operation.h"
#include "patterns/group/persistent_call.h"
#include "transport/bootstrap.h"

namespace brigade {

struct Abort;
struct Candidate;
struct Cost;
struct MachineDescription;
struct GroupState;

// More than 25 public methods: a third of them read a property of the group.
class Group {
 public:
  // Collective over the members of `bootstrap` (rows * cols of them) and nobody else. `engine` must
  // outlive the group. kInvalidArgument if the shape does not fit; kMismatch, naming both ranks, if
  // their settings differ. No group then. If the engine's options say so and the group is on
  // several hosts, it is calibrated, unless these very hosts have been before (machine_cache.h).
  static Status Create(Engine* engine, Bootstrap* bootstrap, int rows, int cols,
                       std::unique_ptr<Group>* group);
  // Local. Sends that have returned still reach their receivers. REQUIRES: no operation of the
  // group is under way.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // Splits this group into one group for each colour, of shape 1 x n, in which ranks are ordered by
  // (key, rank here). A rank with a negative colour gets none.
  //
  // This and the next two are collective over this group, as calls on its scope kAll; other calls
  // and started operations may be under way. They return when all ranks are done. The new groups
  // are independent of this one. Failures: as Create, on all members of the new group, and this
  // group stays usable; a failure of this group breaks it, and all ranks get it. *group is null
  // then.
  Status Split(int colour, int key, std::unique_ptr<Group>* group);
  // Makes a group of shape rows x cols of the ranks in a list, in its order. A rank that is not in
  // it gets none. All arguments must be equal on all ranks, also on those: kMismatch otherwise,
  // naming two of them. kInvalidArgument: the list does not fit the shape, has a rank twice, or one
  // that this group has not.
  Status FromRanks(const std::vector<int>& ranks, int rows, int cols,
                   std::unique_ptr<Group>* group);
  // Makes a group of the same ranks and shape.
  Status Duplicate(std::unique_ptr<Group>* group);

  // The name of the transport that carries it.
  const char* transport() const;
  int rank() const;
  int rows() const;
  int cols() const;
  int row() const { return rank() / cols(); }
  int col() const { return rank() % cols(); }
  // Ranks in a scope, and the calling rank's number in it. For kPointToPoint: the whole group.
  int ScopeSize(ChannelKind scope) const;
  int ScopeRank(ChannelKind scope) const;
  // Returns the capabilities of the transport between all members.
  const Capabilities& capabilities() const;
  // Whether messages to several hosts can go host after host (Topology::by_host).
  bool goes_by_host() const;
  // Returns the measured costs of the edges, the same on all ranks; null: not measured.
  const MachineDescription* machine() const;

  // Runs `call` to its end. After kInvalidArgument nothing happened. After any other failure the
  // group is broken, on all members: every call on it, under way there or made later, returns that
  // first failure, with who broke it and why, and user memory the call was to write is unspecified.
  Status Run(const PatternCall& call, OperationStatistics* statistics = nullptr);

  // Fills in what Run would choose of a call: its topology, and how long segments are.
  // kInvalidArgument as Run.
  Status Choose(PatternCall* call) const;

  // The variants of a call, whatever its topology: each shape, with several lengths of segments,
  // and how long the model says it takes. All are legal; of a combine they differ in bits. Empty if
  // nothing was measured, or the peer of a send is no member. `late_us`: as in CostQuery.
  std::vector<Candidate> Candidates(const PatternCall& call, double late_us = 0) const;

  // How long the model says a call takes, as its topology and segment length say. REQUIRES: the
  // topology is not Shape::kFree, something was measured, and the peer of a send is a member.
  Cost Predict(const PatternCall& call) const;

  // Starts `call` without waiting. Of a collective call, or a receive where all memory is
  // registered and does not grow, kNoResource: the staging memory it needs is in use; nothing
  // happened here, and the others may have started it: brigade.h says what this rank must then do.
  // kOutOfMemory, on all ranks: it can never be started. The matrix, locations and blocks of
  // `call`, the array of blocks included, must stay valid until the operation is done. Operations
  // on one scope take place in the order of their starts, as do sends to, and receives from, one
  // rank.
  Status Start(const PatternCall& call, std::unique_ptr<Operation>* operation);

  // Finds the plan of `call` and checks its arguments, to make the call often. Local. The failures
  // of Start that depend on arguments. The memory of `call` must stay valid as long as *prepared.
  Status Prepare(const PatternCall& call, std::unique_ptr<PersistentCall>* prepared);

  // The group's first failure, as far as this rank knows; looks, and does not wait.
  Status failure() const;
  // The rank that broke the group, and its call. REQUIRES: failure() is not OK.
  const brigade::Abort& cause() const;
  // Breaks the group: every call on it, under way or made later, ends on every rank with kAborted,
  // this rank and `text`, whose first Abort::kMostTextBytes travel. No effect on a broken group.
  void Abort(const std::string& text);
  // Local. Ends what is under way on this rank, and sends no message. Only the destructor may
  // follow.
  void Abandon();

  // For what stands on a group and sends control messages and segments of its own.
  Engine* engine() const { return engine_; }
  GroupState* state() const { return state_.get(); }

 private:
  Group(Engine* engine, std::unique_ptr<GroupState> state);

  Engine* const engine_;
  std::unique_ptr<GroupState> state_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_GROUP_H_
