// UniqueQueue: a queue that contains an element at most once. A flag of the element, which only the
// queue writes, says whether it is queued.

#ifndef BRIGADE_TRANSPORT_TCP_LINK_UNIQUE_QUEUE_H_
#define BRIGADE_TRANSPORT_TCP_LINK_UNIQUE_QUEUE_H_

#include <cstddef>
#include <utility>

#include "transport/core/fifo.h"

namespace brigade::tcp {

// An element must be removed before it is destroyed.
template <typename T, bool T::*kQueued>
class UniqueQueue {
 public:
  bool empty() const { return elements_.empty(); }
  size_t size() const { return elements_.size(); }

  // Appends an element. False if it is queued already; it keeps its place then.
  bool Push(T* element) {
    if (std::exchange(element->*kQueued, true)) return false;
    elements_.push_back(element);
    return true;
  }
  // Removes and returns the oldest element. REQUIRES: !empty().
  T* Pop() {
    T* const element = elements_.front();
    elements_.pop_front();
    element->*kQueued = false;
    return element;
  }
  // Removes an element. No effect if it is not queued. Cost: linear.
  void Remove(T* element) {
    if (!std::exchange(element->*kQueued, false)) return;
    Fifo<T*> kept;
    for (T* other : elements_) {
      if (other != element) kept.push_back(other);
    }
    elements_ = std::move(kept);
  }
  void Clear() {
    while (!empty()) Pop();
  }

 private:
  Fifo<T*> elements_;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_LINK_UNIQUE_QUEUE_H_
