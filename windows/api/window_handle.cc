#include "windows/api/window_handle.h"

#include <utility>

#include "patterns/api/handles.h"
#include "patterns/group/group_agreement.h"
#include "transport/registry.h"

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

Status CheckPointer(const char* name, const void* pointer) {
  return pointer != nullptr ? Status() : Invalid(std::string(name) + " is a null pointer");
}

Status OpenSpace(brigade_engine* engine, int mpi_comm, std::unique_ptr<Bootstrap>* bootstrap,
                 WindowSpace** space) {
  BRIGADE_RETURN_IF_ERROR(CreateBootstrap(mpi_comm, bootstrap));
  BRIGADE_RETURN_IF_ERROR(AgreeOnOutcome(bootstrap->get(), MakeSpace(engine)));
  *space = static_cast<WindowSpace*>(engine->window_space.get());
  return Status();
}

}  // namespace brigade
