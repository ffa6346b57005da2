// Fuzz target: whatever one member of a window sends to another, frames and segments, that one
// writes only to its window and to what it has requested, answers by frames that make sense, and
// names the member if it breaks the window.
//
// The input is a byte that says what window it is, and steps: a byte that says what is done, and
// what is sent then.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/check.h"
#include "membuf/element.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/engine_options.h"
#include "patterns/engine/group_control.h"
#include "patterns/engine/group_state.h"
#include "transport/channel.h"
#include "transport/completion.h"
#include "transport/control.h"
#include "transport/endpoint.h"
#include "transport/inproc/inproc_transport.h"
#include "windows/layout/typed_layout.h"
#include "windows/memory/cache_line.h"
#include "windows/memory/member_page.h"
#include "windows/message/rma_frame.h"
#include "windows/message/rma_request.h"
#include "windows/message/served_window.h"
#include "windows/message/window_messages.h"
#include "windows/message/window_space.h"

namespace brigade {
namespace {

constexpr size_t kChunkBytes = 1024;
constexpr size_t kShortWindowBytes = 256;
constexpr size_t kLongWindowBytes = 3000;  // from which more than a segment is read unstaged
constexpr size_t kAskedBytes = 1500;       // in two segments
constexpr size_t kGuardBytes = 4096;
constexpr std::byte kGuard{0x5a};
constexpr uint8_t kFirstKind = GroupControl::kFirstKindOfOthers;

void Require(const Status& status) { BRIGADE_CHECK(status.ok()); }

class Input {
 public:
  Input(const uint8_t* data, size_t bytes)
      : at_(reinterpret_cast<const std::byte*>(data)), end_(at_ + bytes) {}
  bool is_over() const { return at_ == end_; }
  uint8_t Byte() { return is_over() ? 0 : std::to_integer<uint8_t>(*at_++); }
  // So many, or what is left.
  ConstByteSpan Bytes(size_t most) {
    const ConstByteSpan bytes(at_, std::min(most, static_cast<size_t>(end_ - at_)));
    at_ += bytes.bytes;
    return bytes;
  }

 private:
  const std::byte* at_;
  const std::byte* const end_;
};

// Memory that the window's owner may write to, with guards around it.
class Memory {
 public:
  explicit Memory(size_t window_bytes)
      : window_bytes_(window_bytes), bytes_(3 * kGuardBytes + window_bytes + kAskedBytes, kGuard) {
    std::fill_n(window(), window_bytes, std::byte{0});
    std::fill_n(asked(), kAskedBytes, std::byte{0});
  }
  std::byte* window() { return bytes_.data() + kGuardBytes; }
  std::byte* asked() { return window() + window_bytes_ + kGuardBytes; }
  void CheckGuards() {
    for (const std::byte* guard :
         {bytes_.data(), window() + window_bytes_, asked() + kAskedBytes}) {
      BRIGADE_CHECK_EQ(std::count(guard, guard + kGuardBytes, kGuard), ptrdiff_t{kGuardBytes});
    }
  }

 private:
  const size_t window_bytes_;
  std::vector<std::byte> bytes_;
};

// Rank 1: sends what the input says, and takes what comes back.
class Stranger final : public ControlHandler {
 public:
  Stranger(std::unique_ptr<Endpoint> endpoint, GroupId group)
      : endpoint_(std::move(endpoint)), group_(group) {
    endpoint_->SetControlHandler(group, this);
  }

