// SimStreams: the posted segments of the ranks of a simulation, matched and sent on links.

#ifndef BRIGADE_TRANSPORT_SIM_SIM_STREAMS_H_
#define BRIGADE_TRANSPORT_SIM_SIM_STREAMS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "membuf/byte_span.h"
#include "transport/completion.h"
#include "transport/core/control_queue.h"
#include "transport/core/fifo.h"
#include "transport/endpoint.h"
#include "transport/machines/machine_description.h"
#include "transport/sim/event_queue.h"
#include "transport/sim/sim_network.h"

namespace brigade {

struct SimGroup;

// The segments from one member of a group to another on one channel: posted; on the link, one at a
// time; on their way or arrived; received. `receives` begins with the receive of the first of
// `segments`.
struct SimStream {
  struct Send {
    ConstByteSpan segment;
    int memory;  // of the machine, of `segment`
    SimTime posted;
    Completion* completion;
    bool joins_next = false;  // as SimNetwork::Message's
  };
  struct Receive {
    ByteSpan buffer;
    int memory;
    SimTime posted;
    Completion* completion;
    GroupId group;  // the id on its rank
    bool in_place;
  };
  struct Segment {
    size_t bytes;
    std::vector<std::byte> held;  // a copy, if it left without a receive buffer
    bool joined_next = false;
  };

  SimGroup* group = nullptr;
  bool control = false;  // its messages need no receives; `kept`: those that have not left
  std::deque<ControlMessage> kept;
  int from = 0;  // members
  int to = 0;
  int from_rank = 0;  // of the job
  int to_rank = 0;
  Fifo<Send> sends;  // the first may be on the link
  bool on_link = false;
  Fifo<Segment> segments;
  size_t arrived = 0;  // of `segments`
  Fifo<Receive> receives;
  // Keeps the group while messages of the stream are pending, even if members have closed it.
  std::shared_ptr<SimGroup> keep;
};

// An open group, shared by all its members.
struct SimGroup : std::enable_shared_from_this<SimGroup> {
  // `members`: ranks of the job; must outlive the group.
  SimGroup(const MachineDescription& machine, const std::vector<int>* members);

  SimStream* StreamOf(ChannelKind kind, int from, int to);
  // Returns the stream of control messages.
  SimStream* ControlTo(int from, int to);

  const std::vector<int>* const members;
  std::vector<int> hosts;  // of each member, numbered in the order of members
  int host_count = 0;
  std::vector<bool> closed;  // by each member
  std::vector<std::vector<SimStream*>> incoming;

 private:
  struct Hash {
    size_t operator()(uint64_t key) const {
      return static_cast<size_t>(key * 0x9E3779B97F4A7C15u >> 16);
    }
  };
  std::unordered_map<uint64_t, SimStream, Hash> streams_;
};

class SimStreams final : public SimNetwork::Client {
 public:
  // An ended operation, for the rank to run the callback of `completion`, whose status and lease
  // are set.
  struct Ended {
    Completion* completion;
    GroupId receive_group;  // kSend: it was a send
    SimTime overhead;       // of the processor, before the callback
    static constexpr GroupId kSend = -1;
  };
  using Tell = std::function<void(int rank, const Ended& ended)>;
  // Called when a control message has come, with whether the message that it joined follows.
  using TellControl =
      std::function<void(const SimStream& stream, ConstByteSpan message, bool joined_next)>;

  // `queue`, `bus_work` and `machine` must outlive the object. `carried_bytes`: the bytes of a
  // segment that are really copied.
  SimStreams(EventQueue* queue, BusWork* bus_work, const MachineDescription& machine, int ranks,
             size_t carried_bytes, Tell tell, TellControl tell_control);

  const Link& LinkOf(const SimStream& stream) const {
    return machine_.LinkBetween(machine_.HostOf(stream.from_rank), machine_.HostOf(stream.to_rank));
  }
  void Post(SimStream* stream, const SimStream::Send& send);
  void Post(SimStream* stream, const SimStream::Receive& receive);
  // Sends a control message, whose bytes lie in `memory`, at `posted`.
  void Post(SimStream* stream, const ControlMessage& message, int memory, SimTime posted,
            bool joins_next);
  // Closes the group on `member`: nothing lands there any more.
  void Close(SimGroup* group, int member);

  void OnLeft(uint64_t argument) override;
  void OnArrived(uint64_t argument) override;

 private:
  // Puts the next segment on the link, if it may go.
  void Advance(SimStream* stream);
  // Completes receives whose segments have come; drops segments to closed members.
  void Deliver(SimStream* stream);
  // Releases the stream's group if no message is pending.
  static void LetGoIfOver(SimStream* stream);
  void Land(const SimStream::Receive& receive, const std::byte* data, size_t bytes) const;

  EventQueue* const queue_;
  const MachineDescription& machine_;
  const size_t carried_bytes_;
  const Tell tell_;
  const TellControl tell_control_;
  SimNetwork network_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIM_SIM_STREAMS_H_
