// The C interface: unwrap, call, convert the error.

#include "brigade/brigade.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "membuf/version.h"
#include "patterns/api/handles.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "patterns/settings/settings.h"
#include "patterns/trace/trace.h"
#include "transport/host/variables.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/registry.h"

struct brigade_group {
  std::unique_ptr<brigade::Group> group;
};

struct brigade_operation {
  std::vector<brigade::Matrix> portions;
  std::unique_ptr<brigade::Operation> operation;
};

namespace {

using brigade::Status;
using brigade::StatusCode;
using brigade::ToC;
using brigade::Translate;

Status ToScope(int c, brigade::ChannelKind* scope) {
  using brigade::ChannelKind;
  constexpr ChannelKind kScopesInC[] = {ChannelKind::kAll, ChannelKind::kRow, ChannelKind::kColumn,
                                        ChannelKind::kAll};
  return Translate("scope", c, kScopesInC, scope);
}

Status ToMatrix(const brigade_matrix& c, brigade::ElementType type, brigade::Matrix* matrix) {
  matrix->data = static_cast<std::byte*>(c.data);
  return brigade::StridedLayout::General(c.rows, c.cols, c.ld == 0 ? c.rows : c.ld,
                                         brigade::ElementBytes(type), &matrix->layout);
}

Status ToCall(const brigade::Group& group, const brigade_call& c, brigade::PatternCall* call,
              std::vector<brigade::Matrix>* portions) {
  using brigade::CombineOp;
  using brigade::ElementType;
  using brigade::Pattern;
  using brigade::Shape;
  constexpr Pattern kPatternsInC[] = {
      Pattern::kSend,      Pattern::kReceive,        Pattern::kBroadcast,   Pattern::kReduce,
      Pattern::kAllReduce, Pattern::kMultiBroadcast, Pattern::kMultiReduce, Pattern::kBarrier};
  constexpr ElementType kTypesInC[] = {ElementType::kDouble,       ElementType::kFloat,
                                       ElementType::kInt32,        ElementType::kInt64,
                                       ElementType::kComplexFloat, ElementType::kComplexDouble};
  constexpr CombineOp kOpsInC[] = {CombineOp::kSum, CombineOp::kAbsMax, CombineOp::kAbsMin};
  constexpr Shape kShapesInC[] = {
      Shape::kTree,      Shape::kIncreasingRings, Shape::kDecreasingRings,
      Shape::kSplitRing, Shape::kHypercube,       Shape::kFree,
      Shape::kDealt,     Shape::kTwoTree,         Shape::kCirculant};
  BRIGADE_RETURN_IF_ERROR(Translate("pattern", c.pattern, kPatternsInC, &call->pattern));
  BRIGADE_RETURN_IF_ERROR(ToScope(c.scope, &call->scope));
  BRIGADE_RETURN_IF_ERROR(Translate("type", c.type, kTypesInC, &call->type));
  BRIGADE_RETURN_IF_ERROR(Translate("op", c.op, kOpsInC, &call->op));
  BRIGADE_RETURN_IF_ERROR(Translate("shape", c.shape, kShapesInC, &call->topology.shape));
  call->topology.parameter = c.parameter != 0 ? c.parameter : (c.shape == BRIGADE_TREE ? 2 : 1);
  call->root = c.root;
  call->locations = c.locations;
  call->decreasing = c.decreasing != 0;
  call->timeout_seconds = c.timeout_seconds;
  if (brigade::HasMatrix(call->pattern)) {
    BRIGADE_RETURN_IF_ERROR(ToMatrix(c.matrix, call->type, &call->matrix).WithContext("matrix"));
  }
  if (brigade::EntryOf(call->pattern).multi && c.portions != nullptr) {
    portions->resize(group.ScopeSize(call->scope));
    for (size_t q = 0; q < portions->size(); ++q) {
      BRIGADE_RETURN_IF_ERROR(ToMatrix(c.portions[q], call->type, &(*portions)[q])
                                  .WithContext("portion " + std::to_string(q)));
    }
    call->portions = portions->data();
  }
  return Status();
}

void ToC(const brigade::OperationStatistics& from, brigade_statistics* to) {
  if (to == nullptr) return;
  to->messages_sent = from.messages_sent;
  to->bytes_sent = from.bytes_sent;
  to->pieces = from.pieces;
  to->copies = from.copies;
  to->bytes_copied = from.bytes_copied;
  to->combines = from.combines;
  to->bytes_combined = from.bytes_combined;
  to->overflow_pieces = from.overflow_pieces;
  to->peak_staging_bytes = from.peak_staging_bytes;
  to->wait_ns = from.wait_ns;
}

// The variables of the environment. A topology by name stays unless they say otherwise.
Status ReadEnvironment(brigade::Settings* settings) {
  settings->engine.topology_is_hint = false;
  return ReadSettings(settings);
}

Status StartTrace(const std::string& file, bool* traces) {
  const brigade::JobPosition position = brigade::PositionInJob();
  BRIGADE_RETURN_IF_ERROR(brigade::Trace::Start(file, position.rank, position.ranks));
  *traces = true;
  return Status();
}

Status CreateEngine(const brigade_options& options, brigade_engine* engine) {
  brigade::Settings settings;
  BRIGADE_RETURN_IF_ERROR(ReadEnvironment(&settings));
  if (options.transport != nullptr) {
    BRIGADE_RETURN_IF_ERROR(brigade::CreateEndpoint(options.transport, &engine->endpoint));
  } else {
    BRIGADE_RETURN_IF_ERROR(brigade::CreateEndpoint(settings.transport, &engine->endpoint));
  }
  if (brigade::PositionInJob().rank == 0) brigade::WarnOfUnknownVariables();
  brigade::EngineOptions& in_force = settings.engine;
  in_force.chunk_bytes = options.chunk_bytes;
  in_force.staging_bytes = options.staging_bytes;
  in_force.overflow_bytes = options.overflow_bytes;
  in_force.overflow_wait_seconds = options.overflow_wait_seconds;
  in_force.calibrate = options.calibrate != 0 ? brigade::EngineOptions::Calibrate::kIfUnknown
                                              : brigade::EngineOptions::Calibrate::kNever;
  in_force.explain = options.explain != 0;
  BRIGADE_RETURN_IF_ERROR(
      brigade::Engine::Create(engine->endpoint.get(), in_force, &engine->engine));
  engine->checks_windows = options.check_windows != 0;
  if (options.trace_file != nullptr) return StartTrace(options.trace_file, &engine->traces);
  // A timeline of the BLACS, which read the same variable, has this engine's events, too.
  if (settings.trace.empty() || brigade::Trace::current() != nullptr) return Status();
  return StartTrace(settings.trace, &engine->traces).WithContext("BRIGADE_TRACE");
}

}  // namespace

