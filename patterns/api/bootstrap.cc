// The C interface: groups without MPI.

#include "transport/bootstrap.h"

#include <memory>

#include "brigade/group.h"
#include "membuf/status.h"
#include "patterns/api/handles.h"
#include "patterns/api/sized.h"
#include "patterns/group/group.h"
#include "transport/bootstrap/callback_bootstrap.h"
#include "transport/bootstrap/tcp_bootstrap.h"

using brigade::CheckPointer;
using brigade::Enter;
using brigade::Status;

struct brigade_bootstrap {
  std::unique_ptr<brigade::Bootstrap> bootstrap;
};

namespace {

template <typename Make>
brigade_status MakeBootstrap(brigade_bootstrap** bootstrap, const Make& make) {
  return Enter(nullptr, [&] {
    return brigade::MakeObject("bootstrap", bootstrap,
                               [&](brigade_bootstrap* made) { return make(&made->bootstrap); });
  });
}

Status ToOptions(const brigade_bootstrap_options* given, brigade::TcpBootstrapOptions* options) {
  if (given == nullptr) return Status();
  brigade_bootstrap_options read;
  BRIGADE_RETURN_IF_ERROR(brigade::ReadSized("brigade_bootstrap_options", *given, &read));
  if (read.job != nullptr) options->job = read.job;
  if (read.secret != nullptr) options->secret = read.secret;
  if (read.timeout_seconds != 0) options->time_limit_seconds = read.timeout_seconds;
  return Status();
}

}  // namespace

brigade_status brigade_bootstrap_callback(brigade_allgather_callback allgather, void* context,
                                          int rank, int size, brigade_bootstrap** bootstrap) {
  return MakeBootstrap(bootstrap, [&](std::unique_ptr<brigade::Bootstrap>* made) {
    return brigade::CallbackBootstrap::Create(rank, size, allgather, context, made);
  });
}

brigade_status brigade_bootstrap_tcp(const char* address, int rank, int size,
                                     const brigade_bootstrap_options* options,
                                     brigade_bootstrap** bootstrap) {
  return MakeBootstrap(bootstrap, [&](std::unique_ptr<brigade::Bootstrap>* made) -> Status {
    brigade::TcpBootstrapOptions how;
    BRIGADE_RETURN_IF_ERROR(CheckPointer("address", address));
    BRIGADE_RETURN_IF_ERROR(ToOptions(options, &how));
    return brigade::TcpBootstrap::Create(address, rank, size, how, made);
  });
}

void brigade_bootstrap_destroy(brigade_bootstrap* bootstrap) { delete bootstrap; }

brigade_status brigade_group_from_bootstrap(brigade_engine* engine, brigade_bootstrap* bootstrap,
                                            int rows, int cols, brigade_group** group) {
  return Enter(nullptr, [&]() -> Status {
    if (group != nullptr) *group = nullptr;
    BRIGADE_RETURN_IF_ERROR(CheckPointer("bootstrap", bootstrap));
    return brigade::MakeGroup(engine, bootstrap->bootstrap.get(), rows, cols, group);
  });
}
