#include "li_shim/mpi/blocks.h"

#include <algorithm>

#include "transport/mpi/mpi_bootstrap.h"

namespace brigade {
namespace li {

void Blocks::Add(std::byte* data, size_t bytes) {
  for (size_t done = 0; done < bytes; done += most_bytes_) {
    data_.push_back(data + done);
    bytes_.push_back(static_cast<int>(std::min(most_bytes_, bytes - done)));
  }
}

Status Blocks::Start(const StartMessage& start) {
  size_t first = 0;
  size_t bytes = 0;
  for (size_t i = 0; i < data_.size(); ++i) {
    const auto more = static_cast<size_t>(bytes_[i]);
    if (bytes + more > most_bytes_) {
      BRIGADE_RETURN_IF_ERROR(StartOne(first, i, start));
      first = i;
      bytes = 0;
    }
    bytes += more;
  }
  if (bytes > 0) BRIGADE_RETURN_IF_ERROR(StartOne(first, data_.size(), start));
  data_.clear();
  bytes_.clear();
  return Status();
}

Status Blocks::StartOne(size_t first, size_t end, const StartMessage& start) {
  if (end - first == 1) return start(data_[first], bytes_[first], MPI_BYTE);
  places_.resize(end - first);
  for (size_t i = first; i < end; ++i) MPI_Get_address(data_[i], &places_[i - first]);
  MPI_Datatype type;
  BRIGADE_RETURN_IF_ERROR(
      MpiStatus(MPI_Type_create_hindexed(static_cast<int>(end - first), &bytes_[first],
                                         places_.data(), MPI_BYTE, &type),
                "MPI_Type_create_hindexed"));
  BRIGADE_RETURN_IF_ERROR(MpiStatus(MPI_Type_commit(&type), "MPI_Type_commit"));
  const Status status = start(MPI_BOTTOM, 1, type);
  MPI_Type_free(&type);  // once the message has ended
  return status;
}

}  // namespace li
}  // namespace brigade
