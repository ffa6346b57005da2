// WindowProcess: one rank of a job whose ranks are processes, with a window.

#ifndef BRIGADE_TEST_WINDOWS_WINDOW_PROCESS_H_
#define BRIGADE_TEST_WINDOWS_WINDOW_PROCESS_H_

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"
#include "transport/shm/shm_transport.h"
#include "transport/tcp/tcp_transport.h"
#include "windows/core/window.h"
#include "windows/message/window_space.h"

namespace brigade {

// How ranks reach each other.
struct ProcessSetup {
  std::string name;
  bool over_tcp;
  bool goes_directly;
  WindowMemory kind;
};

// It ends without more ado, as its process does.
struct WindowProcess {
  static constexpr int64_t kSlots = 9000;  // longer than what goes over TCP unasked

  WindowProcess(const ProcessSetup& setup, Bootstrap* bootstrap, int64_t slots = kSlots)
      : memory(static_cast<size_t>(slots)) {
    TcpOptions loopback;
    loopback.interface = "lo";
    Require(setup.over_tcp ? CreateTcpEndpoint(loopback, &endpoint) : CreateShmEndpoint(&endpoint));
    Require(Engine::Create(endpoint.get(), EngineOptions(), &engine));
    Require(WindowSpace::Create(engine.get(), &space));
    WindowOptions options;
    options.kind = setup.kind;
    options.bytes = memory.size() * sizeof(int64_t);
    options.unit = sizeof(int64_t);
    options.goes_directly = setup.goes_directly;
    if (setup.kind == WindowMemory::kPrivate) {
      options.memory = reinterpret_cast<std::byte*>(memory.data());
    }
    Require(Window::Create(space.get(), bootstrap, options, &window));
  }
  static void Require(const Status& status) {
    if (status.ok()) return;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    _exit(2);
  }

  std::vector<int64_t> memory;
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<WindowSpace> space;
  std::unique_ptr<Window> window;
};

}  // namespace brigade

#endif  // BRIGADE_TEST_WINDOWS_WINDOW_PROCESS_H_
