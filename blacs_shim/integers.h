// Integers: a caller's integer, or an array of them, of 32 bits (LP64) or of 64 (ILP64). The
// interfaces know the width; functions below them take values of both as int64_t, and return values
// that fit into both.

#ifndef BRIGADE_BLACS_SHIM_INTEGERS_H_
#define BRIGADE_BLACS_SHIM_INTEGERS_H_

#include <cstddef>
#include <cstdint>

namespace brigade {
namespace blacs {

class Integers {
 public:
  // Arrays that are only read are const to their callers and stay unwritten.
  Integers(const int* at)  // NOLINT: any pointer of a caller's is one
      : at_(const_cast<int*>(at)) {}
  Integers(const int64_t* at)  // NOLINT
      : at_(const_cast<int64_t*>(at)), wide_(true) {}

  bool null() const { return at_ == nullptr; }
  bool wide() const { return wide_; }
  int64_t Get(size_t i = 0) const {
    return wide_ ? static_cast<int64_t*>(at_)[i] : static_cast<int*>(at_)[i];
  }
  void Set(int value) const { Set(0, value); }
  void Set(size_t i, int value) const {
    if (wide_) {
      static_cast<int64_t*>(at_)[i] = value;
    } else {
      static_cast<int*>(at_)[i] = value;
    }
  }

 private:
  void* at_;
  bool wide_ = false;
};

inline bool FitsInt(int64_t value) { return value == static_cast<int>(value); }

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_INTEGERS_H_
