// Length of the time slices of a thread.

#ifndef BRIGADE_TRANSPORT_HOST_TIME_SLICE_H_
#define BRIGADE_TRANSPORT_HOST_TIME_SLICE_H_

namespace brigade {

// Requests short time slices for the calling thread: it gets a processor soon after it wakes, even
// if another thread computes there, without losing processor time. No effect before Linux 6.12,
// which has one length for all, or if the system refuses.
void RequestShortTimeSlices();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_TIME_SLICE_H_
