#include "bench/contenders/direct_tree.h"

#include <cstring>

namespace brigade::bench {
namespace {

struct Flag : Completion {
  Flag() : Completion([](Completion* self) { static_cast<Flag*>(self)->done = true; }) {}
  bool done = false;
};

// Progresses until the completion has run.
Status Await(Endpoint* endpoint, const Flag& flag) {
  for (uint64_t idle = 0; !flag.done;) {
    if (endpoint->Progress()) {
      idle = 0;
    } else {
      endpoint->polling()->Pause(idle++);
    }
  }
  return flag.status;
}

}  // namespace

Status DirectTreeBroadcast::Create(Endpoint* endpoint, Bootstrap* bootstrap, size_t max_bytes,
                                   std::unique_ptr<DirectTreeBroadcast>* result) {
  std::unique_ptr<DirectTreeBroadcast> broadcast(new DirectTreeBroadcast);
  MemoryDomain* domain = endpoint->domain();
  BRIGADE_RETURN_IF_ERROR(RegisteredRegion::Create(domain, domain->PlacementOf(MemoryKind::kHost),
                                                   max_bytes, &broadcast->staging_));
  GroupId group;
  BRIGADE_RETURN_IF_ERROR(endpoint->OpenGroup(bootstrap, &group));
  broadcast->endpoint_ = endpoint;
  broadcast->channel_ = Channel{group, ChannelKind::kAll};
  broadcast->rank_ = bootstrap->rank();
  broadcast->ranks_ = bootstrap->size();
  *result = std::move(broadcast);
  return Status();
}

DirectTreeBroadcast::~DirectTreeBroadcast() {
  if (endpoint_ != nullptr) endpoint_->CloseGroup(channel_.group);
}

Status DirectTreeBroadcast::Run(int root, ByteSpan data) {
  const int relative = (rank_ - root + ranks_) % ranks_;
  int reach = 1;  // below which power of two this rank's children lie
  while (reach < ranks_ && (relative & reach) == 0) reach *= 2;

  const ByteSpan chunk{staging_.memory().data, data.bytes};
  ConstByteSpan message = chunk;
  Flag received;
  if (relative == 0) {
    std::memcpy(chunk.data, data.data, data.bytes);
  } else {
    const int parent = (rank_ - reach + ranks_) % ranks_;
    BRIGADE_RETURN_IF_ERROR(endpoint_->PostReceive(channel_, parent, chunk, &received));
    BRIGADE_RETURN_IF_ERROR(Await(endpoint_, received));
    message = ConstByteSpan(received.lease.data, received.lease.bytes);
  }

  constexpr int kMostChildren = 31;
  Flag sent[kMostChildren];
  int children = 0;
  for (int step = reach / 2; step >= 1; step /= 2) {
    if (relative + step >= ranks_) continue;
    Flag* completion = &sent[children++];
    Status status;
    do {
      status = endpoint_->PostSend(channel_, (rank_ + step) % ranks_, message, completion);
      if (status.code() == StatusCode::kNoResource) endpoint_->Progress();
    } while (status.code() == StatusCode::kNoResource);
    BRIGADE_RETURN_IF_ERROR(status);
  }
  if (relative != 0) std::memcpy(data.data, message.data, message.bytes);
  for (int i = 0; i < children; ++i) BRIGADE_RETURN_IF_ERROR(Await(endpoint_, sent[i]));
  if (relative != 0) endpoint_->ReleaseLease(received.lease);
  return Status();
}

}  // namespace brigade::bench
