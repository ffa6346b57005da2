#include "patterns/engine/shared_engine.h"

#include "transport/registry/registry.h"

namespace brigade {

Status SharedEngine::Acquire(const std::string& transport, const EngineOptions& options,
                             std::shared_ptr<SharedEngine>* engine) {
  // Not destroyed when the process ends: functions of atexit may still make an engine, or end one.
  static auto& current = *new std::weak_ptr<SharedEngine>;
  *engine = current.lock();
  if (*engine != nullptr) return Status();
  auto made = std::make_shared<SharedEngine>();
  BRIGADE_RETURN_IF_ERROR(
      CreateEndpoint(transport, &made->endpoint).WithContext("BRIGADE_TRANSPORT=" + transport));
  BRIGADE_RETURN_IF_ERROR(
      Engine::Create(made->endpoint.get(), options, &made->engine)
          .WithContext("BRIGADE_STAGING_BYTES=" + std::to_string(options.staging_bytes) +
                       ", BRIGADE_CHUNK_BYTES=" + std::to_string(options.chunk_bytes)));
  current = *engine = std::move(made);
  return Status();
}

}  // namespace brigade
