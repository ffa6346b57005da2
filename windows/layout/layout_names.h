// The names under which ranks speak of datatypes: each is described to a rank once, and later only
// named.
//
// A name is an index and a generation. There are kNames indices; when all are in use, the one that
// was not used for the longest time is given to another datatype under its next generation. So a
// rank keeps at most kNames datatypes of another, and a name that is out of date is noticed.
//
// Source: the cache of derived datatypes of MPI/SX, section 4; the generation is ours.

#ifndef BRIGADE_WINDOWS_LAYOUT_LAYOUT_NAMES_H_
#define BRIGADE_WINDOWS_LAYOUT_LAYOUT_NAMES_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "membuf/status.h"
#include "windows/layout/typed_layout.h"

namespace brigade {

struct LayoutName {
  static constexpr uint16_t kNames = 256;

  uint16_t index = 0;
  uint32_t generation = 0;  // counts from 1
};

// At the rank whose datatypes they are.
class GivenLayoutNames {
 public:
  // The name of a layout. The same object, and copies of it, keep their name while that is in use.
  LayoutName NameOf(const TypedLayout& layout);
  // Whether `target` must be sent what the name stands for: the first time that the name is used.
  bool MustSend(const LayoutName& name, int target);

 private:
  struct Given {
    TypedLayout layout;
    uint32_t generation = 0;
    uint64_t used = 0;           // when it was last
    std::vector<uint32_t> sent;  // by target: the last generation
  };

  std::vector<Given> given_;
  uint64_t uses_ = 0;
};

// At the ranks that they are sent to.
class KnownLayouts {
 public:
  // Replaces what had the same index. kMismatch: no such index.
  Status Learn(int origin, const LayoutName& name, const TypedLayout& layout);
  // Null if the origin has not sent it, or has sent another since. Valid until it sends one more.
  const TypedLayout* Find(int origin, const LayoutName& name) const;

 private:
  struct Known {
    TypedLayout layout;
    uint32_t generation = 0;
  };

  std::unordered_map<int, std::vector<Known>> of_;  // by origin
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_LAYOUT_LAYOUT_NAMES_H_
