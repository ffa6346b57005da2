// CallbackBootstrap: the members of a new group find each other by a function of the program, over
// a layer that the library does not know: another messaging library, a key-value store, a launcher.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_CALLBACK_BOOTSTRAP_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_CALLBACK_BOOTSTRAP_H_

#include <cstddef>
#include <memory>

#include "membuf/status.h"
#include "transport/bootstrap.h"

namespace brigade {

class CallbackBootstrap : public Bootstrap {
 public:
  // Gathers `bytes` bytes at `mine` of every rank, in rank order, in `all` (size * bytes), and
  // returns when it has: 0, or any other value for a failure. Collective over the group, with equal
  // `bytes` on all ranks. `context` is the pointer given to Create. Called on the thread that calls
  // the library. There is no callback for a barrier, since nothing needs one.
  using AllGatherFunction = int (*)(const void* mine, void* all, size_t bytes, void* context);

  // Local. kInvalidArgument: the function is null, `size` is below 1, or `rank` is not in
  // [0, size).
  static Status Create(int rank, int size, AllGatherFunction all_gather, void* context,
                       std::unique_ptr<Bootstrap>* bootstrap);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  // kInternal: the function has failed; the text has its value.
  Status AllGather(const void* mine, size_t bytes, void* all) override;

 private:
  CallbackBootstrap(int rank, int size, AllGatherFunction all_gather, void* context)
      : rank_(rank), size_(size), all_gather_(all_gather), context_(context) {}

  const int rank_;
  const int size_;
  const AllGatherFunction all_gather_;
  void* const context_;
  Status failure_;  // then the function is not called again: other ranks may be in that call
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_CALLBACK_BOOTSTRAP_H_
