// BRIGADE_TEST_TWO_HOSTS=1: ranks with odd numbers simulate another host, in a network namespace of
// their own. Connections that MPI has made before stay.

#ifndef BRIGADE_TEST_SUPPORT_TWO_HOSTS_H_
#define BRIGADE_TEST_SUPPORT_TWO_HOSTS_H_

namespace brigade {

// Returns false on all ranks if it is requested and not permitted here. Collective over
// MPI_COMM_WORLD; before the first call of Brigade. If requested, initialises MPI unless it is
// initialised.
bool MoveToTwoHostsIfAsked();

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_TWO_HOSTS_H_
