// Multiplier: products of matrices that are spread over a grid of processes, block-cyclically as
// ScaLAPACK has them: C = alpha op(A) op(B) + beta C. The C++ face; <brigade/multiply.h> is the C
// one.
//
// Each rank computes its own part of C. It gets what it needs of A and B from those who have it,
// without their help, the next pieces while it multiplies; what it sees in memory it reads there.
//
// The order of summation, and so the result to the last bit, is a function of the shapes, the
// distributions, the grid and the buffer size, as far as that holds for the BLAS. The options of a
// call do not change it, nor does what arrives first, nor which ranks share a host. See panels.h.
//
// Source: SRUMMA, M. Krishnan and J. Nieplocha.

#ifndef BRIGADE_WINDOWS_MULTIPLY_MULTIPLY_H_
#define BRIGADE_WINDOWS_MULTIPLY_MULTIPLY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "windows/core/window.h"
#include "windows/message/window_space.h"
#include "windows/multiply/multiply_call.h"

namespace brigade {

struct CallRecord;
class ProductMemory;

// The window and the buffers with which a grid of ranks multiplies, made once. Each product then
// costs two short exchanges beside the work. One thread at a time uses it.
class Multiplier {
 public:
  // Collective over the members of `bootstrap`, options.rows * options.cols of them. `space` must
  // outlive it. kInvalidArgument, kMismatch, and what Window::Create says; the same on all ranks.
  static Status Create(WindowSpace* space, Bootstrap* bootstrap, const MultiplierOptions& options,
                       std::unique_ptr<Multiplier>* multiplier);
  // Local. Unless it was freed, left, abandoned or is broken, it is aborted on all ranks.
  ~Multiplier();
  Multiplier(const Multiplier&) = delete;
  Multiplier& operator=(const Multiplier&) = delete;
  // Collective. Nothing but the destructor may follow.
  Status Free();
  // The same without a wait; gives the buffers back. Until HasEnded() others may still read this
  // process' memory. Nothing but that, Abandon and the destructor may follow.
  Status Leave();
  // Looks, and does not wait: whether all ranks have left, or it is broken.
  bool HasEnded() { return window_->HasEnded(); }
  // At the end of a process: the destructor sends no message from here on.
  void Abandon() { window_->Abandon(); }

  int rank() const;
  int rows() const { return options_.rows; }
  int cols() const { return options_.cols; }

  // Collective. When it returns this rank's part of C is computed, and nobody reads its A and B any
  // more; meanwhile they must not change. Memory may be any that the process has.
  //
  // kInvalidArgument: an argument that is named, here or on another rank; kMismatch: ranks differ
  // in what must be equal; kUnavailable: the process has no BLAS; kOutOfMemory: no buffers. These
  // are on all ranks, and nothing happened. After any other failure the multiplier is broken, on
  // all ranks, and C is unspecified.
  Status Multiply(const MultiplyCall& call, const MultiplyOptions& options = MultiplyOptions(),
                  MultiplyStatistics* statistics = nullptr);
  // Whether it is broken, as far as this rank knows. After a kMismatch: false if the calls of ranks
  // differ, true if their messages do. After kOutOfMemory: true if a rank has had no memory left in
  // the middle of the call.
  bool is_broken() const { return !window_->failure().ok(); }
  // Takes the place of Multiply on a rank that cannot make the call, and ends it on all. REQUIRES:
  // `why` is one of the failures after which nothing happened.
  Status Refuse(const Status& why);

  // From here on Multiply calls `look` about once a second while it waits for ranks that have not
  // come to the product. It may call Read and Progress. Its failure breaks the multiplier.
  void LookWhileWaiting(Window::Look look) { look_ = std::move(look); }

  // Begins to read a number at an address of another rank, which need not call: *over when it is
  // here. Until then both must stay.
  Status Read(int rank, uint64_t address, int64_t* number, std::atomic<bool>* over);
  // Moves what is under way, or does until it is over.
  Status Progress() { return window_->Progress(); }
  Status WaitFor(const std::atomic<bool>& over) { return window_->WaitFor(over); }

 private:
  Multiplier(const MultiplierOptions& options, std::unique_ptr<Window> window);
  // Gathers the records of all ranks' calls, and checks them.
  Status Agree(const CallRecord& mine, std::vector<CallRecord>* all);

  const MultiplierOptions options_;
  std::unique_ptr<ProductMemory> memory_;  // goes last: what is on its way may still arrive
  std::unique_ptr<Window> window_;         // all memory of each process
  Window::Look look_;
  std::vector<const std::atomic<bool>*> reads_;  // that may be under way
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_MULTIPLY_H_
