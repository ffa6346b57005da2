// Descriptors that this process may have.

#ifndef BRIGADE_TRANSPORT_HOST_DESCRIPTORS_H_
#define BRIGADE_TRANSPORT_HOST_DESCRIPTORS_H_

namespace brigade {

// Raises the limit to the highest that the system allows without rights: every peer takes some.
// Programs that use select() see no difference before they have a thousand.
void RaiseDescriptorLimit();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_DESCRIPTORS_H_
