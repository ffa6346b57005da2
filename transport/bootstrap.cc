#include "transport/bootstrap.h"

#include <cstring>
#include <vector>

namespace brigade {

Status Bootstrap::FindDifference(const void* mine, size_t bytes, int* rank, void* first,
                                 void* other) {
  *rank = -1;
  if (bytes == 0) return Status();
  std::vector<char> all(bytes * static_cast<size_t>(size()));
  BRIGADE_RETURN_IF_ERROR(AllGather(mine, bytes, all.data()));
  std::memcpy(first, all.data(), bytes);
  for (*rank = 1; *rank < size(); ++*rank) {
    std::memcpy(other, all.data() + bytes * static_cast<size_t>(*rank), bytes);
    if (std::memcmp(first, other, bytes) != 0) return Status();
  }
  *rank = -1;
  return Status();
}

}  // namespace brigade
