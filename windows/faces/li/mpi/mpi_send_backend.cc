#include "windows/faces/li/mpi/mpi_send_backend.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "transport/mpi/mpi_bootstrap.h"
#include "windows/faces/li/mpi/pieces.h"

namespace brigade {
namespace li {
namespace {

constexpr int kRequestTag = 0;
constexpr int kPutTag = 1;
constexpr int kGetTag = 2;

}  // namespace

Status MpiSendBackend::Register(int slot, void* memory, size_t bytes) {
  memory_[slot].base = static_cast<std::byte*>(memory);
  return GatherBytes(bytes, &memory_[slot].bytes_of);
}

Status MpiSendBackend::Put(int slot, int process, const void* source, size_t offset, size_t bytes) {
  if (bytes == 0) return Status();
  if (process == this->process()) {
    std::memcpy(memory_[slot].base + offset, source, bytes);
    return Status();
  }
  // What is only read is not written.
  auto* const local = const_cast<std::byte*>(static_cast<const std::byte*>(source));
  operations_.push_back({process, local, {/*is_put=*/1, slot, offset, bytes}});
  return Status();
}

Status MpiSendBackend::Get(int slot, int process, size_t offset, void* result, size_t bytes) {
  if (bytes == 0) return Status();
  if (process == this->process()) {
    std::memcpy(result, memory_[slot].base + offset, bytes);
    return Status();
  }
  operations_.push_back(
      {process, static_cast<std::byte*>(result), {/*is_put=*/0, slot, offset, bytes}});
  return Status();
}

Status MpiSendBackend::Send(const std::byte* data, size_t bytes, int process, int tag) {
  return InPieces(bytes, [&](size_t done, int count) {
    return MpiStatus(
        MPI_Isend(data + done, count, MPI_BYTE, process, tag, comm(), &under_way_.emplace_back()),
        "MPI_Isend");
  });
}

Status MpiSendBackend::Receive(std::byte* data, size_t bytes, int process, int tag) {
  return InPieces(bytes, [&](size_t done, int count) {
    return MpiStatus(
        MPI_Irecv(data + done, count, MPI_BYTE, process, tag, comm(), &under_way_.emplace_back()),
        "MPI_Irecv");
  });
}

Status MpiSendBackend::WaitForAll() {
  const int error =
      MPI_Waitall(static_cast<int>(under_way_.size()), under_way_.data(), MPI_STATUSES_IGNORE);
  under_way_.clear();
  return MpiStatus(error, "MPI_Waitall");
}

Status MpiSendBackend::Sync(const std::vector<int>& slots) {
  std::vector<Operation> now;
  std::vector<Operation> later;
  for (const Operation& operation : operations_) {
    const bool is_now =
        std::find(slots.begin(), slots.end(), operation.request.slot) != slots.end();
    (is_now ? now : later).push_back(operation);
  }
  operations_ = std::move(later);
  return Exchange(now);
}

Status MpiSendBackend::Exchange(const std::vector<Operation>& operations) {
  const auto all = static_cast<size_t>(processes());
  std::vector<std::vector<Request>> asked(all);
  for (const Operation& operation : operations) {
    asked[operation.process].push_back(operation.request);
  }
  std::vector<int> counts(all);
  std::transform(asked.begin(), asked.end(), counts.begin(),
                 [](const auto& requests) { return static_cast<int>(requests.size()); });
  std::vector<int> counts_of_me(all);
  BRIGADE_RETURN_IF_ERROR(
      MpiStatus(MPI_Alltoall(counts.data(), 1, MPI_INT, counts_of_me.data(), 1, MPI_INT, comm()),
                "MPI_Alltoall"));

  std::vector<std::vector<Request>> asked_of_me(all);
  for (size_t p = 0; p < all; ++p) {
    asked_of_me[p].resize(static_cast<size_t>(counts_of_me[p]));
    BRIGADE_RETURN_IF_ERROR(Receive(reinterpret_cast<std::byte*>(asked_of_me[p].data()),
                                    asked_of_me[p].size() * sizeof(Request), static_cast<int>(p),
                                    kRequestTag));
  }
  for (size_t p = 0; p < all; ++p) {
    BRIGADE_RETURN_IF_ERROR(Send(reinterpret_cast<const std::byte*>(asked[p].data()),
                                 asked[p].size() * sizeof(Request), static_cast<int>(p),
                                 kRequestTag));
  }
  BRIGADE_RETURN_IF_ERROR(WaitForAll());

  // Both sides go through the requests of a pair in one order, and so MPI keeps them apart.
  for (size_t p = 0; p < all; ++p) {
    for (const Request& request : asked_of_me[p]) {
      std::byte* const place = memory_[request.slot].base + request.offset;
      BRIGADE_RETURN_IF_ERROR(request.is_put != 0
                                  ? Receive(place, request.bytes, static_cast<int>(p), kPutTag)
                                  : Send(place, request.bytes, static_cast<int>(p), kGetTag));
    }
  }
  for (const Operation& operation : operations) {
    const Request& request = operation.request;
    BRIGADE_RETURN_IF_ERROR(
        request.is_put != 0 ? Send(operation.local, request.bytes, operation.process, kPutTag)
                            : Receive(operation.local, request.bytes, operation.process, kGetTag));
  }
  return WaitForAll();
}

Status MpiSendBackend::Barrier() { return MpiStatus(MPI_Barrier(comm()), "MPI_Barrier"); }

}  // namespace li
}  // namespace brigade
