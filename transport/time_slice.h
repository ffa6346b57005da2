// How long the scheduler lets a thread compute before the threads that wait for its processor.

#ifndef BRIGADE_TRANSPORT_TIME_SLICE_H_
#define BRIGADE_TRANSPORT_TIME_SLICE_H_

#include "membuf/status.h"

namespace brigade {

// Shortens the time slices of all threads of the process, and of the threads and processes that
// they start afterwards. Their shares of the processor stay: shorter slices come more often. A
// message then wakes a thread sooner, and a yield gives up less of its share. The threads of a BLAS
// are among them: a rank that waits for them would run before any thread with longer slices.
// Threads keep their slices if their policy is not SCHED_OTHER. Does nothing if the calling thread
// has such a policy or slices that are as short already, before Linux 6.12, and with
// BRIGADE_TIME_SLICES=system. Without /proc it shortens those of the calling thread only.
void ShortenTimeSlices();

// Sets whether BRIGADE_TIME_SLICES has them shortened. kInvalidArgument: a bad value.
Status ReadTimeSlices(bool* shortens);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TIME_SLICE_H_
