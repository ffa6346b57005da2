// Operations on bytes that a typed layout describes: copy, gather, scatter, accumulate.
//
// Each operation begins at the positions of its cursors, and advances them. `base` is the address
// of the first value. REQUIRES: that many bytes are left; sources and targets do not overlap.

#ifndef BRIGADE_WINDOWS_LAYOUT_LAYOUT_COPY_H_
#define BRIGADE_WINDOWS_LAYOUT_LAYOUT_COPY_H_

#include <cstddef>
#include <cstdint>

#include "membuf/element.h"
#include "windows/layout/layout_cursor.h"

namespace brigade {

// From a layout to packed bytes.
void Gather(LayoutCursor* from, const std::byte* base, int64_t bytes, std::byte* packed);
// From packed bytes to a layout.
void Scatter(const std::byte* packed, int64_t bytes, LayoutCursor* to, std::byte* base);
// From layout to layout, in one pass. They need not be alike.
void CopyLayout(LayoutCursor* from, const std::byte* from_base, int64_t bytes, LayoutCursor* to,
                std::byte* to_base);
// Combines packed elements into a layout. REQUIRES: whole elements, and IsDefined(op, element).
void AccumulateInto(CombineOp op, Element element, const std::byte* packed, int64_t bytes,
                    LayoutCursor* to, std::byte* base);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_LAYOUT_LAYOUT_COPY_H_
