// A trial of reads: how fast a host reads segments through io_uring, and by plain calls. The faster
// of the two depends on the host: io_uring returns to the program once for a segment of several
// parts, and each of its reads costs more.

#ifndef BRIGADE_TRANSPORT_TCP_IO_READ_TRIAL_H_
#define BRIGADE_TRANSPORT_TCP_IO_READ_TRIAL_H_

#include "membuf/status.h"

namespace brigade {

// Times of one segment, in us.
struct ReadTimes {
  float ring_us = 0;
  float plain_us = 0;
};

// Measures on a pair of sockets of this process, to which a thread writes: with the reader and the
// thread on one processor (`shares_processor`), or anywhere. Takes some milliseconds, 50 at most.
// kUnavailable: this host has no io_uring, the system refuses a descriptor or a thread, or the time
// is over. kOutOfMemory: no memory can be locked.
Status TryReads(bool shares_processor, ReadTimes* times);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_IO_READ_TRIAL_H_
