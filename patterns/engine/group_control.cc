#include "patterns/engine/group_control.h"

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;

// For the text of an abort, whose messages are sent one after the other.
constexpr std::chrono::milliseconds kTextTime(200);

}  // namespace

void GroupControl::OnControl(int from, ConstByteSpan message) {
  if (message.bytes > 0 && std::to_integer<uint8_t>(message.data[0]) >= kFirstKindOfOthers) {
    if (other_ != nullptr) other_->OnControl(from, message);
    return;
  }
  if (message.bytes > 0 && std::to_integer<uint8_t>(message.data[0]) == kEnquiry) {
    on_enquiry_(from, message);
    return;
  }
  // Only the first report counts.
  if (complete_ || (from_ >= 0 && from_ != from)) return;
  if (from_ < 0) {
    from_ = from;
    since_ = Clock::now();
    failing_->push_back(group_);
  }
  complete_ = reader_.Take(message);
}

bool GroupControl::knows_all() const {
  return complete_ || (from_ >= 0 && Clock::now() - since_ > kTextTime);
}

}  // namespace brigade
