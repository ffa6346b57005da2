#include "rma_shim/datatype/datatype_cache.h"

#include <utility>

#include "rma_shim/datatype/translate.h"

namespace brigade {
namespace rma {

DatatypeCache::DatatypeCache() {
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, &DatatypeCache::OnFree, &keyval_, this);
}

int DatatypeCache::OnFree(MPI_Datatype type, int, void*, void* cache) {
  auto* const self = static_cast<DatatypeCache*>(cache);
  const std::lock_guard<std::mutex> lock(self->freeing_);
  self->freed_.push_back(type);
  self->any_freed_.store(true, std::memory_order_release);
  return MPI_SUCCESS;
}

// Whoever has the handle next got it behind that.
void DatatypeCache::ForgetFreed() {
  const std::lock_guard<std::mutex> lock(freeing_);
  for (const MPI_Datatype type : freed_) {
    known_.erase(type);
    if (last_type_ == type) last_ = nullptr;
  }
  freed_.clear();
  any_freed_.store(false, std::memory_order_relaxed);
}

Status DatatypeCache::FindAnew(MPI_Datatype type, const Known** known) {
  if (type == MPI_DATATYPE_NULL) {
    return {StatusCode::kInvalidArgument, "the datatype is MPI_DATATYPE_NULL"};
  }
  auto found = known_.find(type);
  if (found == known_.end()) {
    Known made;
    BRIGADE_RETURN_IF_ERROR(TranslateDatatype(type, &made.layout));
    made.is_predefined = IsPredefined(type);
    // Predefined ones are never freed.
    if (!made.is_predefined) MPI_Type_set_attr(type, keyval_, nullptr);
    found = known_.emplace(type, std::move(made)).first;
  }
  last_type_ = type;
  last_ = &found->second;
  *known = last_;
  return Status();
}

}  // namespace rma
}  // namespace brigade
