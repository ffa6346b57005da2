// Pairs: what each process sends each other one, over the point-to-point messages of a group.

#ifndef BRIGADE_BSP_SHIM_PAIRS_H_
#define BRIGADE_BSP_SHIM_PAIRS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "membuf/status.h"
#include "patterns/group/group.h"

namespace brigade {
namespace bsp {

class Pairs {
 public:
  struct Message {
    std::byte* data;
    size_t bytes;
  };
  // By process: messages to it, or from it, in this order.
  using Messages = std::vector<std::vector<Message>>;

  // `group` must outlive it.
  explicit Pairs(Group* group) : group_(group) {}

  int processes() const { return group_->cols(); }
  int process() const { return group_->rank(); }

  // Returns before the receiver receives it: of short ones only.
  Status Send(int process, const Message& message);
  // Does not wait. The message has left its memory when *operation has been waited for.
  Status StartSend(int process, const Message& message, std::unique_ptr<Operation>* operation);
  // A shorter one is legal.
  Status Receive(int process, const Message& message);
  // Sends and receives messages of which both sides know. Collective. Ignores messages of this
  // process to itself.
  Status Exchange(const Messages& to, const Messages& from);

 private:
  Group* const group_;
};

}  // namespace bsp
}  // namespace brigade

#endif  // BRIGADE_BSP_SHIM_PAIRS_H_
