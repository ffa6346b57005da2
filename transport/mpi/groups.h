// Groups: the groups of one endpoint, with their streams of MPI requests. A closed group is erased
// when its last send is complete.

#ifndef BRIGADE_TRANSPORT_MPI_GROUPS_H_
#define BRIGADE_TRANSPORT_MPI_GROUPS_H_

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "membuf/byte_span.h"
#include "transport/channel.h"
#include "transport/completion.h"
#include "transport/core/fifo.h"
#include "transport/core/group_table.h"
#include "transport/mpi/carriers.h"

namespace brigade::mpi {

// A send or a receive that is not complete.
struct Pending {
  MPI_Request request = MPI_REQUEST_NULL;
  Completion* completion = nullptr;
  // Receives:
  ByteSpan buffer{};
  std::byte* lease_data = nullptr;
  MPI_Datatype type = MPI_BYTE;   // until it is posted; else one element describes `buffer`
  std::byte* too_long = nullptr;  // the message, if it does not fit
};

struct Group;

// The sends to, or the receives from, one peer on one channel. They complete in the order of
// their posts, so only the first is tested: a long queue costs no more to poll than a short one.
// From the first receive with a short receive buffer on, receives are not posted to MPI, since they
// could take its message.
struct Stream {
  bool waits_for_probe() const { return unposted == pending.size(); }

  Group* group;
  ChannelKind kind;
  int peer;
  bool receives;
  size_t slot = 0;      // of the first in Requests, while there is one that is posted
  size_t unposted = 0;  // the last ones
  Fifo<Pending> pending{};
  // A message that MPI has delivered before its receive, for the next receive. None while there
  // are receives.
  std::optional<std::vector<std::byte>> early{};
};

struct Group : CarrierUse {
  Stream* StreamOf(ChannelKind kind, int peer, bool receives) {
    std::unique_ptr<Stream>& stream =
        streams[(size_t{2} * peer + receives) * kChannelKinds + static_cast<size_t>(kind)];
    if (stream == nullptr) stream = std::make_unique<Stream>(Stream{this, kind, peer, receives});
    return stream.get();
  }

  GroupId id = -1;
  int rank = 0;
  std::vector<std::unique_ptr<Stream>> streams;  // made when first used
  size_t sends = 0;                              // not over; they outlive the closing of the group
  bool closed = false;
};

// Their table, and the carriers that they use.
struct Groups : GroupTable<Group> {
  explicit Groups(int max_tag) : carriers(max_tag) {}

  // To be called when a group is closed, and when a send of a closed group is complete.
  void EraseIfDrained(Group* group) {
    if (!group->closed || group->sends > 0) return;
    carriers.Leave(group->carrier);
    Erase(group->id);
  }

  Carriers carriers;
};

}  // namespace brigade::mpi

#endif  // BRIGADE_TRANSPORT_MPI_GROUPS_H_