  void SendFrame(ConstByteSpan bytes) {
    RmaHeader header;
    std::memcpy(&header, bytes.data, std::min(bytes.bytes, sizeof(header)));
    if (header.kind == RmaKind::kGet || header.kind == RmaKind::kFetch ||
        header.kind == RmaKind::kSwap) {
      constexpr int64_t kMuch = int64_t{1} << 40;
      asked_ += std::clamp<int64_t>(header.bytes, 0, kMuch);
    }
    Require(endpoint_->SendControl(group_, 0, bytes, Urgency::kUrgent));
  }
  // These bytes, and zeros behind them.
  void SendSegment(ChannelKind channel, ConstByteSpan head, size_t zeros) {
    Segment* const segment = Keep(head.bytes + zeros);
    std::copy_n(head.data, head.bytes, segment->bytes.begin());
    const ConstByteSpan all(segment->bytes.data(), segment->bytes.size());
    Require(endpoint_->PostSend({group_, channel}, 0, all, segment));
  }
  void Progress() { endpoint_->Progress(); }

 private:
  struct Segment : Completion {
    explicit Segment(size_t count) : Completion([](Completion*) {}), bytes(count) {}
    std::vector<std::byte> bytes;
  };

  Segment* Keep(size_t bytes) {
    segments_.emplace_back(bytes);
    return &segments_.back();
  }

  void OnControl(int from, ConstByteSpan message) override {
    BRIGADE_CHECK_EQ(from, 0);
    BRIGADE_CHECK_LT(size_t{0}, message.bytes);
    // It may say that the window is broken.
    if (std::to_integer<uint8_t>(message.data[0]) < kFirstKind) return;
    RmaFrame answer;
    BRIGADE_CHECK_LE(sizeof(RmaHeader), message.bytes);
    std::memcpy(&answer, message.data, message.bytes);
    BRIGADE_CHECK_EQ(answer.span().bytes, message.bytes);
    const RmaHeader& header = answer.header;
    if (header.kind != RmaKind::kReply) {
      BRIGADE_CHECK(header.kind == RmaKind::kFlushed || header.kind == RmaKind::kGranted ||
                    header.kind == RmaKind::kGet);  // what rank 0 requests itself
      return;
    }
    BRIGADE_CHECK_LT(0, header.bytes);
    answered_ += header.bytes;
    BRIGADE_CHECK_LE(answered_, asked_);
    if (header.inlined > 0) {
      BRIGADE_CHECK_EQ(int64_t{header.inlined}, header.bytes);
      return;
    }
    Segment* const receive_buffer = Keep(static_cast<size_t>(header.bytes));
    Require(endpoint_->PostReceive({group_, kReplyChannel}, 0,
                                   {receive_buffer->bytes.data(), receive_buffer->bytes.size()},
                                   receive_buffer));
  }

  std::deque<Segment> segments_;  // which the endpoint may still have
  const std::unique_ptr<Endpoint> endpoint_;
  const GroupId group_;
  int64_t asked_ = 0;
  int64_t answered_ = 0;
};

std::unique_ptr<Engine> MakeEngine(Endpoint* endpoint) {
  EngineOptions options;
  options.chunk_bytes = kChunkBytes;
  options.staging_bytes = 32 * kChunkBytes;
  std::unique_ptr<Engine> engine;
  Require(Engine::Create(endpoint, options, &engine));
  return engine;
}

void OpenGroup(InprocWorld* world, Endpoint* endpoint, int rank, GroupId* group) {
  Require(endpoint->OpenGroup(world->MakeBootstrap(rank).get(), group));
}

// Rank 0, with a window.
class Owner {
 public:
  // Takes a group of its endpoint's.
  Owner(Endpoint* endpoint, GroupId group, bool is_checked, size_t window_bytes)
      : memory_(window_bytes),
        engine_(MakeEngine(endpoint)),
        state_(new GroupState),
        page_(PageLines()) {
    state_->id = group;
    state_->cols = 2;
    state_->capabilities = &endpoint->CapabilitiesOf(group);
    engine_->ListenTo(state_.get());
    Require(WindowSpace::Create(engine_.get(), &space_));
    served_.memory = memory_.window();
    served_.bytes = static_cast<int64_t>(window_bytes);
    served_.page = MemberPage(page_.front().bytes, 2);
    if (is_checked) served_.checked.emplace(0, 0);
    for (auto* const counts :
         {&served_.posted_by, &served_.completed_by, &served_.fenced_by, &served_.granted_by}) {
      counts->resize(2);
    }
    served_.flushed_by.resize(2);
    const Engine::ProgressGuard guard(engine_.get());
    messages_ = std::make_unique<WindowMessages>(space_.get(), state_.get(), &served_);
    const TypedLayout& byte = TypedLayout::One(Element::kByte);
    RmaRequest get;
    get.kind = RmaKind::kGet;
    get.rank = 1;
    get.target = {nullptr, &byte, kAskedBytes};
    get.receive = {memory_.asked(), &byte, kAskedBytes};
    Require(messages_->Send(get));
  }
  // As if its window were destroyed. REQUIRES: the others are gone.
  ~Owner() {
    const Status gone(StatusCode::kPeerLost, "the end");
    {
      const Engine::ProgressGuard guard(engine_.get());
      engine_->BreakGroup(state_.get(), gone, {0, gone.code(), {}, 0, gone.message()});
      messages_.reset();
    }
    engine_->RemoveGroup(std::move(state_));
    engine_->Progress();
  }

