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
    layouts_.erase(type);
    if (last_type_ == type) last_ = nullptr;
  }
  freed_.clear();
  any_freed_.store(false, std::memory_order_relaxed);
}

Status DatatypeCache::FindAnew(MPI_Datatype type, const TypedLayout** layout) {
  if (type == MPI_DATATYPE_NULL) {
    return {StatusCode::kInvalidArgument, "the datatype is MPI_DATATYPE_NULL"};
  }
  auto known = layouts_.find(type);
  if (known == layouts_.end()) {
    TypedLayout found;
    BRIGADE_RETURN_IF_ERROR(TranslateDatatype(type, &found));
    known = layouts_.emplace(type, std::move(found)).first;
    // Predefined ones are never freed.
    if (!IsPredefined(type)) MPI_Type_set_attr(type, keyval_, nullptr);
  }
  last_type_ = type;
  last_ = &known->second;
  *layout = last_;
  return Status();
}

}  // namespace rma
}  // namespace brigade
