// SharedEngine: the engine that several libraries of a process have together, so that they share
// staging memory, connections and the progress thread: the BLACS, what stands above them, and LI.

#ifndef BRIGADE_PATTERNS_ENGINE_SHARED_ENGINE_H_
#define BRIGADE_PATTERNS_ENGINE_SHARED_ENGINE_H_

#include <memory>
#include <string>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/engine_options.h"
#include "transport/endpoint.h"

namespace brigade {

struct SharedEngine {
  // The one of this process, made if nobody holds it; it is gone with the last who does. Local. All
  // have their settings from the same environment, whose names are in the errors: what
  // CreateEndpoint and Engine::Create say. An engine has one progress owner at a time, so its
  // holders are called by one thread at a time.
  static Status Acquire(const std::string& transport, const EngineOptions& options,
                        std::shared_ptr<SharedEngine>* engine);

  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_SHARED_ENGINE_H_
