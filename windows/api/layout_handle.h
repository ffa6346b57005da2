// What layouts are to users of C.

#ifndef BRIGADE_WINDOWS_API_LAYOUT_HANDLE_H_
#define BRIGADE_WINDOWS_API_LAYOUT_HANDLE_H_

#include "windows/layout/typed_layout.h"

struct brigade_layout {
  brigade::TypedLayout layout;
};

#endif  // BRIGADE_WINDOWS_API_LAYOUT_HANDLE_H_