  void EndFence() {
    const Engine::ProgressGuard guard(engine_.get());
    messages_->EndFence();
  }
  void Progress() { engine_->Progress(); }
  void Check() {
    memory_.CheckGuards();
    const Status& failure = state_->failure;
    BRIGADE_CHECK(failure.ok() || failure.message().find("rank 1") != std::string::npos);
  }

 private:
  struct alignas(kCacheLineBytes) Line {
    std::byte bytes[kCacheLineBytes];
  };
  static std::vector<Line> PageLines() {
    return std::vector<Line>(MemberPage::BytesFor(2) / sizeof(Line) + 1);
  }

  Memory memory_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<WindowSpace> space_;
  std::unique_ptr<GroupState> state_;
  std::vector<Line> page_;
  ServedWindow served_;
  std::unique_ptr<WindowMessages> messages_;
};

void Play(Input input) {
  const uint8_t how = input.Byte();
  InprocOptions options;
  options.lands_in_place = (how & 1) == 0;
  options.sends_in_place = (how & 4) != 0;
  InprocWorld world(2, options);
  const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(0);
  std::unique_ptr<Endpoint> other = world.CreateEndpoint(1);
  GroupId group = 0;
  GroupId others = 0;
  std::thread opening([&] { OpenGroup(&world, other.get(), 1, &others); });
  OpenGroup(&world, endpoint.get(), 0, &group);
  opening.join();

  Owner owner(endpoint.get(), group, /*is_checked=*/(how & 2) != 0,
              options.sends_in_place ? kLongWindowBytes : kShortWindowBytes);
  Stranger stranger(std::move(other), others);
  while (!input.is_over()) {
    const uint8_t step = input.Byte();
    switch (step % 4) {
      case 0: {
        std::byte frame[kMostControlBytes] = {};
        const ConstByteSpan bytes = input.Bytes(std::min<size_t>(input.Byte(), sizeof(frame)));
        std::copy_n(bytes.data, bytes.bytes, frame);
        // Frames that announce a broken group are read elsewhere.
        if (std::to_integer<uint8_t>(frame[0]) < kFirstKind) frame[0] |= std::byte{kFirstKind};
        stranger.SendFrame({frame, std::max<size_t>(1, bytes.bytes)});
        break;
      }
      case 1:
      case 2: {
        const ConstByteSpan head = input.Bytes(input.Byte());
        const size_t zeros = 1 + 5 * size_t{input.Byte()};
        stranger.SendSegment(step % 4 == 1 ? kRequestChannel : kReplyChannel, head, zeros);
        break;
      }
      default:
        owner.EndFence();
    }
    if (step % 8 < 4) owner.Progress();
  }
  for (int i = 0; i < 10; ++i) {
    owner.Progress();
    stranger.Progress();
  }
  owner.Check();
}

}  // namespace
}  // namespace brigade

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  brigade::Play(brigade::Input(data, bytes));
  return 0;
}
