// CheckedBackend: checks around another backend (BRIGADE_LI_CHECK=1). The checks find operations
// that conflict, and collective calls that differ between processes.
//
// Before each collective call every process sends the others the call that it is in. At the end of
// a superstep each process receives the operations on its memory, and looks for those that touch
// the same bytes. These exchanges are puts of the backend itself.

#ifndef BRIGADE_LI_SHIM_BACKEND_CHECKED_BACKEND_H_
#define BRIGADE_LI_SHIM_BACKEND_CHECKED_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "li_shim/backend/accesses.h"
#include "li_shim/backend/backend.h"
#include "membuf/status.h"

namespace brigade {
namespace li {

class CheckedBackend final : public Backend {
 public:
  explicit CheckedBackend(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}

  int processes() const override { return backend_->processes(); }
  int process() const override { return backend_->process(); }
  Status Begin() override;
  Status End() override;
  Status Leave() override { return backend_->Leave(); }
  Status Register(int slot, void* memory, size_t bytes) override;
  Status Init(int slot) override;
  Status Commit() override;
  Status Deregister(int slot) override;
  Status Sync(const std::vector<int>& slots) override;
  Status Barrier() override;
  size_t BytesOf(int slot, int process) const override { return backend_->BytesOf(slot, process); }
  Status Put(int slot, int process, const void* source, size_t offset, size_t bytes) override;
  Status Get(int slot, int process, size_t offset, void* result, size_t bytes) override;
  [[noreturn]] void Abort(const std::string& text) override;

 private:
  enum class Call : int64_t { kEnd, kRegister, kInit, kCommit, kDeregister, kSync, kBarrier };
  // The record that each process sends to all others in Meet.
  struct Word {
    Call call;
    uint64_t slots;  // of the call, a bit each
    int64_t number;  // of Register: bytes; of Barrier: the most records for one process
  };
  // An operation, as its target learns of it.
  struct Record {
    int64_t slot;
    uint64_t offset;
    uint64_t bytes;  // 0: none
    int64_t is_put;
    int64_t number;
  };
  static constexpr size_t kRecords = 32;  // that travel together
  struct Letter {
    Record records[kRecords];
  };
  // A put since it was synchronised.
  struct Source {
    int slot;
    int process;
    const void* data;
    size_t bytes;
    size_t digest;
    int64_t number;
  };
  static const char* NameOf(Call call);

  // One per process and parity of the exchange: a process that is ahead must not overwrite items
  // that others still read.
  template <typename Item>
  struct Boxes {
    std::vector<Item> items;
    bool is_odd = false;
  };

  // Opens memory for `boxes`.
  template <typename Item>
  Status Open(int slot, Boxes<Item>* boxes);
  // Sends `mine[p]` to each process p, which gets it as `received[number of the sender]`.
  template <typename Item, typename Mine>
  Status Exchange(int slot, Boxes<Item>* boxes, const Mine& mine, const Item** received);
  // Checks that all processes are in the same call; the first one that differs from process 0
  // fails. `words` gets the words of all.
  Status Meet(Call call, uint64_t slots, int64_t number, const Word** words);
  Status Meet(Call call, uint64_t slots = 0, int64_t number = 0);
  void Note(int slot, int process, const void* local, size_t offset, size_t bytes, bool is_put);
  // Receives the operations of others on this process's memory.
  Status Collect(const Word* words);
  std::string Describe(const Access& access) const;

  const std::unique_ptr<Backend> backend_;
  Boxes<Word> words_;
  Boxes<Letter> letters_;
  std::byte* memory_[kSlots] = {};
  std::vector<Source> sources_;
  // Of this superstep: operations of this process on memory of others, and accesses to its own
  // memory.
  int64_t number_ = 0;
  std::vector<std::vector<Record>> asked_;
  std::vector<Access> accesses_;
  // Per process, the lengths of the pieces that were registered since LICOMMIT, in order.
  std::vector<std::vector<int64_t>> registered_;
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_BACKEND_CHECKED_BACKEND_H_
