// Blocks: pieces of memory that go in one message, from where they lie to where they belong.

#ifndef BRIGADE_LI_SHIM_MPI_BLOCKS_H_
#define BRIGADE_LI_SHIM_MPI_BLOCKS_H_

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "membuf/status.h"

namespace brigade {
namespace li {

class Blocks {
 public:
  // Sends or receives, as MPI's calls have it.
  using StartMessage = std::function<Status(void* buffer, int count, MPI_Datatype type)>;

  // MPI counts in int: more than `most_bytes` go in several messages.
  explicit Blocks(size_t most_bytes = size_t{1} << 30) : most_bytes_(most_bytes) {}

  void Add(std::byte* data, size_t bytes);
  // Starts the messages, and forgets the blocks. Whoever adds blocks of the same lengths in the
  // same order has the same messages.
  Status Start(const StartMessage& start);

 private:
  // Of blocks `first` to `end`.
  Status StartOne(size_t first, size_t end, const StartMessage& start);

  const size_t most_bytes_;
  std::vector<std::byte*> data_;  // of each block
  std::vector<int> bytes_;
  std::vector<MPI_Aint> places_;  // to describe a message
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_MPI_BLOCKS_H_
