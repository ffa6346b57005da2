// The time that this process spends inside those calls of MPI that are our own, where somebody
// wants to know it. Any thread may call.

#ifndef BRIGADE_TRANSPORT_MPI_MPI_TIME_H_
#define BRIGADE_TRANSPORT_MPI_MPI_TIME_H_

#include <cstdint>

namespace brigade {

struct MpiTime {
  uint64_t calls = 0;
  uint64_t ns = 0;
};

// Counts from now on, which takes two looks at the clock per call.
void CountMpiTime();
// What was counted; of all threads.
MpiTime MpiTimeSoFar();

// One call, for as long as this lives. Where nobody counts it costs a load.
class MpiCall {
 public:
  MpiCall();
  ~MpiCall();
  MpiCall(const MpiCall&) = delete;
  MpiCall& operator=(const MpiCall&) = delete;

 private:
  uint64_t begin_ns_ = 0;  // 0: not counted
};

// What `call` returns, counted.
template <typename Call>
auto InMpi(const Call& call) {
  const MpiCall counted;
  return call();
}

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_MPI_TIME_H_
