#include "windows/api/window_handle.h"

#include <utility>

#include "patterns/api/handles.h"
#include "patterns/group/group_agreement.h"
#include "patterns/group/group_bootstrap.h"

namespace brigade {
namespace {

Status MakeSpace(brigade_engine* engine) {
  if (engine->window_space != nullptr) return Status();
  std::unique_ptr<WindowSpace> space;
  BRIGADE_RETURN_IF_ERROR(WindowSpace::Create(engine->engine.get(), &space));
  engine->window_space = std::move(space);
  return Status();
}

}  // namespace

Status MakeInSpace(brigade_group* group,
                   const std::function<Status(WindowSpace*, Bootstrap*)>& make) {
  return GroupBootstrap::Use(group->group.get(), [&](Bootstrap* bootstrap) -> Status {
    BRIGADE_RETURN_IF_ERROR(AgreeOnOutcome(bootstrap, MakeSpace(group->engine)));
    return make(static_cast<WindowSpace*>(group->engine->window_space.get()), bootstrap);
  });
}

}  // namespace brigade
