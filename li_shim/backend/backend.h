// Backend: what carries an LI program. Registered memory has a slot, the same on all processes. Its
// users (program.h) check arguments and the order of calls; what is said of soundness in
// <brigade/li.h> holds here, too.

#ifndef BRIGADE_LI_SHIM_BACKEND_BACKEND_H_
#define BRIGADE_LI_SHIM_BACKEND_BACKEND_H_

#include <cstddef>
#include <string>
#include <vector>

#include "membuf/status.h"

namespace brigade {
namespace li {

// Of the program, and two for the checker.
inline constexpr int kProgramSlots = 64;
inline constexpr int kSlots = kProgramSlots + 2;

class Backend {
 public:
  virtual ~Backend() = default;

  virtual int processes() const = 0;
  // After Begin, as all below.
  virtual int process() const = 0;
  // Collective, as End and all from Register to Barrier.
  virtual Status Begin() = 0;
  // REQUIRES: nothing is registered.
  virtual Status End() = 0;
  // Ends a program without Begin and End. Collective.
  virtual Status Leave() = 0;

  virtual Status Register(int slot, void* memory, size_t bytes) = 0;
  // Opens the memory of `slot`. Once, before it is used.
  virtual Status Init(int slot) = 0;
  // A superstep begins, in which what is registered may be used.
  virtual Status Commit() = 0;
  // REQUIRES: no put or get of this superstep is in its memory.
  virtual Status Deregister(int slot) = 0;
  // Completes the puts and gets of this process in memory that is open: sources of puts are its own
  // again.
  virtual Status Sync(const std::vector<int>& slots) = 0;
  // Completes the puts and gets of all. REQUIRES: Sync.
  virtual Status Barrier() = 0;

  // Returns the bytes that a process has registered. REQUIRES: committed.
  virtual size_t BytesOf(int slot, int process) const = 0;
  // REQUIRES: the bytes are in what the process has registered.
  virtual Status Put(int slot, int process, const void* source, size_t offset, size_t bytes) = 0;
  virtual Status Get(int slot, int process, size_t offset, void* result, size_t bytes) = 0;

  // Says `text` on stderr and ends the program, on all processes. Before Begin, too.
  [[noreturn]] virtual void Abort(const std::string& text) = 0;
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_BACKEND_BACKEND_H_
