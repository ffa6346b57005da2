// Fabric: whether MPI would use TCP between hosts.
//
// No call of MPI returns this. The decision is based on devices that MPI could use instead, and on
// MPI's settings. In doubt it is no, to keep a faster fabric.

#ifndef BRIGADE_TRANSPORT_HOST_FABRIC_H_
#define BRIGADE_TRANSPORT_HOST_FABRIC_H_

#include <string>
#include <vector>

namespace brigade {

// The facts for the decision.
struct FabricFacts {
  bool is_open_mpi = true;
  // Open MPI's variables pml, btl and mtl, from any source: a list of components to choose from or,
  // after a '^', to exclude; empty: not set.
  std::string pml;
  std::string btl;
  std::string mtl;
  // Devices that MPI may use instead of TCP.
  std::vector<std::string> devices;
};

struct FabricVerdict {
  bool uses_tcp = false;
  std::string reason;
};

FabricVerdict JudgeFabric(const FabricFacts& facts);

// Devices with an active port: InfiniBand, RoCE, Omni-Path, EFA and Slingshot. `sysfs`: where it is
// mounted.
std::vector<std::string> ActiveDevices(const std::string& sysfs);

// Returns the device files that this process has open, except those known to reach no other host:
// an MPI that has a fabric to use has opened it, whichever vendor made it. `descriptors`: the
// folder of links to open files.
std::vector<std::string> OpenDevices(const std::string& descriptors);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_FABRIC_H_
