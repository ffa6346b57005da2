#include "pblas_shim/grid.h"

#include <sched.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "patterns/group/group_agreement.h"
#include "patterns/settings/settings.h"
#include "pblas_shim/errors.h"
#include "pblas_shim/process_functions.h"
#include "pblas_shim/runtime.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/mpi/mpi_environment.h"
#include "transport/mpi/own_requests.h"

namespace brigade {
namespace pblas {
namespace {

// The values that the ranks of a grid exchange before they make a multiplier.
struct MemberRecord {
  uint64_t course;  // its address
  int when;         // BRIGADE_PBLAS
  int row;
  int col;
  int has_asked;  // the next rank
};

// The course of a rank that has ended the grid.
constexpr int64_t kEnd = INT64_MAX;
// Between two looks at ranks that do not come.
constexpr std::chrono::seconds kLookInterval(1);
// Tags of products, down from the largest that MPI has. MPI has more than twice as many.
constexpr int64_t kTags = 16384;

void Require(const char* routine, const Status& status) {
  if (!status.ok()) Fail(routine, status.ToString());
}

Status Differ(const std::string& what) {
  return {StatusCode::kMismatch, what + ": the arguments of the ranks differ, or BRIGADE_PBLAS"};
}

}  // namespace

Grid::Grid(Runtime* runtime, MPI_Comm comm, const GridPlace& place)
    : runtime_(runtime),
      context_comm_(comm),
      place_(place),
      course_(std::make_unique<std::atomic<int64_t>>(0)) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
}

std::string Grid::NameOf(int rank) const {
  return "process {" + std::to_string(rank / place_.cols) + "," +
         std::to_string(rank % place_.cols) + "} of the grid";
}

int Grid::TagOfProduct() const {
  static const int largest = LargestMpiTag();
  return largest - static_cast<int>(product() % kTags);
}

void Grid::LeaveProduct(const char* routine, LeftProduct* left) {
  *course_ = 2 * (product() + 1) + 1;
  if (is_open_ || ranks_ == 1) return;
  left->grid_ = this;
  left->routine_ = routine;
  Require(routine, MpiStatus(MPI_Irecv(nullptr, 0, MPI_BYTE, (rank_ + ranks_ - 1) % ranks_,
                                       TagOfProduct(), context_comm_, &left->receive_),
                             "MPI_Irecv"));
}

LeftProduct::~LeftProduct() {
  if (receive_ == MPI_REQUEST_NULL) return;
  MPI_Cancel(&receive_);
  MPI_Status status;
  for (int is_over = 0; is_over == 0;) {
    Require(routine_, MpiStatus(TestOwn(&receive_, &is_over, &status), "MPI_Test"));
    if (is_over == 0) sched_yield();
  }
  int is_cancelled = 0;
  MPI_Test_cancelled(&status, &is_cancelled);
  if (is_cancelled != 0) return;
  Require(routine_, Differ(grid_->NameOf(status.MPI_SOURCE) +
                           " computes with Brigade a product that this rank leaves to the PBLAS"));
}

void Grid::TakeProduct(const char* routine) {
  *course_ = 2 * (product() + 1);
  reported_ = Clock::now();
  if (!is_open_) {
    Open(routine);
  } else if (comm_ != MPI_COMM_NULL) {
    AwaitAll(routine, comm_);
  }
}

void Grid::Open(const char* routine) {
  AwaitAll(routine, context_comm_);
  is_open_ = true;
  const MemberRecord mine{reinterpret_cast<uint64_t>(course_.get()),
                          static_cast<int>(runtime_->settings().pblas), place_.row, place_.col,
                          has_asked_ ? 1 : 0};
  std::vector<MemberRecord> all(static_cast<size_t>(ranks_));
  MpiBootstrap bootstrap(context_comm_);
  Require(routine, bootstrap.AllGather(&mine, sizeof(mine), all.data()));
  // No rank leaves anything that was sent on the program's communicator.
  const int last = (rank_ + ranks_ - 1) % ranks_;
  if (all[static_cast<size_t>(last)].has_asked != 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    Require(routine, MpiStatus(MPI_Irecv(nullptr, 0, MPI_BYTE, last, TagOfProduct(), context_comm_,
                                         &request),
                               "MPI_Irecv"));
    Require(routine, MpiPoll(&request, "MPI_Irecv"));
  }
  if (has_asked_) Require(routine, MpiPoll(&question_, "MPI_Issend"));
  const Status same = CheckEqualSettings("a grid", all.size(), [&](size_t r) -> SettingValues {
    return {{"BRIGADE_PBLAS", Settings::kWhen[all[r].when]}};
  });
  if (!same.ok()) Fail(routine, same.message());
  is_row_by_row_ = ranks_ == place_.rows * place_.cols;
  for (size_t r = 0; r < all.size(); ++r) {
    courses_.push_back(all[r].course);
    is_row_by_row_ = is_row_by_row_ && all[r].row * place_.cols + all[r].col == static_cast<int>(r);
  }
  if (is_row_by_row_) outcome_ = MakeMultiplier();
}

Status Grid::MakeMultiplier() {
  MpiBootstrap bootstrap(context_comm_);
  BRIGADE_RETURN_IF_ERROR(AgreeOnOutcome(&bootstrap, runtime_->OpenEngine()));
  MultiplierOptions options;
  options.rows = place_.rows;
  options.cols = place_.cols;
  options.buffer_bytes = runtime_->settings().multiply_bytes;
  BRIGADE_RETURN_IF_ERROR(Multiplier::Create(runtime_->space(), &bootstrap, options, &multiplier_));
  multiplier_->LookWhileWaiting([this] { return LookAtOthers(); });
  if (HasOurBlacs()) return Status();
  return AgreeOnOutcome(&bootstrap, MpiStatus(MPI_Comm_dup(context_comm_, &comm_), "MPI_Comm_dup"));
}

void Grid::AwaitAll(const char* routine, MPI_Comm comm) {
  // A barrier that also checks whether all ranks have come to one and the same product.
  const int64_t course = *course_;
  const int64_t mine[] = {course, -course};
  int64_t least[] = {course, -course};
  MPI_Request request = MPI_REQUEST_NULL;
  Require(routine, MpiStatus(MPI_Iallreduce(mine, least, 2, MPI_INT64_T, MPI_MIN, comm, &request),
                             "a wait"));
  auto looked = Clock::now();
  for (;;) {
    int is_over = 0;
    Require(routine, MpiStatus(TestOwn(&request, &is_over, MPI_STATUS_IGNORE), "a wait"));
    if (is_over != 0) break;
    sched_yield();
    if (looks_ != nullptr) Require(routine, multiplier_->Progress());
    if (Clock::now() - looked < kLookInterval) continue;
    looked = Clock::now();
    Require(routine, LookAtOthers());
  }
  if (least[0] != -least[1]) {
    Require(routine,
            Differ("the ranks of a grid are in different products: they have come to " +
                   std::to_string(least[0] / 2) + " and " + std::to_string(-least[1] / 2)));
  }
}

Status Grid::LookAtOthers() {
  const std::chrono::duration<double> interval(runtime_->settings().engine.report_seconds);
  if (interval.count() > 0 && Clock::now() - reported_ >= interval) {
    reported_ = Clock::now();
    std::fprintf(stderr,
                 "brigade: process {%d,%d} of a grid waits for other ranks to call product number "
                 "%lld of the grid; the call still waits\n",
                 place_.row, place_.col, static_cast<long long>(product()));
  }
  if (multiplier_ == nullptr) return QueryNextRank();
  const int64_t mine = *course_;
  if (looks_ == nullptr) looks_ = std::make_unique<Look[]>(courses_.size());
  for (int r = 0; r < ranks_; ++r) {
    Look& look = looks_[static_cast<size_t>(r)];
    if (r == rank_) continue;
    if (look.over && look.course <= mine) {
      look.over = false;
      BRIGADE_RETURN_IF_ERROR(
          multiplier_->Read(r, courses_[static_cast<size_t>(r)], &look.course, &look.over));
    }
    if (!look.over || look.course <= mine) continue;
    // A rank may be past a product that all ranks have refused, before this rank has received that.
    if (look.course > mine + 1 && std::exchange(look.ahead_of, mine) != mine) continue;
    return look.course == kEnd
               ? Status(
                     StatusCode::kMismatch,
                     NameOf(r) + " has ended the grid, and does not call the product of this rank")
               : Differ(NameOf(r) +
                        " leaves to the PBLAS a product that this rank computes with Brigade");
  }
  return Status();
}

Status Grid::QueryNextRank() {
  const int next = (rank_ + 1) % ranks_;
  if (!has_asked_) {
    has_asked_ = true;
    BRIGADE_RETURN_IF_ERROR(
        MpiStatus(MPI_Issend(nullptr, 0, MPI_BYTE, next, TagOfProduct(), context_comm_, &question_),
                  "MPI_Issend"));
  }
  int is_matched = 0;
  BRIGADE_RETURN_IF_ERROR(
      MpiStatus(TestOwn(&question_, &is_matched, MPI_STATUS_IGNORE), "MPI_Test"));
  return is_matched == 0
             ? Status()
             : Differ(NameOf(next) +
                      " leaves to the PBLAS a product that this rank computes with Brigade");
}

Grid::~Grid() {
  // Other ranks may not have detected yet that it is broken, and still read it.
  if (multiplier_ != nullptr && multiplier_->is_broken()) (void)course_.release();
}

void Grid::End() {
  *course_ = kEnd;
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  // If it is broken, its failure has been reported.
  if (multiplier_ != nullptr) (void)multiplier_->Leave();
}

void Grid::Abandon() {
  *course_ = kEnd;
  (void)course_.release();  // other ranks may read it as long as this process lives
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  if (multiplier_ != nullptr) multiplier_->Abandon();
}

}  // namespace pblas
}  // namespace brigade
