#include "transport/tcp/groups.h"

#include <string>

#include "membuf/check.h"

namespace brigade::tcp {

Group* Groups::Add(const std::vector<Contact>& contacts, std::vector<Link*> links) {
  auto group = std::make_unique<Group>();
  group->wire_id = static_cast<uint32_t>(wire_ids_.Agree(contacts, &Contact::proposed_wire_id));
  group->links = std::move(links);
  for (size_t rank = 0; rank < group->links.size(); ++rank) {
    group->ranks.emplace(group->links[rank], static_cast<int>(rank));
  }
  group->streams.resize(group->links.size() * kChannelKinds);
  Group* const added = group.get();
  added->id = table_.Add(std::move(group));
  by_wire_id_.emplace(added->wire_id, added);
  return added;
}

void Groups::Close(Group* group) {
  group->closed = true;
  table_.Close(group->id);
}

void Groups::Erase(Group* group) {
  by_wire_id_.erase(group->wire_id);
  table_.Erase(group->id);
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

Status Groups::FindGroup(Link* link, const Frame& frame, Group** group, int* rank) const {
  *group = nullptr;
  const auto found = by_wire_id_.find(frame.group);
  if (found == by_wire_id_.end()) {
    if (wire_ids_.IsPast(frame.group)) return Status();  // closed
    return Status(StatusCode::kInternal,
                  "a frame for group " + std::to_string(frame.group) + ", which never was");
  }
  const auto sender = found->second->ranks.find(link);
  if (sender == found->second->ranks.end()) {
    return Status(StatusCode::kInternal, "a frame for a group that its sender is not in");
  }
  *group = found->second;
  *rank = sender->second;
  return Status();
}

Status Groups::FindStream(Link* link, const Frame& frame, Stream** stream) {
  *stream = nullptr;
  Group* group = nullptr;
  int rank = 0;
  BRIGADE_RETURN_IF_ERROR(FindGroup(link, frame, &group, &rank));
  const bool sends = frame.kind == FrameKind::kSegment || frame.kind == FrameKind::kWaiting;
  if (group == nullptr || (sends && group->closed)) return Status();
  *stream = StreamOf(group, static_cast<ChannelKind>(frame.channel), rank);
  return Status();
}

std::vector<Stream*> Groups::StreamsWith(const Link* link) const {
  std::vector<Stream*> streams;
  table_.ForEach([&](GroupId, const Group* group) {
    for (const auto& stream : group->streams) {
      if (stream != nullptr && stream->link == link) streams.push_back(stream.get());
    }
  });
  return streams;
}

std::vector<Link*> Groups::IdleLinksAwaited() const {
  std::vector<Link*> links;
  table_.ForEach([&](GroupId, const Group* group) {
    for (const auto& stream : group->streams) {
      if (stream != nullptr && stream->link != nullptr && stream->in.posted() &&
          stream->link->state() == Link::State::kIdle) {
        links.push_back(stream->link);
      }
    }
  });
  return links;
}

std::vector<Groups::Pin> Groups::PinAll() {
  std::vector<Pin> pins;
  table_.ForEach([&](GroupId, Group* group) { pins.emplace_back(this, group); });
  return pins;
}

void Groups::EndSend(Group* group) {
  --group->sends;
  if (!group->closed || group->sends > 0) return;
  for (const auto& stream : group->streams) {
    if (stream != nullptr) grants_->Remove(stream.get());
  }
  Erase(group);
}

}  // namespace brigade::tcp
