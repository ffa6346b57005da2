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
  self->layouts_.erase(type);
  if (self->last_type_ == type) self->last_type_ = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
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
