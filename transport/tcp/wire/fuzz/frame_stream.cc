// Fuzz target: FrameReader, with a stream in any cuts, calls its sink with the results of a plain
// loop over the stream, and writes nowhere else.
//
// The input is a byte with the number of cuts, three bytes for each cut, and the stream. A cut has
// the number of bytes that come at once (two bytes) and the next action: none, or a Redirect before
// or after the call of Targets.

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/check.h"
#include "membuf/status.h"
#include "transport/tcp/wire/frame_reader.h"
#include "transport/tcp/wire/wire.h"

namespace brigade {
namespace {

constexpr size_t kMaxSegmentBytes = 10000;

// How a sink behaves is a function of the frame, so that the plain loop knows it.
size_t PlaceBytes(const Frame& frame) { return frame.count % (kMaxSegmentBytes + 10); }
Status BeginStatus(const Frame& frame) {
  return frame.group == 101 ? Status(StatusCode::kMismatch, "no segment") : Status();
}
Status EndStatus(const Frame& frame) {
  return frame.group == 102 ? Status(StatusCode::kMismatch, "no end") : Status();
}

std::string Text(const char* what, const Frame& frame) {
  return what + std::to_string(static_cast<int>(frame.kind)) + " " + std::to_string(frame.group) +
         " " + std::to_string(frame.bytes) + " " + std::to_string(frame.count) + " " +
         std::to_string(frame.channel);
}

class NotingSink : public FrameSink {
 public:
  Status BeginSegment(const Frame& frame, ByteSpan* where) override {
    BRIGADE_CHECK(where->data == nullptr && where->bytes == 0);
    events.push_back(Text("begin ", frame));
    // An allocation of exactly this length, so that the sanitizer detects accesses beyond it.
    place_.reset(new std::byte[PlaceBytes(frame)]());
    *where = {place_.get(), PlaceBytes(frame)};
    return BeginStatus(frame);
  }
  Status EndSegment(const Frame& frame) override {
    events.push_back(Text("end ", frame));
    const size_t bytes = std::min<size_t>(frame.bytes, PlaceBytes(frame));
    landed.emplace_back(place_.get(), place_.get() + bytes);
    place_.reset();
    return EndStatus(frame);
  }
  Status Control(const Frame& frame, ConstByteSpan message) override {
    BRIGADE_CHECK_EQ(message.bytes, size_t{frame.bytes});
    events.push_back(Text("message ", frame) +
                     std::string(reinterpret_cast<const char*>(message.data), message.bytes));
    return EndStatus(frame);
  }
  Status Notice(const Frame& frame) override {
    events.push_back(Text("control ", frame));
    return BeginStatus(frame);
  }

  std::vector<std::string> events;
  std::vector<std::vector<std::byte>> landed;

 private:
  std::unique_ptr<std::byte[]> place_;
};

// The expected actions of a reader of the stream.
struct Expected {
  std::vector<std::string> events;
  // Where in the stream the payload of each whole segment begins.
  std::vector<size_t> payloads;
  Status status;
  bool within_frame = false;
};

Expected ReadPlainly(const std::byte* stream, size_t stream_bytes) {
  Expected expected;
  bool ended = false;
  for (size_t at = 0; at < stream_bytes;) {
    if (ended) {
      expected.status = Status(StatusCode::kInternal, "");
      return expected;
    }
    expected.within_frame = stream_bytes - at < kFrameBytes;
    if (expected.within_frame) return expected;
    Frame frame;
    expected.status = ReadFrame(stream + at, kMaxSegmentBytes, &frame);
    if (!expected.status.ok()) return expected;
    at += kFrameBytes;
    if (frame.kind == FrameKind::kControl) {
      expected.within_frame = stream_bytes - at < frame.bytes;
      if (expected.within_frame) return expected;
      expected.events.push_back(
          Text("message ", frame) +
          std::string(reinterpret_cast<const char*>(stream + at), frame.bytes));
      expected.status = EndStatus(frame);
      if (!expected.status.ok()) return expected;
      at += frame.bytes;
      continue;
    }
    const bool segment = frame.kind == FrameKind::kSegment;
    ended = frame.kind == FrameKind::kShutdown;
    expected.events.push_back(Text(segment ? "begin " : "control ", frame));
    expected.status = BeginStatus(frame);
    if (!expected.status.ok()) return expected;
    if (!segment) continue;
    expected.within_frame = stream_bytes - at < frame.bytes;
    if (expected.within_frame) return expected;
    expected.events.push_back(Text("end ", frame));
    expected.payloads.push_back(at);
    expected.status = EndStatus(frame);
    if (!expected.status.ok()) return expected;
    at += frame.bytes;
  }
  return expected;
}

// A place was withdrawn after `at` bytes of the stream; until `asked_for` it may still have been
// written to.
struct Redirection {
  size_t at;
  size_t asked_for;
};

void CheckStream(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return;
  const size_t cuts = std::min<size_t>(data[0], (bytes - 1) / 3);
  const uint8_t* cut = data + 1;
  const uint8_t* const last_cut = cut + 3 * cuts;
  const auto* const stream = reinterpret_cast<const std::byte*>(last_cut);
  const size_t stream_bytes = bytes - 1 - 3 * cuts;

  NotingSink sink;
  FrameReader reader(&sink, kMaxSegmentBytes);
  std::vector<Redirection> redirections;
  Status status;
  for (size_t at = 0; at < stream_bytes && status.ok();) {
    size_t want = stream_bytes - at;
    int event = 0;
    if (cut != last_cut) {
      want = std::min<size_t>(want, cut[0] + 256u * cut[1]);
      event = cut[2] % 3;
      cut += 3;
    }
    if (event == 1) reader.Redirect();
    iovec targets[2];
    const int used = reader.Targets(targets);
    size_t put = 0;
    for (int i = 0; i < used; ++i) {
      const size_t here = std::min(targets[i].iov_len, want - put);
      std::memcpy(targets[i].iov_base, stream + at + put, here);
      put += here;
    }
    if (event == 2) reader.Redirect();
    if (event != 0) redirections.push_back({at, event == 1 ? at : at + put});
    at += put;
    status = reader.Accept(put);
  }

  const Expected expected = ReadPlainly(stream, stream_bytes);
  BRIGADE_CHECK_EQ(status.code() == StatusCode::kOk, expected.status.ok());
  BRIGADE_CHECK(status.code() == expected.status.code());
  BRIGADE_CHECK(sink.events == expected.events);
  if (status.ok()) BRIGADE_CHECK_EQ(reader.within_frame(), expected.within_frame);
  BRIGADE_CHECK_EQ(sink.landed.size(), expected.payloads.size());
  for (size_t i = 0; i < sink.landed.size(); ++i) {
    const std::vector<std::byte>& landed = sink.landed[i];
    const size_t payload = expected.payloads[i];
    size_t kept = landed.size();
    size_t written = landed.size();
    for (const Redirection& redirection : redirections) {  // the first within the payload counts
      if (redirection.at < payload || redirection.at - payload >= landed.size()) continue;
      kept = redirection.at - payload;
      written = std::min(written, redirection.asked_for - payload);
      break;
    }
    for (size_t j = 0; j < landed.size(); ++j) {
      const bool right = landed[j] == stream[payload + j];
      const bool untouched = landed[j] == std::byte{0};
      BRIGADE_CHECK(j < kept ? right : j < written ? right || untouched : untouched);
    }
  }
}

}  // namespace
}  // namespace brigade

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  brigade::CheckStream(data, bytes);
  return 0;
}
