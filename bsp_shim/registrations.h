// Registrations: which memory of other processes an address of this one stands for.
//
// All processes register together, each its own memory: a registration has a slot, the same on all.
// A call takes effect at the end of its superstep. Calls of a superstep take place in their order,
// so that a pop may be of what was pushed in the same one.

#ifndef BRIGADE_BSP_SHIM_REGISTRATIONS_H_
#define BRIGADE_BSP_SHIM_REGISTRATIONS_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "membuf/status.h"

namespace brigade {
namespace bsp {

// One call, as other processes get it.
struct RegistrationCall {
  static constexpr int64_t kNull = -1;

  int64_t is_push;
  int64_t value;  // a push's bytes, a pop's slot; or kNull, for memory at NULL
};

// The calls of one process in a superstep.
struct RegistrationCalls {
  const RegistrationCall* first;
  size_t count;
};

struct Registration {
  std::byte* address = nullptr;   // of this process
  std::vector<int64_t> bytes_of;  // by process; RegistrationCall::kNull for memory at NULL
};

class Registrations {
 public:
  // kInvalidArgument: null with bytes; `address` is not registered, or popped already. REQUIRES: 0
  // bytes or more.
  Status Push(const void* address, int bytes);
  Status Pop(const void* address);

  static constexpr int kNone = -1;
  // The newest that is in effect; kNone: there is none.
  int Find(const void* address) const;
  const Registration& at(int slot) const { return slots_[static_cast<size_t>(slot)]; }

  // Of this superstep.
  const std::vector<RegistrationCall>& calls() const { return calls_; }
  // Puts the calls of all processes into effect. kInvalidArgument, the same on all, if the calls
  // differ; then `*who` is the first process whose calls are not those of process 0, and `*what`
  // the call.
  Status Apply(const std::vector<RegistrationCalls>& all, int* who, const char** what);

 private:
  struct Entry {
    int slot;
    bool is_in_effect;
    bool is_popped;
  };

  int TakeSlot();
  // The slot of the pop that is call `c` of all.
  Status Agree(const std::vector<RegistrationCalls>& all, size_t c, int* slot, int* who) const;
  void Free(int slot);

  std::vector<Registration> slots_;
  std::vector<int> free_slots_;
  std::vector<int> in_effect_;                                      // the newest last
  std::unordered_map<const void*, std::vector<Entry>> by_address_;  // the newest last
  std::vector<RegistrationCall> calls_;
  std::vector<int> pushed_;             // the slots of this superstep's pushes
  mutable const void* last_ = nullptr;  // found
  mutable int last_slot_ = kNone;
};

}  // namespace bsp
}  // namespace brigade

#endif  // BRIGADE_BSP_SHIM_REGISTRATIONS_H_
