// Superstep: requests of a process until the next synchronisation, and how that does them.
//
// Each process has a packet for each other one, to which calls append: what is put and sent is
// copied there. The synchronisation exchanges packets, and so everybody knows that all have come.
// Their first bytes say how long they are. The rest lands where it belongs if messages cost no
// credits, pair after pair; otherwise it goes in parts so short that none takes credits, to all at
// the same time, which keeps slow links busy.
// Then everybody sends what was got from it, and at last writes: first what it has got, in the
// order of its calls, then what was put to it, by process and in the order of its calls. Nobody
// needs to wait for others to have written.
//
// Of direct operations longer than a segment of a message only the records are in packets: the data
// travel from where they lie to where they belong.

#ifndef BRIGADE_BSP_SHIM_SUPERSTEP_H_
#define BRIGADE_BSP_SHIM_SUPERSTEP_H_

#include <cstddef>
#include <vector>

#include "bsp_shim/bytes.h"
#include "bsp_shim/packet.h"
#include "bsp_shim/pairs.h"
#include "bsp_shim/registrations.h"
#include "membuf/status.h"

namespace brigade {
namespace bsp {

class Superstep {
 public:
  struct Message {
    std::byte* tag;
    std::byte* data;
    size_t bytes;
  };

  // `group` must outlive it. `direct_bytes`: direct operations of more go directly; equal on all.
  Superstep(Group* group, size_t direct_bytes);

  // --- requests; `there` is a slot and an offset in its memory ---

  struct Place {
    int process;
    int slot;
    size_t offset;
  };
  void Put(const Place& there, const void* source, size_t bytes);
  void Get(const Place& there, void* result, size_t bytes);
  void DirectPut(const Place& there, const void* source, size_t bytes);
  void DirectGet(const Place& there, void* result, size_t bytes);
  void Send(int process, const void* tag, size_t tag_bytes, const void* data, size_t bytes);

  // --- its end ---

  // Sends the packets, and receives those of the other processes. The caller must compare their
  // headers before anything else is done. `tag_bytes`: of this superstep's messages.
  Status Meet(const PacketHeader& said, size_t tag_bytes, const Registrations& registrations);
  const PacketHeader& HeaderOf(int process) const { return *arrived(process).header(); }
  // Returns the registrations of each process, and the ends of registrations, in this superstep.
  std::vector<RegistrationCalls> RegistrationCallsOfAll() const;
  // Does all that was requested. `messages`: those to this process, until the next Meet() ends.
  Status Complete(const Registrations& registrations, std::vector<Message>* messages);

 private:
  struct Wanted {
    int process;
    std::byte* result;
    size_t bytes;
  };

  Packet& leaving(int process) { return leaving_[static_cast<size_t>(process)]; }
  const Packet& arrived(int process) const { return arrived_[static_cast<size_t>(process)]; }
  bool is_mine(size_t process) const { return static_cast<int>(process) == pairs_.process(); }

  // Of packets, what is behind their first bytes: at once, or in parts.
  Status ExchangeRests();
  Status ExchangeParts();
  // To all, what goes of their packets in one message from there on.
  Status SendParts(size_t at);
  // Gets and direct operations, those of this process and those that others request of it.
  Status DoAsked(const Registrations& registrations);
  // Sends the data that others get from this process, and receives the data that this process gets.
  Status ExchangeAnswers(const Registrations& registrations);

  Pairs pairs_;
  const size_t direct_bytes_;
  const bool in_parts_;
  const size_t first_bytes_;  // of a packet, and of each part
  size_t tag_bytes_ = 0;
  std::vector<Packet> leaving_;  // by process
  std::vector<Packet> arrived_;
  std::vector<Packet> before_;  // that arrived a superstep ago; the program may still see them

  bool has_asked_ = false;       // for a get or a direct operation, in this superstep
  std::vector<Wanted> wanted_;   // by gets that do not go directly
  Pairs::Messages direct_puts_;  // by process
  Pairs::Messages direct_gets_;
  std::vector<Bytes> answers_;   // to each process
  std::vector<Bytes> answered_;  // by each process
};

}  // namespace bsp
}  // namespace brigade

#endif  // BRIGADE_BSP_SHIM_SUPERSTEP_H_
