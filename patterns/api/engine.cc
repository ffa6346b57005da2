// The C interface: the engine.

#include "brigade/engine.h"

#include <cstdio>
#include <string>

#include "patterns/api/handles.h"
#include "patterns/api/sized.h"
#include "patterns/engine/engine.h"
#include "patterns/settings/settings.h"
#include "patterns/trace/trace.h"
#include "transport/host/variable_names.h"
#include "transport/registry/registry.h"

namespace {

using brigade::EngineOptions;
using brigade::Status;
using brigade::Translate;

// The variables of the environment. A topology by name stays unless they say otherwise.
Status ReadEnvironment(brigade::Settings* settings) {
  settings->engine.topology_is_hint = false;
  return ReadSettings(settings);
}

// A switch of the program goes before the environment's.
Status Overrule(const char* name, brigade_switch given, bool* in_force) {
  const bool kValues[] = {*in_force, true, false};
  return Translate(name, given, kValues, in_force);
}

template <typename Value>
void Overrule(Value given, Value* in_force) {
  if (given != Value()) *in_force = given;
}

// The options of the program go before the environment's.
Status Overrule(const brigade_options& options, brigade::Settings* settings) {
  EngineOptions& engine = settings->engine;
  if (options.transport != nullptr) settings->transport = options.transport;
  Overrule(options.chunk_bytes, &engine.chunk_bytes);
  Overrule(options.staging_bytes, &engine.staging_bytes);
  Overrule(options.overflow_bytes, &engine.overflow_bytes);
  if (!(options.overflow_wait_seconds >= 0)) {  // or it is no number
    return brigade::Invalid("brigade_options::overflow_wait_seconds is " +
                            std::to_string(options.overflow_wait_seconds) +
                            ": it must be 0 or more");
  }
  Overrule(options.overflow_wait_seconds, &engine.overflow_wait_seconds);
  bool calibrate = engine.calibrate != EngineOptions::Calibrate::kNever;
  BRIGADE_RETURN_IF_ERROR(Overrule("calibrate", options.calibrate, &calibrate));
  engine.calibrate =
      calibrate ? EngineOptions::Calibrate::kIfUnknown : EngineOptions::Calibrate::kNever;
  BRIGADE_RETURN_IF_ERROR(Overrule("explain", options.explain, &engine.explain));
  return Overrule("check_windows", options.check_windows, &settings->check_windows);
}

Status StartTrace(const std::string& file, bool* traces) {
  const brigade::JobPosition position = brigade::PositionInJob();
  BRIGADE_RETURN_IF_ERROR(brigade::Trace::Start(file, position.rank, position.ranks));
  *traces = true;
  return Status();
}

Status CreateEngine(const brigade_options* given, brigade_engine* engine) {
  brigade_options options = brigade_options_init();
  if (given != nullptr) {
    BRIGADE_RETURN_IF_ERROR(brigade::ReadSized("brigade_options", *given, &options));
    BRIGADE_RETURN_IF_ERROR(brigade::CheckReserved("brigade_options", options.reserved));
  }
  brigade::Settings settings;
  BRIGADE_RETURN_IF_ERROR(ReadEnvironment(&settings));
  BRIGADE_RETURN_IF_ERROR(Overrule(options, &settings));
  BRIGADE_RETURN_IF_ERROR(brigade::CreateEndpoint(settings.transport, &engine->endpoint));
  if (brigade::PositionInJob().rank <= 0) brigade::PrintSettingWarnings();
  BRIGADE_RETURN_IF_ERROR(
      brigade::Engine::Create(engine->endpoint.get(), settings.engine, &engine->engine)
          .WithContext("brigade_options::staging_bytes (BRIGADE_STAGING_BYTES) " +
                       std::to_string(settings.engine.staging_bytes) +
                       ", chunk_bytes (BRIGADE_CHUNK_BYTES) " +
                       std::to_string(settings.engine.chunk_bytes)));
  engine->checks_windows = settings.check_windows;
  const bool is_traced = options.trace_file != nullptr && *options.trace_file != '\0';
  if (is_traced) return StartTrace(options.trace_file, &engine->traces);
  // A timeline of the BLACS, which read the same variable, has this engine's events, too.
  if (settings.trace.empty() || brigade::Trace::current() != nullptr) return Status();
  return StartTrace(settings.trace, &engine->traces).WithContext("BRIGADE_TRACE");
}

}  // namespace

brigade_status brigade_engine_create(const brigade_options* options, brigade_engine** engine) {
  return brigade::Enter(nullptr, [&] {
    return brigade::MakeObject(
        "engine", engine, [&](brigade_engine* created) { return CreateEngine(options, created); });
  });
}

void brigade_engine_destroy(brigade_engine* engine) {
  const bool traces = engine != nullptr && engine->traces;
  delete engine;
  if (!traces) return;
  if (brigade::Enter(nullptr, &brigade::Trace::Stop) == BRIGADE_OK) return;
  std::fprintf(stderr, "brigade: %s\n", brigade_error_text());
}

void brigade_progress(brigade_engine* engine) {
  if (engine == nullptr) return;
  (void)brigade::Enter(nullptr, [&] {
    (void)engine->engine->Progress();
    return Status();
  });
}

brigade_status brigade_engine_fd(brigade_engine* engine, int* fd) {
  return brigade::Enter(nullptr, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(brigade::CheckPointer("engine", engine));
    BRIGADE_RETURN_IF_ERROR(brigade::CheckPointer("fd", fd));
    return engine->engine->OpenEvents(fd);
  });
}
