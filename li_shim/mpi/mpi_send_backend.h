// MpiSendBackend: LI over MPI's messages. Operations are kept until LISYNC. There each process
// sends each other process a packet: its requests, and the data of short puts. The data of all
// other puts follows in one message to each process, and the data of gets in another. Both go from
// where the data lies to where it belongs.

#ifndef BRIGADE_LI_SHIM_MPI_MPI_SEND_BACKEND_H_
#define BRIGADE_LI_SHIM_MPI_MPI_SEND_BACKEND_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "li_shim/backend/backend.h"
#include "li_shim/mpi/blocks.h"
#include "li_shim/mpi/mpi_backend.h"
#include "membuf/status.h"

namespace brigade {
namespace li {

class MpiSendBackend final : public MpiBackend {
 public:
  using MpiBackend::MpiBackend;
  Status Register(int slot, void* memory, size_t bytes) override;
  Status Init(int) override { return Status(); }
  Status Commit() override { return Barrier(); }
  Status Deregister(int) override { return Status(); }
  Status Sync(const std::vector<int>& slots) override;
  Status Barrier() override;
  size_t BytesOf(int slot, int process) const override { return memory_[slot].bytes_of[process]; }
  Status Put(int slot, int process, const void* source, size_t offset, size_t bytes) override;
  Status Get(int slot, int process, size_t offset, void* result, size_t bytes) override;

 private:
  // Of a short put the data go with the request, while there is room.
  enum class Kind : int64_t { kGet, kPut, kPutHere };
  // A request to another process, as it travels.
  struct Request {
    Kind kind;
    int64_t slot;
    uint64_t offset;
    uint64_t bytes;
  };
  struct Operation {
    int process;
    std::byte* local;
    Request request;
  };
  struct Memory {
    std::byte* base = nullptr;
    std::vector<size_t> bytes_of;  // by process
  };

  using Packet = std::vector<std::byte>;
  // The data that goes to a process behind its packet, and the data that comes from it.
  struct Data {
    Blocks puts_to, puts_from, gets_to, gets_from;
  };

  Status Exchange(std::vector<Operation>* operations);
  // Makes those that leave, and sends them while the others' come.
  void Pack(std::vector<Operation>* operations);
  Status ExchangePackets();
  // Does what a process requests in its packet, or records it in `data`.
  void Do(const Packet& packet, Data* data);
  // Both return what starts a message.
  Blocks::StartMessage SendTo(int process, int tag);
  Blocks::StartMessage ReceiveFrom(int process, int tag);
  Status WaitForAll();

  Memory memory_[kSlots];
  std::vector<Operation> operations_;  // since they were synchronised
  std::vector<Packet> leaving_;        // by process
  std::vector<Packet> arrived_;
  std::vector<Data> data_;  // by process; empty between exchanges
  std::vector<MPI_Request> under_way_;
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_MPI_MPI_SEND_BACKEND_H_
