// OneSided: the interface of the subjects of one-sided communication.

#ifndef BRIGADE_BENCH_CONTENDERS_ONE_SIDED_H_
#define BRIGADE_BENCH_CONTENDERS_ONE_SIDED_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/contenders/block_type.h"
#include "membuf/status.h"

namespace brigade::bench {

// An operation that can be waited for by itself.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual Status Wait() = 0;
};

// A window of doubles. Calls are those of MPI, chapter 11.
class OneSided {
 public:
  virtual ~OneSided() = default;

  virtual std::string name() const = 0;
  virtual double* memory() = 0;
  // The memory of any rank, where every rank sees that of all; null elsewhere, on all ranks.
  virtual double* MemoryOf(int /*rank*/) { return nullptr; }

  virtual Status Put(const double* data, int64_t count, int rank, int64_t displacement) = 0;
  // Of values of a datatype, which is the same on both sides.
  virtual Status PutBlocks(const double* data, const BlockType& type, int64_t count, int rank,
                           int64_t displacement) = 0;
  virtual Status Get(double* data, int64_t count, int rank, int64_t displacement) = 0;
  // Within LockAll. `data` is there once `pending` was waited for, which it must be.
  virtual Status StartGet(double* data, int64_t count, int rank, int64_t displacement,
                          std::unique_ptr<Pending>* pending) = 0;
  virtual Status Add(const double* data, int64_t count, int rank, int64_t displacement) = 0;
  // Within LockAll. `data` is the caller's again once `pending` was waited for, which it must be.
  virtual Status StartAdd(const double* data, int64_t count, int rank, int64_t displacement,
                          std::unique_ptr<Pending>* pending) = 0;
  // Of one double; complete when it returns.
  virtual Status FetchAndAdd(double value, double* before, int rank, int64_t displacement) = 0;
  // Starts a fetch-and-add within LockAll, as StartGet.
  virtual Status StartFetchAndAdd(double value, double* before, int rank, int64_t displacement,
                                  std::unique_ptr<Pending>* pending) = 0;

  virtual Status Fence() = 0;
  virtual Status Post(const std::vector<int>& origins) = 0;
  virtual Status Start(const std::vector<int>& targets) = 0;
  virtual Status Complete() = 0;
  virtual Status Wait() = 0;
  virtual Status Lock(int rank) = 0;
  virtual Status Unlock(int rank) = 0;
  virtual Status LockAll() = 0;
  virtual Status UnlockAll() = 0;
  virtual Status Flush(int rank) = 0;
  // Within LockAll. A put, and behind it a notification, which NotifyWait takes at the target.
  // `data` stays untouched until then.
  virtual Status PutNotify(const double* data, int64_t count, int rank, int64_t displacement) = 0;
  virtual Status NotifyWait(int source) = 0;
  // Collective, within LockAll: operations of all ranks before it are visible to all ranks after
  // it.
  virtual Status Barrier() = 0;
  // Collective.
  virtual Status Free() = 0;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_ONE_SIDED_H_
