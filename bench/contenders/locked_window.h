// LockedWindow: a window of doubles that each rank has locked for operations on all ranks.

#ifndef BRIGADE_BENCH_CONTENDERS_LOCKED_WINDOW_H_
#define BRIGADE_BENCH_CONTENDERS_LOCKED_WINDOW_H_

#include <cstdint>
#include <memory>

#include "membuf/status.h"

namespace brigade::bench {

// An operation that can be waited for by itself.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual Status Wait() = 0;
};

class LockedWindow {
 public:
  virtual ~LockedWindow() = default;

  virtual double* memory() = 0;
  // `data` is there once `pending` was waited for, which it must be.
  virtual Status StartGet(double* data, int64_t count, int rank, int64_t displacement,
                          std::unique_ptr<Pending>* pending) = 0;
  virtual Status Add(const double* data, int64_t count, int rank, int64_t displacement) = 0;
  // `data` is the caller's again once `pending` was waited for, which it must be.
  virtual Status StartAdd(const double* data, int64_t count, int rank, int64_t displacement,
                          std::unique_ptr<Pending>* pending) = 0;
  // Of one double; complete when it returns.
  virtual Status FetchAndAdd(double value, double* before, int rank, int64_t displacement) = 0;
  // Whether StartFetchAndAdd is non-blocking, too.
  virtual bool fetches_ahead() const { return true; }
  virtual Status StartFetchAndAdd(double value, double* before, int rank, int64_t displacement,
                                  std::unique_ptr<Pending>* pending) = 0;
  virtual Status Flush(int rank) = 0;
  // Collective: operations of all ranks before it are visible to all ranks after it.
  virtual Status Barrier() = 0;
  // In virtual time, where data have no values, takes the time of so many operations.
  virtual bool TakesTimeOf(double /*operations*/) { return false; }
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_LOCKED_WINDOW_H_
