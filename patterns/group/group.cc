#include "patterns/group/group.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/executor.h"
#include "patterns/engine/group_state.h"
#include "patterns/group/calibration.h"
#include "patterns/group/call_check.h"
#include "patterns/group/call_topology.h"
#include "patterns/group/group_agreement.h"
#include "patterns/group/group_scopes.h"
#include "patterns/group/host_numbers.h"
#include "patterns/group/normal_form.h"
#include "patterns/group/ranks_per_processor.h"
#include "patterns/model/machine_cache.h"
#include "patterns/short_path/edge_port.h"
#include "patterns/short_path/post_port.h"
#include "patterns/short_path/short_path.h"

namespace brigade {
namespace {

// On one channel. A call whose messages are there already looks at nothing else.
constexpr uint64_t kCallsPerLook = 128;

constexpr char kMeasured[] = "measured: among the ranks of a group";
// Of what is kept in files; to be raised when measurements change.
constexpr char kMeasurementFormat[] = "5";

}  // namespace

Status Group::Create(Engine* engine, Bootstrap* bootstrap, int rows, int cols,
                     std::unique_ptr<Group>* group) {
  const AgreedSettings mine(engine->options(), engine->endpoint()->capabilities().name, rows, cols);
  BRIGADE_RETURN_IF_ERROR(CheckAgreement(bootstrap, mine));
  if (rows < 1 || cols < 1 || rows > bootstrap->size() / cols || rows * cols != bootstrap->size()) {
    return Status(StatusCode::kInvalidArgument,
                  "a grid of " + std::to_string(rows) + " x " + std::to_string(cols) +
                      " does not fit a group of " + std::to_string(bootstrap->size()) + " ranks");
  }

  auto state = std::make_unique<GroupState>();
  SetScopes(rows, cols, bootstrap->rank(), state.get());
  Status opened;
  {
    // From here on nobody waits for what a member does first: all are here.
    const Engine::Turn turn(engine);
    opened = engine->endpoint()->OpenGroup(bootstrap, &state->id);
    if (opened.ok()) {
      engine->ListenTo(state.get());
      engine->AskWhetherHelperMayDrive();
      SetEdgeConfigs(*engine->endpoint(), engine->options(), state.get());
      state->edges = engine->endpoint()->edges();
    }
  }
  if (opened.ok()) group->reset(new Group(engine, std::move(state)));
  Status status = AgreeOnOutcome(bootstrap, opened);
  if (!status.ok()) group->reset();
  BRIGADE_RETURN_IF_ERROR(status);
  GroupState* const made = (*group)->state_.get();
  // Simulated ranks have processors of their own.
  const bool real = engine->endpoint()->simulated_processor() == nullptr;
  if (real && rows * cols > 2 && made->scope(ChannelKind::kAll).shares_memory()) {
    const RankProcessors mine_processors = RankProcessors::Here();
    std::vector<RankProcessors> all(made->members());
    status = bootstrap->AllGather(&mine_processors, sizeof(mine_processors), all.data());
    if (!status.ok()) group->reset();
    BRIGADE_RETURN_IF_ERROR(status);
    made->crowded = RanksPerProcessor(all) > 1;
  }
  const auto calibrate = engine->options().calibrate;
  if (calibrate == EngineOptions::Calibrate::kNever || rows * cols == 1) return Status();
  if (calibrate == EngineOptions::Calibrate::kIfUnknown &&
      (*group)->state_->scope(ChannelKind::kAll).shares_memory()) {
    return Status();
  }
  status = (*group)->FindMachine(bootstrap);
  if (!status.ok()) group->reset();
  return status;
}

// Known by rank 0, or else measured by all.
Status Group::FindMachine(Bootstrap* bootstrap) {
  const RankHost mine = RankHost::Here();
  std::vector<RankHost> all(state_->members());
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), all.data()));
  state_->host_of = NumberHosts(all);
  const int hosts = 1 + *std::max_element(state_->host_of.begin(), state_->host_of.end());
  const std::string key =
      std::string(kMeasurementFormat) + " " + transport() + " " + DescribeHosts(all);
  const bool look = engine_->options().calibrate == EngineOptions::Calibrate::kIfUnknown;
  if (look && hosts == 1) return Status();

  MachineDescription found;
  std::string text;
  std::shared_ptr<const MachineDescription>& known = (*engine_->machines())[key];
  if (look && rank() == 0 && (known != nullptr || LoadMachine(key, &found))) {
    if (known != nullptr) found = *known;
    found.about = kMeasured;
    text = found.ToJson(kMeasured);
  }
  BRIGADE_RETURN_IF_ERROR(AgreeOnOutcome(bootstrap, TellText(&text)));
  if (text.empty()) {
    bool measured = false;
    BRIGADE_RETURN_IF_ERROR(Calibrate(this, bootstrap, state_->host_of, &found, &measured));
    if (!measured) return Status();
    found.about = kMeasured;
    if (rank() == 0) StoreMachine(key, found);
  } else {
    BRIGADE_RETURN_IF_ERROR(
        AgreeOnOutcome(bootstrap, MachineDescription::Parse(text, "rank 0", &found)));
  }
  known = state_->machine = std::make_shared<const MachineDescription>(std::move(found));
  return Status();
}

