// Groups: the groups of one endpoint with their streams, found by the caller's identity and by that
// on the wire. A closed group goes when its last send has ended.

#ifndef BRIGADE_TRANSPORT_TCP_GROUPS_H_
#define BRIGADE_TRANSPORT_TCP_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "membuf/status.h"
#include "transport/channel.h"
#include "transport/core/group_table.h"
#include "transport/core/wire_ids.h"
#include "transport/tcp/contact.h"
#include "transport/tcp/grants.h"
#include "transport/tcp/link/link.h"
#include "transport/tcp/link/stream.h"
#include "transport/tcp/wire/wire.h"

namespace brigade::tcp {

struct Group {
  GroupId id = -1;
  uint32_t wire_id = 0;
  std::vector<Link*> links;  // by rank; null: oneself
  std::unordered_map<const Link*, int> ranks;
  std::vector<std::unique_ptr<Stream>> streams;  // rank, then kind; made when first used
  size_t sends = 0;                              // that have not ended
  bool shares_processor = false;  // its ranks on this machine outnumber the processors
  bool closed = false;
};

class Groups {
 public:
  // `grants` is notified of destroyed streams.
  explicit Groups(Grants* grants) : grants_(grants) {}

  const WireIds& wire_ids() const { return wire_ids_; }
  // Makes the group that members with these contacts agree on, and lets them send to it. `links` as
  // Group's.
  Group* Add(const std::vector<Contact>& contacts, std::vector<Link*> links);
  // Undoes Add. REQUIRES: nothing has been sent.
  void Discard(Group* group) { Erase(group); }
  // Closes a group: nothing is received any more, and Find does not know it. It is destroyed once
  // its sends have ended.
  void Close(Group* group);

  // Returns the group. CHECKs that it is open.
  Group* Find(GroupId id) const { return &table_.At(id); }
  Stream* StreamOf(Group* group, ChannelKind kind, int peer);
  // As ConnectionOwner's.
  Status FindStream(Link* link, const Frame& frame, Stream** stream);
  // Finds the group of a frame and the rank of its sender there; null if the group has been closed.
  // kInternal as ConnectionOwner::FindStream.
  Status FindGroup(Link* link, const Frame& frame, Group** group, int* rank) const;
  // Returns the existing streams of a link.
  std::vector<Stream*> StreamsWith(const Link* link) const;
  // Returns the links without a connection on which a receive waits.
  std::vector<Link*> IdleLinksAwaited() const;

  void BeginSend(Group* group) { ++group->sends; }
  // Destroys a closed group after its last send.
  void EndSend(Group* group);
  void EndSend(const Stream& stream) { EndSend(by_wire_id_.find(stream.wire_id)->second); }

  // Keeps the group while it exists.
  class Pin {
   public:
    Pin(Groups* groups, Group* group) : groups_(groups), group_(group) { ++group->sends; }
    Pin(Pin&& other) noexcept
        : groups_(other.groups_), group_(std::exchange(other.group_, nullptr)) {}
    Pin& operator=(Pin&&) = delete;
    ~Pin() {
      if (group_ != nullptr) groups_->EndSend(group_);
    }

   private:
    Groups* const groups_;
    Group* group_;
  };
  std::vector<Pin> PinAll();

 private:
  void Erase(Group* group);

  Grants* const grants_;
  WireIds wire_ids_;
  GroupTable<Group> table_;
  std::unordered_map<uint32_t, Group*> by_wire_id_;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_GROUPS_H_
