#include "bsp_shim/pairs.h"

#include <algorithm>

#include "patterns/engine/pattern_call.h"

namespace brigade {
namespace bsp {
namespace {

PatternCall CallOf(Pattern pattern, int process, const Pairs::Message& message) {
  PatternCall call;
  call.pattern = pattern;
  call.root = process;
  call.matrix = {message.data, StridedLayout::Contiguous(message.bytes)};
  return call;
}

}  // namespace

Status Pairs::Send(int process, const Message& message) {
  return group_->Run(CallOf(Pattern::kSend, process, message));
}

Status Pairs::Receive(int process, const Message& message) {
  return group_->Run(CallOf(Pattern::kReceive, process, message));
}

Status Pairs::StartSend(int process, const Message& message,
                        std::unique_ptr<Operation>* operation) {
  return group_->Start(CallOf(Pattern::kSend, process, message), operation);
}

// Each process sends to one and receives from one at a time. Nobody waits for more than that needs,
// and what everybody waits for is behind nothing that waits.
Status Pairs::Exchange(const Messages& to, const Messages& from) {
  for (int distance = 1; distance < processes(); ++distance) {
    const int target = (process() + distance) % processes();
    const int source = (process() + processes() - distance) % processes();
    const std::vector<Message>& sent = to[static_cast<size_t>(target)];
    const std::vector<Message>& received = from[static_cast<size_t>(source)];
    for (size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
      std::unique_ptr<Operation> sending;
      if (i < sent.size()) BRIGADE_RETURN_IF_ERROR(StartSend(target, sent[i], &sending));
      if (i < received.size()) BRIGADE_RETURN_IF_ERROR(Receive(source, received[i]));
      if (sending != nullptr) BRIGADE_RETURN_IF_ERROR(sending->Wait());
    }
  }
  return Status();
}

}  // namespace bsp
}  // namespace brigade
