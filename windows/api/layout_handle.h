// Types and layouts of the C interface.

#ifndef BRIGADE_WINDOWS_API_LAYOUT_HANDLE_H_
#define BRIGADE_WINDOWS_API_LAYOUT_HANDLE_H_

#include "membuf/element.h"
#include "membuf/status.h"
#include "windows/layout/typed_layout.h"

struct brigade_layout {
  brigade::TypedLayout layout;
};

namespace brigade {

// Converts a brigade_type. kInvalidArgument: windows have no such type.
Status ToElement(int type, Element* element);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_API_LAYOUT_HANDLE_H_
