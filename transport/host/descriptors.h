// Descriptors that this process may have.

#ifndef BRIGADE_TRANSPORT_HOST_DESCRIPTORS_H_
#define BRIGADE_TRANSPORT_HOST_DESCRIPTORS_H_

#include <sys/resource.h>

namespace brigade {

// The hard limit of most systems, systemd's default. Where it is 10^9, as in some containers,
// programs that close all possible descriptors, as many do that start others, would take minutes.
inline constexpr rlim_t kEnoughDescriptors = rlim_t{1} << 19;

// Raises the limit to kEnoughDescriptors, or to the highest that the system allows without rights:
// every peer takes some. Programs that use select() see no difference before they have a thousand.
void RaiseDescriptorLimit();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_DESCRIPTORS_H_
