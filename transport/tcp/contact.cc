#include "transport/tcp/contact.h"

#include <cstring>
#include <string>

namespace brigade::tcp {

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
    if (std::strcmp(contact.host.boot_id, mine.host.boot_id) == 0 &&
        contact.host.user == mine.host.user) {
      neighbours.push_back(contact.processors);
    }
  }
  return neighbours;
}

}  // namespace brigade::tcp
