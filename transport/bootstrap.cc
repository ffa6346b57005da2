#include "transport/bootstrap.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
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

namespace {

struct Outcome {
  int64_t code = 0;  // StatusCode
  char text[248] = {};
};
static_assert(std::has_unique_object_representations_v<Outcome>, "compared as bytes");

}  // namespace

Status GatherOutcome(Bootstrap* bootstrap, const Status& mine, Status* verdict) {
  Outcome say;
  Outcome first;
  Outcome other;
  say.code = static_cast<int64_t>(mine.code());
  mine.message().copy(say.text, sizeof(say.text) - 1);
  int rank = -1;
  BRIGADE_RETURN_IF_ERROR(bootstrap->FindDifference(&say, sizeof(say), &rank, &first, &other));
  if (first.code != 0) {
    rank = 0;
    other = first;
  }
  *verdict = rank < 0 ? Status()
                      : Status(static_cast<StatusCode>(other.code),
                               "rank " + std::to_string(rank) + " of the group: " + other.text);
  return Status();
}

}  // namespace brigade
