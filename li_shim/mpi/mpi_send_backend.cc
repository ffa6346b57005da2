#include "li_shim/mpi/mpi_send_backend.h"

#include <algorithm>
#include <cstring>

#include "li_shim/mpi/pieces.h"
#include "li_shim/rules.h"
#include "transport/mpi/mpi_bootstrap.h"

namespace brigade {
namespace li {
namespace {

using rules::kLiFirstPacketBytes;
using rules::kMostPackedBytes;

constexpr int kPacketTag = 0;
constexpr int kPutTag = 1;
constexpr int kGetTag = 2;
// How much data a packet has at most, so that it takes no memory to speak of.
constexpr size_t kMostPacketBytes = size_t{64} << 10;

// At the beginning of a packet.
struct Header {
  uint64_t bytes;  // of all of it
  uint64_t requests;
};

void Append(const void* data, size_t bytes, std::vector<std::byte>* packet) {
  const auto* const from = static_cast<const std::byte*>(data);
  packet->insert(packet->end(), from, from + bytes);
}

// Starts a message, which may be in pieces.
Status Start(std::byte* data, size_t bytes, const Blocks::StartMessage& start) {
  return InPieces(bytes,
                  [&](size_t done, int count) { return start(data + done, count, MPI_BYTE); });
}

// Returns the value at `at`, which need not be aligned.
template <typename T>
T Read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

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
  // Casts const away: an operation also describes gets. A put only reads its source.
  auto* const local = const_cast<std::byte*>(static_cast<const std::byte*>(source));
  operations_.push_back({process, local, {Kind::kPut, slot, offset, bytes}});
  return Status();
}

Status MpiSendBackend::Get(int slot, int process, size_t offset, void* result, size_t bytes) {
  if (bytes == 0) return Status();
  if (process == this->process()) {
    std::memcpy(result, memory_[slot].base + offset, bytes);
    return Status();
  }
  operations_.push_back(
      {process, static_cast<std::byte*>(result), {Kind::kGet, slot, offset, bytes}});
  return Status();
}

Blocks::StartMessage MpiSendBackend::SendTo(int process, int tag) {
  return [this, process, tag](const void* buffer, int count, MPI_Datatype type) {
    return MpiStatus(
        MPI_Isend(buffer, count, type, process, tag, comm(), &under_way_.emplace_back()),
        "MPI_Isend");
  };
}

Blocks::StartMessage MpiSendBackend::ReceiveFrom(int process, int tag) {
  return [this, process, tag](void* buffer, int count, MPI_Datatype type) {
    return MpiStatus(
        MPI_Irecv(buffer, count, type, process, tag, comm(), &under_way_.emplace_back()),
        "MPI_Irecv");
  };
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
  return Exchange(&now);
}

void MpiSendBackend::Pack(std::vector<Operation>* operations) {
  leaving_.resize(static_cast<size_t>(processes()));
  arrived_.resize(leaving_.size());
  data_.resize(leaving_.size());
  for (Packet& packet : leaving_) packet.resize(sizeof(Header));
  std::vector<uint64_t> requests(leaving_.size());
  for (Operation& operation : *operations) {
    Packet& packet = leaving_[static_cast<size_t>(operation.process)];
    Request& request = operation.request;
    if (request.kind == Kind::kPut && request.bytes <= kMostPackedBytes &&
        packet.size() + request.bytes <= kMostPacketBytes) {
      request.kind = Kind::kPutHere;
    }
    Append(&request, sizeof(request), &packet);
    if (request.kind == Kind::kPutHere) Append(operation.local, request.bytes, &packet);
    ++requests[static_cast<size_t>(operation.process)];
  }
  for (size_t p = 0; p < leaving_.size(); ++p) {
    const Header header{leaving_[p].size(), requests[p]};
    std::memcpy(leaving_[p].data(), &header, sizeof(header));
  }
}

Status MpiSendBackend::ExchangePackets() {
  const auto each_other = [&](const auto& call) {
    for (int p = 0; p < processes(); ++p) {
      if (p != process()) BRIGADE_RETURN_IF_ERROR(call(p, static_cast<size_t>(p)));
    }
    return Status();
  };
  BRIGADE_RETURN_IF_ERROR(each_other([&](int process, size_t p) {
    arrived_[p].resize(kLiFirstPacketBytes);
    return Start(arrived_[p].data(), kLiFirstPacketBytes, ReceiveFrom(process, kPacketTag));
  }));
  BRIGADE_RETURN_IF_ERROR(each_other([&](int process, size_t p) {
    return Start(leaving_[p].data(), std::min(leaving_[p].size(), kLiFirstPacketBytes),
                 SendTo(process, kPacketTag));
  }));
  BRIGADE_RETURN_IF_ERROR(WaitForAll());
  BRIGADE_RETURN_IF_ERROR(each_other([&](int process, size_t p) {
    const auto bytes = Read<Header>(arrived_[p].data()).bytes;
    arrived_[p].resize(std::max(bytes, kLiFirstPacketBytes));
    return Start(arrived_[p].data() + kLiFirstPacketBytes, arrived_[p].size() - kLiFirstPacketBytes,
                 ReceiveFrom(process, kPacketTag));
  }));
  BRIGADE_RETURN_IF_ERROR(each_other([&](int process, size_t p) {
    const size_t first = std::min(leaving_[p].size(), kLiFirstPacketBytes);
    return Start(leaving_[p].data() + first, leaving_[p].size() - first,
                 SendTo(process, kPacketTag));
  }));
  return WaitForAll();
}

void MpiSendBackend::Do(const Packet& packet, Data* data) {
  const std::byte* at = packet.data() + sizeof(Header);
  for (uint64_t left = Read<Header>(packet.data()).requests; left > 0; --left) {
    const auto request = Read<Request>(at);
    at += sizeof(request);
    std::byte* const place = memory_[request.slot].base + request.offset;
    if (request.kind == Kind::kPutHere) {
      std::memcpy(place, at, request.bytes);
      at += request.bytes;
    } else {
      (request.kind == Kind::kPut ? data->puts_from : data->gets_to).Add(place, request.bytes);
    }
  }
}

Status MpiSendBackend::Exchange(std::vector<Operation>* operations) {
  Pack(operations);
  BRIGADE_RETURN_IF_ERROR(ExchangePackets());
  // Both sides go through the requests of a pair in one order, and so have the same messages.
  for (const Operation& operation : *operations) {
    const Request& request = operation.request;
    Data& data = data_[static_cast<size_t>(operation.process)];
    if (request.kind == Kind::kPut) data.puts_to.Add(operation.local, request.bytes);
    if (request.kind == Kind::kGet) data.gets_from.Add(operation.local, request.bytes);
  }
  for (int p = 0; p < processes(); ++p) {
    if (p == process()) continue;
    Data& data = data_[static_cast<size_t>(p)];
    Do(arrived_[static_cast<size_t>(p)], &data);
    BRIGADE_RETURN_IF_ERROR(data.puts_from.Start(ReceiveFrom(p, kPutTag)));
    BRIGADE_RETURN_IF_ERROR(data.gets_from.Start(ReceiveFrom(p, kGetTag)));
  }
  for (int p = 0; p < processes(); ++p) {
    Data& data = data_[static_cast<size_t>(p)];
    BRIGADE_RETURN_IF_ERROR(data.puts_to.Start(SendTo(p, kPutTag)));
    BRIGADE_RETURN_IF_ERROR(data.gets_to.Start(SendTo(p, kGetTag)));
  }
  return WaitForAll();
}

Status MpiSendBackend::Barrier() { return MpiStatus(MPI_Barrier(comm()), "MPI_Barrier"); }

}  // namespace li
}  // namespace brigade
