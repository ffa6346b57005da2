// Contact: the values that members of a new group exchange about themselves.

#ifndef BRIGADE_TRANSPORT_TCP_CONTACT_H_
#define BRIGADE_TRANSPORT_TCP_CONTACT_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/host/host.h"
#include "transport/host/network_interface.h"
#include "transport/host/ranks_per_processor.h"
#include "transport/tcp/io/read_trial.h"
#include "transport/tcp/wire/wire.h"

namespace brigade::tcp {

// How a rank reads segments: it has no io_uring, or has to find out whether io_uring is faster, or
// knows.
enum class Reads : char { kNoRing, kUntried, kPlain, kByRing };

// Travels as bytes, padding included: made from zeros.
struct Contact {
  EndpointId id;
  AuthKey key;
  bool listens = false;  // false: it cannot be reached
  SocketAddress address;
  Host host;  // for the limit on locked memory, one per user
  RankProcessors processors;
  Reads reads[2] = {};            // [0]: each rank has a processor; [1]: ranks share processors
  uint64_t proposed_wire_id = 0;  // WireIds
};
static_assert(std::is_trivially_copyable_v<Contact>, "contacts travel as bytes");

// Gathers the contacts of all members, by rank. kUnavailable: a member cannot be reached; `listens`
// has the reason, if it is this rank.
Status GatherContacts(Bootstrap* bootstrap, const Contact& mine, const Status& listens,
                      std::vector<Contact>* contacts);

// Returns the processors of each member on the machine of `mine` that belongs to the same user.
std::vector<RankProcessors> NeighboursOf(const Contact& mine, const std::vector<Contact>& contacts);

// Returns the member that measures for the machine and user of `mine` whether io_uring is faster:
// the first one that can; -1 if one knows, or none can.
int ReadTrialRank(const Contact& mine, const std::vector<Contact>& contacts, bool shares_processor);

// The knowledge of a member at the end of the trials.
struct KnownReads {
  Reads reads = Reads::kNoRing;
  ReadTimes times;  // zeros unless measured
};
// Returns the knowledge of the member that has made the trial: plain calls read if they are clearly
// faster; io_uring also reads if the trial has failed.
KnownReads KnownBy(const Status& trial, const ReadTimes& times);
// Returns the knowledge of the first member on the machine of `mine` that knows. kUntried: none.
KnownReads AgreedReads(const Contact& mine, const std::vector<Contact>& contacts,
                       const std::vector<KnownReads>& known);
// Returns the text for explanations; empty if nothing is known.
std::string Describe(const KnownReads& known);

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_CONTACT_H_
