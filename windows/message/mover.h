// Mover: moves data between memory that is in a layout and staging memory, where they are packed. A
// simulated processor takes its time for it first, and where it carries lengths only nothing is
// touched; the cursor is moved on all the same.

#ifndef BRIGADE_WINDOWS_MESSAGE_MOVER_H_
#define BRIGADE_WINDOWS_MESSAGE_MOVER_H_

#include <cstddef>
#include <cstdint>

#include "membuf/element.h"
#include "transport/simulated_processor.h"
#include "windows/layout/layout_cursor.h"

namespace brigade {

// As the functions of layout_copy.h.
class Mover {
 public:
  // `processor`: null for one that exists.
  explicit Mover(SimulatedProcessor* processor) : processor_(processor) {}

  void Gather(LayoutCursor* from, const std::byte* base, int64_t bytes, std::byte* packed) const;
  void Scatter(const std::byte* packed, int64_t bytes, LayoutCursor* to, std::byte* base) const;
  void AccumulateInto(CombineOp op, Element element, const std::byte* packed, int64_t bytes,
                      LayoutCursor* to, std::byte* base) const;

 private:
  SimulatedProcessor* const processor_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_MOVER_H_
