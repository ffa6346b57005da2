#include "bench/contenders/mpi_window.h"

#include <sched.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "transport/mpi/returned_errors.h"

namespace brigade::bench {
namespace {

class PendingRequest final : public Pending {
 public:
  explicit PendingRequest(double value = 0) : value_(value) {}
  MPI_Request* request() { return &request_; }
  const double* value() const { return &value_; }
  Status Wait() override {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    return Status();
  }

 private:
  const double value_;  // what it adds
  MPI_Request request_ = MPI_REQUEST_NULL;
};

// Failures of MPI end the job, as everywhere.
class MpiWindow final : public OneSided {
 public:
  MpiWindow(MPI_Comm comm, std::string name, int64_t doubles, bool is_shared)
      : comm_(comm), name_(std::move(name)), flags_(doubles) {
    MPI_Comm_group(comm, &group_);
    MPI_Comm_rank(comm, &rank_);
    int ranks;
    MPI_Comm_size(comm, &ranks);
    // Whole pages: of some other lengths Debian's MPICH 4.0 finds others' memory in the wrong
    // place.
    constexpr size_t kPage = 4096 / sizeof(double);
    const size_t all = (static_cast<size_t>(doubles + ranks) + kPage - 1) / kPage * kPage;
    if (!is_shared) private_.resize(all);
    notified_.resize(static_cast<size_t>(ranks));
    taken_.resize(static_cast<size_t>(ranks));
    const auto bytes = static_cast<MPI_Aint>(all * sizeof(double));
    const ReturnedErrors returned(comm);
    memory_ = private_.data();
    made_ = is_shared ? MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, comm, &memory_,
                                         &window_) == MPI_SUCCESS
                      : MPI_Win_create(memory_, bytes, sizeof(double), MPI_INFO_NULL, comm,
                                       &window_) == MPI_SUCCESS;
    if (made_ && is_shared) std::fill(memory_, memory_ + all, 0.0);
  }
  ~MpiWindow() override { MPI_Group_free(&group_); }

  bool made() const { return made_; }
  std::string name() const override { return name_; }
  double* memory() override { return memory_; }

  Status Put(const double* data, int64_t count, int rank, int64_t displacement) override {
    MPI_Put(data, static_cast<int>(count), MPI_DOUBLE, rank, displacement, static_cast<int>(count),
            MPI_DOUBLE, window_);
    return Status();
  }
  Status PutBlocks(const double* data, const BlockType& type, int64_t count, int rank,
                   int64_t displacement) override {
    MPI_Put(data, static_cast<int>(count), type.mpi(), rank, displacement, static_cast<int>(count),
            type.mpi(), window_);
    return Status();
  }
  Status Get(double* data, int64_t count, int rank, int64_t displacement) override {
    MPI_Get(data, static_cast<int>(count), MPI_DOUBLE, rank, displacement, static_cast<int>(count),
            MPI_DOUBLE, window_);
    return Status();
  }
  Status StartGet(double* data, int64_t count, int rank, int64_t displacement,
                  std::unique_ptr<Pending>* pending) override {
    auto made = std::make_unique<PendingRequest>();
    MPI_Rget(data, static_cast<int>(count), MPI_DOUBLE, rank, displacement, static_cast<int>(count),
             MPI_DOUBLE, window_, made->request());
    *pending = std::move(made);
    return Status();
  }
  Status Add(const double* data, int64_t count, int rank, int64_t displacement) override {
    MPI_Accumulate(data, static_cast<int>(count), MPI_DOUBLE, rank, displacement,
                   static_cast<int>(count), MPI_DOUBLE, MPI_SUM, window_);
    return Status();
  }
  Status StartAdd(const double* data, int64_t count, int rank, int64_t displacement,
                  std::unique_ptr<Pending>* pending) override {
    auto made = std::make_unique<PendingRequest>();
    MPI_Raccumulate(data, static_cast<int>(count), MPI_DOUBLE, rank, displacement,
                    static_cast<int>(count), MPI_DOUBLE, MPI_SUM, window_, made->request());
    *pending = std::move(made);
    return Status();
  }
  Status FetchAndAdd(double value, double* before, int rank, int64_t displacement) override {
    MPI_Fetch_and_op(&value, before, MPI_DOUBLE, rank, displacement, MPI_SUM, window_);
    MPI_Win_flush(rank, window_);
    return Status();
  }
  Status StartFetchAndAdd(double value, double* before, int rank, int64_t displacement,
                          std::unique_ptr<Pending>* pending) override {
    auto made = std::make_unique<PendingRequest>(value);
    MPI_Rget_accumulate(made->value(), 1, MPI_DOUBLE, before, 1, MPI_DOUBLE, rank, displacement, 1,
                        MPI_DOUBLE, MPI_SUM, window_, made->request());
    *pending = std::move(made);
    return Status();
  }

