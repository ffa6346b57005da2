// OneSided: the interface of the subjects of one-sided communication.

#ifndef BRIGADE_BENCH_CONTENDERS_ONE_SIDED_H_
#define BRIGADE_BENCH_CONTENDERS_ONE_SIDED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/contenders/block_type.h"
#include "bench/contenders/locked_window.h"
#include "membuf/status.h"

namespace brigade::bench {

// Calls are those of MPI, chapter 11. The barrier, and all calls that start an operation, are
// within LockAll.
class OneSided : public LockedWindow {
 public:
  virtual std::string name() const = 0;
  // The memory of any rank, where every rank sees that of all; null elsewhere, on all ranks.
  virtual double* MemoryOf(int /*rank*/) { return nullptr; }

  virtual Status Put(const double* data, int64_t count, int rank, int64_t displacement) = 0;
  // Of values of a datatype, which is the same on both sides.
  virtual Status PutBlocks(const double* data, const BlockType& type, int64_t count, int rank,
                           int64_t displacement) = 0;
  virtual Status Get(double* data, int64_t count, int rank, int64_t displacement) = 0;

  virtual Status Fence() = 0;
  virtual Status Post(const std::vector<int>& origins) = 0;
  virtual Status Start(const std::vector<int>& targets) = 0;
  virtual Status Complete() = 0;
  virtual Status Wait() = 0;
  virtual Status Lock(int rank) = 0;
  virtual Status Unlock(int rank) = 0;
  virtual Status LockAll() = 0;
  virtual Status UnlockAll() = 0;
  // Within LockAll. A put, and behind it a notification, which NotifyWait takes at the target.
  // `data` stays untouched until then.
  virtual Status PutNotify(const double* data, int64_t count, int rank, int64_t displacement) = 0;
  virtual Status NotifyWait(int source) = 0;
  // Collective.
  virtual Status Free() = 0;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_ONE_SIDED_H_
