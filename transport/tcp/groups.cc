#include "transport/tcp/groups.h"

#include <string>

#include "membuf/check.h"

namespace brigade::tcp {

Group* Groups::Add(uint32_t wire_id, std::vector<Link*> links) {
  auto group = std::make_unique<Group>();
  group->id = next_id_;
  group->wire_id = wire_id;
  group->links = std::move(links);
  for (size_t rank = 0; rank < group->links.size(); ++rank) {
    group->ranks.emplace(group->links[rank], static_cast<int>(rank));
  }
  group->streams.resize(group->links.size() * kChannelKinds);
  next_wire_id_ = wire_id + 1;
  return groups_.emplace(wire_id, std::move(group)).first->second.get();
}

GroupId Groups::Open(Group* group) {
  open_.emplace(group->id, group);
  return next_id_++;
}

Group* Groups::Find(GroupId id) {
  if (last_found_ == nullptr || last_found_->id != id || last_found_->closed) {
    const auto group = open_.find(id);
    BRIGADE_CHECK(group != open_.end());
    last_found_ = group->second;
  }
  return last_found_;
}

Stream* Groups::StreamOf(Group* group, ChannelKind kind, int peer) {
  BRIGADE_CHECK_LT(static_cast<size_t>(peer), group->links.size());
  std::unique_ptr<Stream>& stream =
      group->streams[static_cast<size_t>(peer) * kChannelKinds + static_cast<size_t>(kind)];
  if (stream == nullptr) {
    stream = std::make_unique<Stream>();
    stream->link = group->links[static_cast<size_t>(peer)];
    stream->wire_id = group->wire_id;
    stream->group = group->id;
    stream->peer = peer;
    stream->kind = kind;
  }
  return stream.get();
}

Status Groups::FindStream(Link* link, const Frame& frame, Stream** stream) {
  *stream = nullptr;
  const auto found = groups_.find(frame.group);
  if (found == groups_.end()) {
    if (frame.group < next_wire_id_) return Status();  // closed
    return Status(StatusCode::kInternal,
                  "a frame for group " + std::to_string(frame.group) + ", which never was");
  }
  Group* const group = found->second.get();
  const auto rank = group->ranks.find(link);
  if (rank == group->ranks.end()) {
    return Status(StatusCode::kInternal, "a frame for a group that its sender is not in");
  }
  const bool sends = frame.kind == FrameKind::kPiece || frame.kind == FrameKind::kWaiting;
  if (sends && group->closed) return Status();
  *stream = StreamOf(group, static_cast<ChannelKind>(frame.channel), rank->second);
  return Status();
}

std::vector<Stream*> Groups::StreamsWith(const Link* link) const {
  std::vector<Stream*> streams;
  for (const auto& [wire_id, group] : groups_) {
    for (const auto& stream : group->streams) {
      if (stream != nullptr && stream->link == link) streams.push_back(stream.get());
    }
  }
  return streams;
}

std::vector<Link*> Groups::IdleLinksAwaited() const {
  std::vector<Link*> links;
  for (const auto& [wire_id, group] : groups_) {
    for (const auto& stream : group->streams) {
      if (stream != nullptr && stream->link != nullptr && stream->in.posted() &&
          stream->link->state() == Link::State::kIdle) {
        links.push_back(stream->link);
      }
    }
  }
  return links;
}

std::vector<Groups::Pin> Groups::PinAll() {
  std::vector<Pin> pins;
  for (const auto& [wire_id, group] : groups_) pins.emplace_back(this, group.get());
  return pins;
}

void Groups::EndSend(Group* group) {
  --group->sends;
  if (!group->closed || group->sends > 0) return;
  for (const auto& stream : group->streams) {
    if (stream != nullptr) grants_->Remove(stream.get());
  }
  if (last_found_ == group) last_found_ = nullptr;
  groups_.erase(group->wire_id);
}

}  // namespace brigade::tcp
