// liburing, opened at its first use. Inline functions of <liburing.h> are called directly, except
// those that call the library, like io_uring_peek_cqe.

#ifndef BRIGADE_TRANSPORT_TCP_IO_URING_LIBRARY_H_
#define BRIGADE_TRANSPORT_TCP_IO_URING_LIBRARY_H_

#include <liburing.h>

#include "transport/host/optional_library.h"

namespace brigade {

struct UringLibrary : OptionalLibrary {
  UringLibrary() : OptionalLibrary({"liburing.so.2"}) {}

  BRIGADE_OPTIONAL_FUNCTION(__io_uring_get_cqe);
  BRIGADE_OPTIONAL_FUNCTION(io_uring_free_probe);
  BRIGADE_OPTIONAL_FUNCTION(io_uring_get_probe_ring);
  BRIGADE_OPTIONAL_FUNCTION(io_uring_queue_exit);
  BRIGADE_OPTIONAL_FUNCTION(io_uring_queue_init);
  BRIGADE_OPTIONAL_FUNCTION(io_uring_register_buffers);
  BRIGADE_OPTIONAL_FUNCTION(io_uring_submit);
  BRIGADE_OPTIONAL_FUNCTION(io_uring_unregister_buffers);
  BRIGADE_OPTIONAL_FUNCTION(io_uring_wait_cqe_timeout);
  // Not called: it came with 2.3, as did fields of a ring that the header reads and an older
  // library does not fill in.
  BRIGADE_OPTIONAL_FUNCTION(io_uring_get_events);
};

// Any thread.
inline const UringLibrary& Liburing() {
  static const auto* const library = new UringLibrary;  // rings may end after static objects
  return *library;
}

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_IO_URING_LIBRARY_H_
