// The handle of a window, and how an engine comes by what windows need.

#ifndef BRIGADE_WINDOWS_API_WINDOW_HANDLE_H_
#define BRIGADE_WINDOWS_API_WINDOW_HANDLE_H_

#include <atomic>
#include <functional>
#include <memory>

#include "brigade/window.h"
#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "windows/core/window.h"
#include "windows/message/window_space.h"

struct brigade_window_request {
  brigade_window* window;
  std::atomic<bool> over{false};
};

struct brigade_window {
  int requests = 0;
  // The failure that broke the window, once a call has returned it: an operation on memory that
  // this rank maps does not look for failures.
  brigade::Status failure;
  std::unique_ptr<brigade::Window> window;
};

namespace brigade {

// Makes a window, or what needs one, of the ranks of a group: calls `make` with what all windows of
// the engine share, and with a bootstrap of the ranks. Collective over the group.
Status MakeInSpace(brigade_group* group,
                   const std::function<Status(WindowSpace*, Bootstrap*)>& make);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_API_WINDOW_HANDLE_H_
