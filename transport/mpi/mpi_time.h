// The time that this process spends inside the library's own MPI calls, if it is counted. Any
// thread may call.

#ifndef BRIGADE_TRANSPORT_MPI_MPI_TIME_H_
#define BRIGADE_TRANSPORT_MPI_MPI_TIME_H_

#include <cstdint>

namespace brigade {

struct MpiTime {
  uint64_t calls = 0;
  uint64_t ns = 0;
};

// Starts counting, at the cost of two looks at the clock per call.
void CountMpiTime();
// Returns the counts of all threads.
MpiTime MpiTimeSoFar();

// One MPI call, for the life of this object. Costs a load if calls are not counted.
class MpiCall {
 public:
  MpiCall();
  ~MpiCall();
  MpiCall(const MpiCall&) = delete;
  MpiCall& operator=(const MpiCall&) = delete;

 private:
  uint64_t begin_ns_ = 0;  // 0: not counted
};

// Runs `call`, counts it, and returns its result.
template <typename Call>
auto InMpi(const Call& call) {
  const MpiCall counted;
  return call();
}

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_MPI_TIME_H_
