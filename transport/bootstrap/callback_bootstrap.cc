#include "transport/bootstrap/callback_bootstrap.h"

#include <string>

#include "transport/bootstrap/rank_check.h"

namespace brigade {

Status CallbackBootstrap::Create(int rank, int size, AllGatherFunction all_gather, void* context,
                                 std::unique_ptr<Bootstrap>* bootstrap) {
  BRIGADE_RETURN_IF_ERROR(CheckRank(rank, size));
  if (all_gather == nullptr) {
    return Status(StatusCode::kInvalidArgument, "the allgather callback of a bootstrap is null");
  }
  bootstrap->reset(new CallbackBootstrap(rank, size, all_gather, context));
  return Status();
}

Status CallbackBootstrap::AllGather(const void* mine, size_t bytes, void* all) {
  if (!failure_.ok()) return failure_;
  const int value = all_gather_(mine, all, bytes, context_);
  if (value == 0) return Status();
  failure_ = {StatusCode::kInternal, "the allgather callback of the bootstrap returned " +
                                         std::to_string(value) + " on rank " +
                                         std::to_string(rank_) + " of " + std::to_string(size_) +
                                         ", for " + std::to_string(bytes) + " bytes per rank"};
  return failure_;
}

}  // namespace brigade
