// ObjectPool: objects that are used again, so that a small operation allocates nothing. Objects
// that a burst has allocated beyond kMostIdle are deleted when they are given back.

#ifndef BRIGADE_PATTERNS_ENGINE_OBJECT_POOL_H_
#define BRIGADE_PATTERNS_ENGINE_OBJECT_POOL_H_

#include <array>
#include <cstddef>

namespace brigade {

template <typename T>
class ObjectPool {
 public:
  // Kept while nobody uses them.
  static constexpr size_t kMostIdle = 1024;

  ObjectPool() = default;
  ~ObjectPool() {
    while (first_ != nullptr) Delete(first_);
  }
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;

  // A new one, or one as it was given back.
  T* Take() { return idle_count_ > 0 ? idle_[--idle_count_] : New(); }
  // REQUIRES: `object` was taken from here and not given back since.
  void GiveBack(T* object) {
    Node* const node = static_cast<Node*>(object);
    if (idle_count_ < kMostIdle) {
      idle_[idle_count_++] = node;
    } else {
      Delete(node);
    }
  }
  // None there is now is deleted any more: somebody still uses some.
  void Leave() {
    first_ = nullptr;
    idle_count_ = 0;
  }
  // Calls visit(object) for all there are, idle ones included.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (Node* node = first_; node != nullptr; node = node->next) visit(static_cast<T*>(node));
  }

 private:
  struct Node : T {
    Node* previous = nullptr;
    Node* next = nullptr;
  };

  Node* New() {
    Node* const node = new Node;
    node->next = first_;
    if (first_ != nullptr) first_->previous = node;
    first_ = node;
    return node;
  }
  void Delete(Node* node) {
    (node->previous != nullptr ? node->previous->next : first_) = node->next;
    if (node->next != nullptr) node->next->previous = node->previous;
    delete node;
  }

  Node* first_ = nullptr;  // of all
  std::array<Node*, kMostIdle> idle_;
  size_t idle_count_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_OBJECT_POOL_H_
