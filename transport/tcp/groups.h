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
#include "transport/tcp/grants.h"
#include "transport/tcp/link.h"
#include "transport/tcp/stream.h"
#include "transport/tcp/wire/wire.h"

namespace brigade::tcp {

struct Group {
  GroupId id = -1;
  uint32_t wire_id = 0;
  std::vector<Link*> links;  // by rank; null: oneself
  std::unordered_map<const Link*, int> ranks;
  std::vector<std::unique_ptr<Stream>> streams;  // rank, then kind; made when first used
  size_t sends = 0;                              // that have not ended
  bool closed = false;
};

class Groups {
 public:
  // `grants` is told of streams that go.
  explicit Groups(Grants* grants) : grants_(grants) {}

  // Above all wire identities that this rank has seen.
  uint32_t next_wire_id() const { return next_wire_id_; }
  // Members may send to the group from here on.
  Group* Add(uint32_t wire_id, std::vector<Link*> links);
  // Every member knows the group; this rank may use it.
  GroupId Open(Group* group);
  // Instead of Open.
  void Discard(Group* group) { groups_.erase(group->wire_id); }
  // Nothing is received any more. The group stays until its sends have ended.
  void Close(Group* group) { group->closed = true; }
  // The caller's identity of the group is free.
  void Forget(GroupId id) { open_.erase(id); }

  // CHECKs that it is open.
  Group* Find(GroupId id);
  Stream* StreamOf(Group* group, ChannelKind kind, int peer);
  // As ConnectionOwner's.
  Status FindStream(Link* link, const Frame& frame, Stream** stream);
  // Those made so far.
  std::vector<Stream*> StreamsWith(const Link* link) const;
  // Where a receive waits for somebody with whom there never was a connection.
  std::vector<Link*> IdleLinksAwaited() const;

  void BeginSend(Group* group) { ++group->sends; }
  // A closed group goes with its last.
  void EndSend(Group* group);
  void EndSend(const Stream& stream) { EndSend(groups_.find(stream.wire_id)->second.get()); }

  // While one exists the group does not go.
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
  Grants* const grants_;
  GroupId next_id_ = 0;
  uint32_t next_wire_id_ = 0;
  std::unordered_map<uint32_t, std::unique_ptr<Group>> groups_;  // by identity on the wire
  std::unordered_map<GroupId, Group*> open_;
  Group* last_found_ = nullptr;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_GROUPS_H_
