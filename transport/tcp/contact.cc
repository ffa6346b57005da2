#include "transport/tcp/contact.h"

#include <cmath>
#include <cstring>
#include <string>

#include "transport/rules.h"

namespace brigade::tcp {
namespace {

bool ShareMachine(const Contact& one, const Contact& other) {
  return std::strcmp(one.host.boot_id, other.host.boot_id) == 0 && one.host.user == other.host.user;
}

bool IsKnown(Reads reads) { return reads == Reads::kPlain || reads == Reads::kByRing; }

}  // namespace

Status GatherContacts(Bootstrap* bootstrap, const Contact& mine, const Status& listens,
                      std::vector<Contact>* contacts) {
  contacts->resize(static_cast<size_t>(bootstrap->size()));
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), contacts->data()));
  BRIGADE_RETURN_IF_ERROR(listens);
  for (size_t rank = 0; rank < contacts->size(); ++rank) {
    if ((*contacts)[rank].listens) continue;
    return Status(StatusCode::kUnavailable,
                  "tcp: rank " + std::to_string(rank) + " of the group cannot use TCP");
  }
  return Status();
}

std::vector<RankProcessors> NeighboursOf(const Contact& mine,
                                         const std::vector<Contact>& contacts) {
  std::vector<RankProcessors> neighbours;
  for (const Contact& contact : contacts) {
    if (ShareMachine(contact, mine)) neighbours.push_back(contact.processors);
  }
  return neighbours;
}

int ReadTrialRank(const Contact& mine, const std::vector<Contact>& contacts,
                  bool shares_processor) {
  int found = -1;
  for (size_t rank = 0; rank < contacts.size(); ++rank) {
    if (!ShareMachine(contacts[rank], mine)) continue;
    const Reads reads = contacts[rank].reads[shares_processor];
    if (IsKnown(reads)) return -1;
    if (reads == Reads::kUntried && found < 0) found = static_cast<int>(rank);
  }
  return found;
}

KnownReads KnownBy(const Status& trial, const ReadTimes& times) {
  const bool is_slower = trial.ok() && times.ring_us > rules::kRingOverPlain * times.plain_us;
  return {is_slower ? Reads::kPlain : Reads::kByRing, times};
}

KnownReads AgreedReads(const Contact& mine, const std::vector<Contact>& contacts,
                       const std::vector<KnownReads>& known) {
  for (size_t rank = 0; rank < contacts.size(); ++rank) {
    if (ShareMachine(contacts[rank], mine) && IsKnown(known[rank].reads)) return known[rank];
  }
  return {Reads::kUntried, ReadTimes()};
}

std::string Describe(const KnownReads& known) {
  if (!IsKnown(known.reads)) return "";
  const bool plain = known.reads == Reads::kPlain;
  const std::string ways[] = {"through io_uring", "by plain calls"};
  const std::string text = "TCP reads " + ways[plain] + ": ";
  const long us[] = {std::lround(known.times.ring_us), std::lround(known.times.plain_us)};
  if (us[0] + us[1] == 0) return text + "not measured";
  return text + "a segment takes " + std::to_string(us[plain]) + " us, " + ways[!plain] + " " +
         std::to_string(us[!plain]) + " us";
}

}  // namespace brigade::tcp
