#include "patterns/eager/call_wait.h"

namespace brigade {

std::string CallWait::Describe() const {
  return engine->Describe(*entry, sequence, *group, kind, /*detail=*/"", peer);
}

Status CallWait::Break(const Status& status) {
  engine->BreakGroup(group, status.WithContext(Describe()),
                     {group->rank, status.code(), entry->pattern, sequence, status.message()});
  return group->failure;
}

}  // namespace brigade
