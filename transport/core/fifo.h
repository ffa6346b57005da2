// Fifo: a queue that keeps its storage. A std::deque allocates and frees as elements pass through,
// even if it stays short, which dominates the cost of a short message.

#ifndef BRIGADE_TRANSPORT_CORE_FIFO_H_
#define BRIGADE_TRANSPORT_CORE_FIFO_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace brigade {

// Amortised cost of each operation: constant; no allocation once grown.
template <typename T>
class Fifo {
 public:
  bool empty() const { return first_ == elements_.size(); }
  size_t size() const { return elements_.size() - first_; }
  // The oldest element. REQUIRES: !empty().
  T& front() { return elements_[first_]; }
  const T& front() const { return elements_[first_]; }

  void push_back(const T& element) {
    // Amortised by the pops before, which were at least as many.
    if (elements_.size() == elements_.capacity() && first_ > size()) {
      elements_.erase(elements_.begin(), begin());
      first_ = 0;
    }
    elements_.push_back(element);
  }
  void pop_front() {
    if (++first_ == elements_.size()) clear();
  }
  // REQUIRES: !empty().
  void pop_back() {
    elements_.pop_back();
    if (empty()) clear();
  }
  // Erases [first, last), by moving earlier elements up. REQUIRES: a range of the queue.
  void erase(typename std::vector<T>::iterator first, typename std::vector<T>::iterator last) {
    std::move_backward(begin(), first, last);
    first_ += static_cast<size_t>(last - first);
    if (empty()) clear();
  }
  void clear() {
    elements_.clear();
    first_ = 0;
  }

  typename std::vector<T>::iterator begin() { return elements_.begin() + first_; }
  typename std::vector<T>::iterator end() { return elements_.end(); }

 private:
  std::vector<T> elements_;
  size_t first_ = 0;  // of elements_; earlier ones are removed
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CORE_FIFO_H_