const char* brigade_status_name(brigade_status status) {
  constexpr StatusCode kCodes[] = {
      StatusCode::kOk,          StatusCode::kNoResource,  StatusCode::kInvalidArgument,
      StatusCode::kOutOfMemory, StatusCode::kTimedOut,    StatusCode::kPeerLost,
      StatusCode::kMismatch,    StatusCode::kUnavailable, StatusCode::kInternal,
      StatusCode::kAborted};
  StatusCode code = StatusCode::kInternal;
  if (!Translate("status", status, kCodes, &code).ok()) return "unknown";
  return brigade::StatusCodeName(code);
}

const char* brigade_error_text(void) { return brigade::ErrorText().c_str(); }

const char* brigade_version(void) { return BRIGADE_VERSION; }

void brigade_options_init(brigade_options* options) {
  brigade::Settings settings;
  (void)ReadEnvironment(&settings);  // brigade_engine_create says what is bad
  options->transport = nullptr;
  options->chunk_bytes = settings.engine.chunk_bytes;
  options->staging_bytes = settings.engine.staging_bytes;
  options->overflow_bytes = settings.engine.overflow_bytes;
  options->overflow_wait_seconds = settings.engine.overflow_wait_seconds;
  options->trace_file = nullptr;
  options->calibrate = settings.engine.calibrate != brigade::EngineOptions::Calibrate::kNever;
  options->explain = settings.engine.explain;
  options->check_windows = settings.check_windows;
}

