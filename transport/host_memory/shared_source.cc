#include "transport/host_memory/shared_source.h"

#include "transport/host_memory/peer_mapping.h"
#include "transport/host_memory/shared_allocations.h"

namespace brigade {

SharedSource SharedSource::Of(const StridedLayout& layout, const std::byte* base) {
  SharedSource source;
  if (!AsStretches(layout, base, &source.memory)) return source;
  source.segment = SharedAllocations::Here().Find(base, ExtentOf(source.memory));
  if (source.segment != nullptr) {
    source.offset = static_cast<uint64_t>(base - source.segment->base());
  }
  return source;
}

}  // namespace brigade
