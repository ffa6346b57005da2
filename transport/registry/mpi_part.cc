#include "transport/registry/mpi_part.h"

#include <atomic>

#include "transport/family/part.h"

namespace brigade {
namespace {

std::atomic<const MpiPart*> provided{nullptr};

}  // namespace

void ProvideMpiPart(const MpiPart* part) { provided = part; }

Status FindMpiPart(const MpiPart** part) {
  *part = provided;
  if (*part == nullptr ? !MpiRuns() : !(*part)->IsRunning()) {
    *part = nullptr;
    return Status();
  }
  std::string why_not;
  if (*part == nullptr) why_not = OpenPart("mpi").why_not;
  *part = provided;
  return *part == nullptr ? Status(StatusCode::kUnavailable, why_not) : Status();
}

}  // namespace brigade