brigade_status brigade_engine_create(const brigade_options* options, brigade_engine** engine) {
  brigade_options defaults;
  brigade_options_init(&defaults);
  auto created = std::make_unique<brigade_engine>();
  const Status status = CreateEngine(options == nullptr ? defaults : *options, created.get());
  if (!status.ok()) return ToC(status);
  *engine = created.release();
  return BRIGADE_OK;
}

void brigade_engine_destroy(brigade_engine* engine) {
  const bool traces = engine != nullptr && engine->traces;
  delete engine;
  if (!traces) return;
  const Status written = brigade::Trace::Stop();
  if (!written.ok()) std::fprintf(stderr, "brigade: %s\n", written.message().c_str());
}

void brigade_progress(brigade_engine* engine) { (void)engine->engine->Progress(); }

brigade_status brigade_group_create(brigade_engine* engine, int mpi_comm, int rows, int cols,
                                    brigade_group** group) {
  std::unique_ptr<brigade::Bootstrap> bootstrap;
  Status status = brigade::CreateBootstrap(mpi_comm, &bootstrap);
  if (!status.ok()) return ToC(status);
  auto created = std::make_unique<brigade_group>();
  status =
      brigade::Group::Create(engine->engine.get(), bootstrap.get(), rows, cols, &created->group);
  if (!status.ok()) return ToC(status);
  *group = created.release();
  return BRIGADE_OK;
}

void brigade_group_destroy(brigade_group* group) { delete group; }

brigade_status brigade_group_error(const brigade_group* group) {
  return ToC(group->group->failure());
}

void brigade_group_abort(brigade_group* group, const char* text) {
  group->group->Abort(text == nullptr ? "" : text);
}

int brigade_scope_size(const brigade_group* group, brigade_scope scope) {
  brigade::ChannelKind kind;
  return ToScope(scope, &kind).ok() ? group->group->ScopeSize(kind) : -1;
}

int brigade_scope_rank(const brigade_group* group, brigade_scope scope) {
  brigade::ChannelKind kind;
  return ToScope(scope, &kind).ok() ? group->group->ScopeRank(kind) : -1;
}

brigade_status brigade_run(brigade_group* group, const brigade_call* c,
                           brigade_statistics* statistics) {
  brigade::PatternCall call;
  std::vector<brigade::Matrix> portions;
  Status status = ToCall(*group->group, *c, &call, &portions);
  if (!status.ok()) return ToC(status);
  brigade::OperationStatistics done;
  status = group->group->Run(call, statistics == nullptr ? nullptr : &done);
  ToC(done, statistics);
  return ToC(status);
}

brigade_status brigade_start(brigade_group* group, const brigade_call* c,
                             brigade_operation** operation) {
  brigade::PatternCall call;
  auto created = std::make_unique<brigade_operation>();
  Status status = ToCall(*group->group, *c, &call, &created->portions);
  if (!status.ok()) return ToC(status);
  status = group->group->Start(call, &created->operation);
  if (!status.ok()) return ToC(status);
  *operation = created.release();
  return BRIGADE_OK;
}

int brigade_test(brigade_operation* operation) {
  return operation == nullptr || operation->operation->Test() ? 1 : 0;
}

brigade_status brigade_wait(brigade_operation* operation, brigade_statistics* statistics) {
  if (operation == nullptr) {
    ToC(brigade::OperationStatistics(), statistics);
    return BRIGADE_OK;
  }
  const std::unique_ptr<brigade_operation> ended(operation);
  brigade::OperationStatistics done;
  const Status status = ended->operation->Wait(statistics == nullptr ? nullptr : &done);
  ToC(done, statistics);
  return ToC(status);
}

void* brigade_alloc(size_t bytes) {
  void* memory = nullptr;
  Status status = brigade::SharedAllocations::Here().Allocate(bytes, &memory);
  if (status.code() == StatusCode::kUnavailable) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const int failure = posix_memalign(&memory, page, std::max(bytes, size_t{1}));
    status = failure == 0 ? Status() : Status(StatusCode::kOutOfMemory, std::strerror(failure));
  }
  if (status.ok()) return memory;
  (void)ToC(status);
  return nullptr;
}

void brigade_free(void* memory) {
  if (!brigade::SharedAllocations::Here().Free(memory)) std::free(memory);
}