  Status Fence() override {
    MPI_Win_fence(0, window_);
    return Status();
  }
  Status Post(const std::vector<int>& origins) override {
    MPI_Group group = Of(origins);
    MPI_Win_post(group, 0, window_);
    MPI_Group_free(&group);
    return Status();
  }
  Status Start(const std::vector<int>& targets) override {
    MPI_Group group = Of(targets);
    MPI_Win_start(group, 0, window_);
    MPI_Group_free(&group);
    return Status();
  }
  Status Complete() override {
    MPI_Win_complete(window_);
    return Status();
  }
  Status Wait() override {
    MPI_Win_wait(window_);
    return Status();
  }
  Status Lock(int rank) override {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window_);
    return Status();
  }
  Status Unlock(int rank) override {
    MPI_Win_unlock(rank, window_);
    return Status();
  }
  Status LockAll() override {
    MPI_Win_lock_all(0, window_);
    return Status();
  }
  Status UnlockAll() override {
    MPI_Win_unlock_all(window_);
    return Status();
  }
  Status Flush(int rank) override {
    MPI_Win_flush(rank, window_);
    return Status();
  }
  // MPI has no such thing: a flag is put behind the data, once they have arrived. It counts.
  Status PutNotify(const double* data, int64_t count, int rank, int64_t displacement) override {
    BRIGADE_RETURN_IF_ERROR(Put(data, count, rank, displacement));
    BRIGADE_RETURN_IF_ERROR(Flush(rank));
    double* const flag = &notified_[static_cast<size_t>(rank)];
    *flag += 1;
    BRIGADE_RETURN_IF_ERROR(Put(flag, 1, rank, flags_ + rank_));
    return Flush(rank);
  }
  Status NotifyWait(int source) override {
    double* const taken = &taken_[static_cast<size_t>(source)];
    *taken += 1;
    const volatile double* const flag = memory_ + flags_ + source;
    constexpr int kLooksBeforeYield = 100;
    for (int looks = 0; *flag < *taken; ++looks) {
      int arrived;  // the call is for what may move in it
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &arrived, MPI_STATUS_IGNORE);
      MPI_Win_sync(window_);
      // Neither call yields, and the other rank may share this rank's processor.
      if (looks >= kLooksBeforeYield) sched_yield();
    }
    MPI_Win_sync(window_);
    return Status();
  }
  Status Barrier() override {
    MPI_Win_flush_all(window_);
    MPI_Win_sync(window_);
    MPI_Barrier(comm_);
    MPI_Win_sync(window_);
    return Status();
  }
  Status Free() override {
    MPI_Win_free(&window_);
    return Status();
  }

 private:
  MPI_Group Of(const std::vector<int>& ranks) const {
    MPI_Group group;
    MPI_Group_incl(group_, static_cast<int>(ranks.size()), ranks.data(), &group);
    return group;
  }

  const MPI_Comm comm_;
  const std::string name_;
  const int64_t flags_;  // where they lie, one per source
  int rank_ = 0;
  std::vector<double> notified_;  // by target
  std::vector<double> taken_;     // by source
  MPI_Group group_ = MPI_GROUP_NULL;
  std::vector<double> private_;
  double* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  bool made_ = false;
};

}  // namespace

std::unique_ptr<OneSided> MakeMpiWindow(MPI_Comm comm, const std::string& name, int64_t doubles,
                                        bool is_shared) {
  auto window = std::make_unique<MpiWindow>(comm, name, doubles, is_shared);
  int made = window->made() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_MIN, comm);
  if (made == 0) return nullptr;
  return window;
}

}  // namespace brigade::bench
