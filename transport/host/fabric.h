// Fabric: whether MPI would use TCP between hosts.
//
// No call of MPI tells. So this looks for devices that MPI could use instead, and for what MPI was
// told to use. When in doubt it says no: a faster fabric must not be lost.

#ifndef BRIGADE_TRANSPORT_HOST_FABRIC_H_
#define BRIGADE_TRANSPORT_HOST_FABRIC_H_

#include <string>
#include <vector>

namespace brigade {

// What there is to go by.
struct FabricFacts {
  bool is_open_mpi = true;
  // Open MPI's variables pml, btl and mtl, wherever they were set: a list of components to choose
  // from or, behind a '^', to leave out; empty: it is free.
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

// Device files that this process has open, except for those that are known to reach no other host:
// an MPI that has a fabric to use has opened it, whoever made it. `descriptors`: where the links
// to open files are.
std::vector<std::string> OpenDevices(const std::string& descriptors);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_FABRIC_H_
