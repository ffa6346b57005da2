// How long the scheduler lets a thread compute before the threads that wait for its processor.

#ifndef BRIGADE_TRANSPORT_TIME_SLICE_H_
#define BRIGADE_TRANSPORT_TIME_SLICE_H_

namespace brigade {

// Shortens the time slices of the calling thread, and of the threads and processes that it starts
// afterwards. Its share of the processor stays: shorter slices come more often. A message then
// wakes the thread sooner, and a yield gives up less of its share. Does nothing if the slices are
// as short already, for real-time and batch threads, and before Linux 6.12.
void ShortenTimeSlice();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TIME_SLICE_H_
