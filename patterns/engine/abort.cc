#include "patterns/engine/abort.h"

#include <algorithm>
#include <cstring>

#include "transport/control.h"

namespace brigade {
namespace {

enum Kind : uint8_t { kAbort = 1, kAbortText = 2 };

constexpr uint8_t kNoPattern = 255;

struct Header {
  uint8_t kind = kAbort;
  uint8_t code = 0;
  uint8_t pattern = kNoPattern;
  uint8_t text_bytes = 0;
  int32_t rank = 0;
  uint64_t sequence = 0;
};
static_assert(sizeof(Header) == 16 && sizeof(Header) <= kMostControlBytes, "no padding");
static_assert(Abort::kMostTextBytes <= UINT8_MAX, "its length is a byte");

constexpr size_t kTextBytesPerMessage = kMostControlBytes - 1;

}  // namespace

Status Abort::ToStatus() const {
  std::string who = "rank " + std::to_string(rank) + " of the group ";
  who += code == StatusCode::kAborted ? "aborted it" : "broke it";
  if (pattern)
    who += std::string(" in ") + PatternName(*pattern) + " number " + std::to_string(sequence);
  return Status(code, who + ": " + text);
}

std::vector<std::string> Abort::ToMessages() const {
  Header header;
  header.code = static_cast<uint8_t>(code);
  if (pattern) header.pattern = static_cast<uint8_t>(*pattern);
  header.text_bytes = static_cast<uint8_t>(std::min(text.size(), kMostTextBytes));
  header.rank = rank;
  header.sequence = sequence;
  std::vector<std::string> messages{
      std::string(reinterpret_cast<const char*>(&header), sizeof(header))};
  for (size_t at = 0; at < header.text_bytes; at += kTextBytesPerMessage) {
    const size_t bytes = std::min(kTextBytesPerMessage, header.text_bytes - at);
    messages.push_back(static_cast<char>(kAbortText) + text.substr(at, bytes));
  }
  return messages;
}

bool AbortReader::Take(ConstByteSpan message) {
  if (message.bytes == 0) return false;
  const auto kind = std::to_integer<uint8_t>(message.data[0]);
  if (kind == kAbort && message.bytes == sizeof(Header)) {
    Header header;
    std::memcpy(&header, message.data, sizeof(header));
    abort_ = Abort();
    abort_.rank = header.rank;
    // Of another kind it would be no failure, or none that can be reported.
    const bool known = header.code > static_cast<uint8_t>(StatusCode::kNoResource) &&
                       header.code <= static_cast<uint8_t>(StatusCode::kAborted);
    abort_.code = known ? static_cast<StatusCode>(header.code) : StatusCode::kInternal;
    if (header.pattern < kPatterns) abort_.pattern = static_cast<Pattern>(header.pattern);
    abort_.sequence = header.sequence;
    text_bytes_ = header.text_bytes;
    begun_ = true;
  } else if (kind == kAbortText && begun_) {
    abort_.text.append(reinterpret_cast<const char*>(message.data + 1), message.bytes - 1);
  } else {
    return false;
  }
  return abort_.text.size() >= text_bytes_;
}

}  // namespace brigade
