// How long a thread may have a processor before another's turn.

#ifndef BRIGADE_TRANSPORT_HOST_TIME_SLICE_H_
#define BRIGADE_TRANSPORT_HOST_TIME_SLICE_H_

namespace brigade {

// Asks for short turns of the calling thread: it then gets a processor soon after it wakes, though
// another computes there, and for as long altogether as before. Systems before Linux 6.12 have one
// length for all, and where it is refused nothing changes.
void AskForShortTimeSlices();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_TIME_SLICE_H_
