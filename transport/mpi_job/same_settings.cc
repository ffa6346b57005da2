#include "transport/mpi_job/same_settings.h"

#include <algorithm>
#include <vector>

namespace brigade {

Status CompareSettings(const std::string& mine, int processes, const GatherAll& gather) {
  const size_t length = mine.size();
  std::vector<size_t> lengths(static_cast<size_t>(processes));
  BRIGADE_RETURN_IF_ERROR(gather(&length, sizeof(length), lengths.data()));
  const size_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::string padded = mine;
  padded.resize(longest);
  std::string all(longest * lengths.size(), '\0');
  BRIGADE_RETURN_IF_ERROR(gather(padded.data(), longest, all.data()));
  const auto text_of = [&](size_t p) { return all.substr(p * longest, lengths[p]); };
  for (size_t p = 1; p < lengths.size(); ++p) {
    if (text_of(p) == text_of(0)) continue;
    return {StatusCode::kInvalidArgument, "processes differ in their settings: process 0 has " +
                                              text_of(0) + ", process " + std::to_string(p) +
                                              " has " + text_of(p)};
  }
  return Status();
}

}  // namespace brigade
