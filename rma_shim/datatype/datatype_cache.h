// DatatypeCache: the layouts of datatypes, each found out once.

#ifndef BRIGADE_RMA_SHIM_DATATYPE_DATATYPE_CACHE_H_
#define BRIGADE_RMA_SHIM_DATATYPE_DATATYPE_CACHE_H_

#include <mpi.h>

#include <cstddef>
#include <unordered_map>

#include "membuf/status.h"
#include "windows/layout/typed_layout.h"

namespace brigade {
namespace rma {

// MPI tells it by an attribute when a datatype is freed, whose handle may then be another's.
class DatatypeCache {
 public:
  // REQUIRES: it lives as long as MPI does.
  DatatypeCache();
  DatatypeCache(const DatatypeCache&) = delete;
  DatatypeCache& operator=(const DatatypeCache&) = delete;

  // The layout stays until the datatype is freed. Failures as TranslateDatatype.
  Status Find(MPI_Datatype type, const TypedLayout** layout) {
    if (type == last_type_) return *layout = last_, Status();
    return FindAnew(type, layout);
  }
  // Datatypes it holds.
  size_t size() const { return layouts_.size(); }

 private:
  Status FindAnew(MPI_Datatype type, const TypedLayout** layout);
  static int OnFree(MPI_Datatype type, int keyval, void* attribute, void* cache);

  int keyval_ = MPI_KEYVAL_INVALID;
  std::unordered_map<MPI_Datatype, TypedLayout> layouts_;
  MPI_Datatype last_type_ = MPI_DATATYPE_NULL;
  const TypedLayout* last_ = nullptr;
};

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_DATATYPE_DATATYPE_CACHE_H_