Status Group::TellText(std::string* text) {
  uint64_t bytes = text->size();
  PatternCall call;
  call.pattern = Pattern::kBroadcast;
  for (const bool length : {true, false}) {
    if (!length) text->resize(bytes);
    const auto elems = static_cast<int64_t>(length ? sizeof(bytes) : bytes);
    call.matrix.data =
        length ? reinterpret_cast<std::byte*>(&bytes) : reinterpret_cast<std::byte*>(text->data());
    BRIGADE_RETURN_IF_ERROR(StridedLayout::General(elems, 1, elems, 1, &call.matrix.layout));
    BRIGADE_RETURN_IF_ERROR(Run(call));
  }
  return Status();
}

Group::Group(Engine* engine, std::unique_ptr<GroupState> state)
    : engine_(engine), state_(std::move(state)) {}

Group::~Group() {
  const Engine::Turn turn(engine_);
  engine_->RemoveGroup(std::move(state_));
}

const char* Group::transport() const { return state_->capabilities->name; }
bool Group::goes_by_host() const { return state_->scope(ChannelKind::kAll).goes_by_host(); }
const Capabilities& Group::capabilities() const { return *state_->capabilities; }
const MachineDescription* Group::machine() const { return state_->machine.get(); }
int Group::rank() const { return state_->rank; }
int Group::rows() const { return state_->rows; }
int Group::cols() const { return state_->cols; }
int Group::ScopeSize(ChannelKind scope) const { return state_->scope(scope).size; }
int Group::ScopeRank(ChannelKind scope) const { return state_->scope(scope).rank; }
Status Group::failure() const {
  const Engine::Turn turn(engine_);
  return LookAround();
}
Status Group::LookAround() const {
  engine_->Move();
  return state_->failure;
}
void Group::Abort(const std::string& text) {
  const Engine::Turn turn(engine_);
  const brigade::Abort cause{state_->rank, StatusCode::kAborted, {}, 0, text};
  engine_->BreakGroup(state_.get(), cause.ToStatus(), cause);
}

void Group::Choose(PatternCall* call) const {
  ChooseTopology(engine_->options(), state_.get(), call);
}

std::vector<Candidate> Group::Candidates(const PatternCall& call, double late_us) const {
  return CandidatesOf(*state_, call, late_us);
}

Cost Group::Predict(const PatternCall& call) const { return PredictCall(*state_, call); }

const PatternCall& Group::Normal(const PatternCall& call, std::optional<PatternCall>* copy) const {
  const bool is_free = call.topology.shape == Shape::kFree;
  return NormalForm(is_free ? WithTopology(engine_->options(), state_.get(), call, copy) : call,
                    copy);
}

Status Group::Begin(const PatternCall& call, Beginning* beginning) {
  if (!state_->failure.ok()) return state_->failure;
  const ChannelKind kind = ChannelOf(call);
  const CatalogueEntry& entry = EntryOf(call.pattern);
  const Scope& scope = state_->scope(kind);
  BRIGADE_RETURN_IF_ERROR(CheckCall(entry, call, scope.size, scope.rank));
  beginning->entry = &entry;
  beginning->schedule =
      state_->schedules.Find(entry, call, scope, *engine_->endpoint(), state_->id);
  beginning->sequence = &state_->scope_sequence[static_cast<int>(kind)];
  if (!IsPair(call.pattern)) return Status();
  if (state_->config_to.empty())
    PrepareForPairs(*engine_->endpoint(), engine_->options(), state_.get());
  if (call.pattern == Pattern::kSend) beginning->sequence = &state_->send_sequence[call.root];
  if (call.pattern == Pattern::kReceive) {
    beginning->sequence = &state_->receive_sequence[call.root];
  }
  return Status();
}

