// Exchange: whoever is to have the result of a combine gets all contributions, and combines them in
// the order of a tree. One round of messages, and the bits of that tree. For ranks that share
// memory: there one copy serves all readers.

#ifndef BRIGADE_PATTERNS_CATALOGUE_EXCHANGE_H_
#define BRIGADE_PATTERNS_CATALOGUE_EXCHANGE_H_

#include "patterns/catalogue/compilers.h"
#include "patterns/schedule/schedule.h"

namespace brigade {

// Whether the ranks exchange contributions, where the topology is Shape::kExchange: where they do
// not they go along the tree.
bool Exchanges(const ScheduleParameters& p);

// REQUIRES: Exchanges(p).
Schedule ExchangeReduce(const ScheduleParameters& p);
Schedule ExchangeAllReduce(const ScheduleParameters& p);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CATALOGUE_EXCHANGE_H_
