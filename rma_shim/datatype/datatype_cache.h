// DatatypeCache: the layouts of datatypes, each found out once.

#ifndef BRIGADE_RMA_SHIM_DATATYPE_DATATYPE_CACHE_H_
#define BRIGADE_RMA_SHIM_DATATYPE_DATATYPE_CACHE_H_

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "membuf/status.h"
#include "windows/layout/typed_layout.h"

namespace brigade {
namespace rma {

// A callback of an attribute removes a datatype that MPI frees, since MPI reuses its handle. Any
// thread may free one at any time; all else is done by one thread at a time.
class DatatypeCache {
 public:
  // REQUIRES: it lives as long as MPI does.
  DatatypeCache();
  DatatypeCache(const DatatypeCache&) = delete;
  DatatypeCache& operator=(const DatatypeCache&) = delete;

  struct Known {
    TypedLayout layout;
    bool is_predefined = false;
  };
  // It stays until the datatype is freed. Failures as TranslateDatatype.
  Status Find(MPI_Datatype type, const Known** known) {
    if (any_freed_.load(std::memory_order_acquire)) ForgetFreed();
    if (last_ != nullptr && type == last_type_) return *known = last_, Status();
    return FindAnew(type, known);
  }
  // Datatypes it holds.
  size_t size() {
    ForgetFreed();
    return known_.size();
  }

 private:
  void ForgetFreed();
  Status FindAnew(MPI_Datatype type, const Known** known);
  static int OnFree(MPI_Datatype type, int keyval, void* attribute, void* cache);

  int keyval_ = MPI_KEYVAL_INVALID;
  std::unordered_map<MPI_Datatype, Known> known_;
  MPI_Datatype last_type_ = MPI_DATATYPE_NULL;
  const Known* last_ = nullptr;  // null: there is none
  std::atomic<bool> any_freed_{false};
  std::mutex freeing_;
  std::vector<MPI_Datatype> freed_;
};

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_DATATYPE_DATATYPE_CACHE_H_
