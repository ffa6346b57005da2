#include "patterns/eager/call_wait.h"

#include "patterns/engine/out_of_memory.h"

namespace brigade {

std::string CallWait::Describe() const {
  return engine->Describe(*entry, sequence, *group, kind, /*detail=*/"", peer);
}

Status CallWait::Break(const Status& status) {
  const Status broken = CatchOutOfMemory([&] {
    engine->BreakGroup(group, status.WithContext(Describe()),
                       {group->rank, status.code(), entry->pattern, sequence, status.message()});
    return Status();
  });
  if (!broken.ok()) engine->BreakGroup(group, broken);
  return group->failure;
}

}  // namespace brigade