Status Group::Run(const PatternCall& given, OperationStatistics* statistics) {
  std::optional<PatternCall> copy;
  const PatternCall& call = Normal(given, &copy);
  const Engine::Turn turn(engine_);
  Beginning beginning;
  BRIGADE_RETURN_IF_ERROR(Begin(call, &beginning));
  if (*beginning.sequence % kCallsPerLook == kCallsPerLook - 1) {
    BRIGADE_RETURN_IF_ERROR(LookAround());
  }
  Status status;
  engine_->CountWaits(statistics != nullptr);
  const auto count = [&](const OperationStatistics& did) {
    if (statistics == nullptr) return;
    *statistics = did;
    statistics->wait_ns = static_cast<uint64_t>(engine_->waited().count());
  };
  const auto runs = [&](auto&& path) {
    if (!path.Fits(*beginning.schedule)) return false;
    status = path.Run(*beginning.schedule, (*beginning.sequence)++);
    count(path.statistics());
    return true;
  };
  if ((!state_->lines_to.empty() &&
       runs(ShortPath<EdgePort>(engine_, state_.get(), *beginning.entry, call))) ||
      runs(ShortPath<PostPort>(engine_, state_.get(), *beginning.entry, call))) {
    return status;
  }
  std::unique_ptr<Executor> executor = Executor::New(engine_);
  status = executor->Prepare(state_.get(), *beginning.entry, beginning.schedule, call,
                             *beginning.sequence, /*blocking=*/true);
  if (status.ok()) {
    ++*beginning.sequence;
    engine_->Activate(executor.get());
    engine_->RunToEnd(executor.get());
    engine_->Deactivate(executor.get());
    executor->Detach();
    status = executor->outcome();
    count(executor->statistics());
  }
  Executor::Keep(std::move(executor));
  return status;
}

Status Group::Start(const PatternCall& given, std::unique_ptr<Operation>* operation) {
  std::optional<PatternCall> copy;
  const PatternCall& call = Normal(given, &copy);
  const Engine::Turn turn(engine_);
  Beginning beginning;
  BRIGADE_RETURN_IF_ERROR(Begin(call, &beginning));
  std::unique_ptr<Executor> executor = Executor::New(engine_);
  const Status status = executor->Prepare(state_.get(), *beginning.entry, beginning.schedule, call,
                                          *beginning.sequence, /*blocking=*/false);
  if (!status.ok()) {
    Executor::Keep(std::move(executor));
    engine_->Move();  // so that to try again is all that it takes
    return status;
  }
  ++*beginning.sequence;
  engine_->Activate(executor.get());
  engine_->HurryHelper();
  engine_->Move();
  operation->reset(new Operation(engine_, std::move(executor)));
  return Status();
}

Operation::Operation(Engine* engine, std::unique_ptr<Executor> executor)
    : engine_(engine), executor_(std::move(executor)) {}

Operation::~Operation() {
  // The outcome is the group's failure too.
  (void)Wait();
}

bool Operation::Test() {
  if (executor_ == nullptr) return true;
  const Engine::Turn turn(engine_);
  engine_->Move();
  if (!executor_->done()) return false;
  Finish();
  return true;
}

Status Operation::Wait(OperationStatistics* statistics) {
  if (executor_ != nullptr) {
    const Engine::Turn turn(engine_);
    engine_->CountWaits(statistics != nullptr);
    engine_->RunToEnd(executor_.get());
    Finish();
    statistics_.wait_ns = static_cast<uint64_t>(engine_->waited().count());
  }
  if (statistics != nullptr) *statistics = statistics_;
  return outcome_;
}

void Operation::Finish() {
  engine_->Deactivate(executor_.get());
  executor_->Detach();
  outcome_ = executor_->outcome();
  statistics_ = executor_->statistics();
  Executor::Keep(std::move(executor_));
}

}  // namespace brigade
