#include "patterns/engine/group.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "membuf/combine.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/calibration.h"
#include "patterns/engine/call_check.h"
#include "patterns/engine/edge_path.h"
#include "patterns/engine/executor.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/normal_form.h"
#include "patterns/engine/one_piece.h"
#include "patterns/model/choice.h"
#include "patterns/model/free_topology.h"
#include "patterns/model/machine_cache.h"
#include "transport/host/host.h"

namespace brigade {
namespace {

// Of the matrix, or of all portions together.
size_t BytesOf(const PatternCall& call, int ranks) {
  if (!EntryOf(call.pattern).multi) return call.matrix.layout.bytes();
  size_t bytes = 0;
  for (int q = 0; call.portions != nullptr && q < ranks; ++q) {
    bytes += call.portions[q].layout.bytes();
  }
  return bytes;
}

// What counts for the model: of the matrix, or of the longest portion, which all are cut like.
size_t LongestOf(const PatternCall& call, int ranks) {
  if (!EntryOf(call.pattern).multi) return call.matrix.layout.bytes();
  size_t bytes = 0;
  for (int q = 0; call.portions != nullptr && q < ranks; ++q) {
    bytes = std::max(bytes, call.portions[q].layout.bytes());
  }
  return bytes;
}

// What must be equal on all members. How long pieces are follows from it and from the transport
// that the group gets.
struct AgreedSettings {
  uint64_t format = 4;
  uint64_t chunk_bytes;
  uint64_t staging_bytes;
  char transport[24];
  uint64_t rows;
  uint64_t cols;
  uint64_t calibrate;
  uint64_t topology_is_hint;
};
static_assert(std::has_unique_object_representations_v<AgreedSettings>, "compared as bytes");

constexpr char kMeasured[] = "measured: among the ranks of a group";
// Of what is kept in files; to be raised when measurements change.
constexpr char kMeasurementFormat[] = "5";

Status CheckAgreement(Bootstrap* bootstrap, const AgreedSettings& mine) {
  AgreedSettings first{};
  AgreedSettings other{};
  int rank = -1;
  BRIGADE_RETURN_IF_ERROR(bootstrap->FindDifference(&mine, sizeof(mine), &rank, &first, &other));
  if (rank < 0) return Status();
  const auto differ = [&](const std::string& what, const std::string& zeros,
                          const std::string& theirs) {
    return Status(StatusCode::kMismatch, "the ranks of a group differ in " + what +
                                             ": rank 0 has " + zeros + ", rank " +
                                             std::to_string(rank) + " has " + theirs);
  };
  if (std::strcmp(first.transport, other.transport) != 0) {
    return differ("the transport", first.transport, other.transport);
  }
  const std::pair<const char*, uint64_t AgreedSettings::*> numbers[] = {
      {"the wire format", &AgreedSettings::format},
      {"chunk bytes", &AgreedSettings::chunk_bytes},
      {"staging bytes", &AgreedSettings::staging_bytes},
      {"rows", &AgreedSettings::rows},
      {"columns", &AgreedSettings::cols},
      {"whether to measure their edges", &AgreedSettings::calibrate},
      {"whether topologies are hints", &AgreedSettings::topology_is_hint}};
  const auto* number = numbers;
  while (first.*number->second == other.*number->second) ++number;
  return differ(number->first, std::to_string(first.*number->second),
                std::to_string(other.*number->second));
}

const Reach* ReachWith(const Engine& engine, const Capabilities& has, bool of_pairs,
                       GroupState* state) {
  for (const Reach& reach : state->reaches) {
    if (reach.capabilities == &has && reach.of_pairs == of_pairs) return &reach;
  }
  Reach reach;
  reach.capabilities = &has;
  reach.of_pairs = of_pairs;
  reach.settings = PieceSettingsFor(engine.options().chunk_bytes, engine.options().staging_bytes,
                                    has.preferred_piece_bytes);
  if (of_pairs) reach.settings = OfPairs(reach.settings);
  reach.settings.segment_bytes = has.segment_bytes;
  reach.settings.overlap_bytes = has.overlap_piece_bytes;
  reach.settings.piece_cost_bytes = has.piece_cost_bytes;
  if (has.line_bytes > 0 && state->lines_to.empty()) {
    state->lines_to.resize(state->members() * kChannelKinds);
    state->lines_from.resize(state->lines_to.size());
  }
  const size_t eager = has.eager_piece_bytes;
  if (eager != SIZE_MAX) reach.settings.eager_bytes = eager - std::min(eager, kHeaderBytes);
  reach.settings.ahead_bytes =
      has.first_piece_bytes - std::min(has.first_piece_bytes, kHeaderBytes);
  state->reaches.push_back(reach);
  return &state->reaches.back();
}

// Finds out where the members of the new group are, and what the transport can do between which of
// them. A scope all of whose ranks are on one host, or each on another, has edges of one kind.
void SetReaches(const Engine& engine, GroupState* state) {
  const Endpoint& endpoint = *engine.endpoint();
  state->capabilities = &endpoint.CapabilitiesOf(state->id);
  for (Scope& scope : state->scopes) {
    scope.hosts = endpoint.CountHosts(state->id, scope.first, scope.stride, scope.size);
    const int another = scope.GroupRank((scope.rank + 1) % scope.size);
    const bool one_kind = scope.hosts == 1 || scope.hosts == scope.size;
    scope.reach = ReachWith(
        engine, one_kind ? endpoint.CapabilitiesTo(state->id, another) : *state->capabilities,
        /*of_pairs=*/false, state);
  }
}

// Whether the members, all on one host, outnumber the processors that they may use.
Status FindWhetherCrowded(Bootstrap* bootstrap, bool* crowded) {
  struct Place {
    cpu_set_t processors;
    int64_t quota;
  };
  const Place mine{AllowedProcessors(), ProcessorQuota()};
  std::vector<Place> places(static_cast<size_t>(bootstrap->size()));
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), places.data()));
  Place all = places[0];
  for (const Place& place : places) {
    CPU_OR(&all.processors, &all.processors, &place.processors);
    all.quota = std::max(all.quota, place.quota);
  }
  *crowded = bootstrap->size() > std::min<int64_t>(CPU_COUNT(&all.processors), all.quota);
  return Status();
}

// What messages from point to point need, once there are any: it grows with the group.
void PrepareForPairs(const Engine& engine, GroupState* state) {
  state->send_sequence.resize(state->members());
  state->receive_sequence.resize(state->members());
  for (size_t peer = 0; peer < state->members(); ++peer) {
    const Capabilities& has = engine.endpoint()->CapabilitiesTo(state->id, static_cast<int>(peer));
    state->reach_to.push_back(ReachWith(engine, has, /*of_pairs=*/true, state));
  }
}

}  // namespace

Status Group::Create(Engine* engine, Bootstrap* bootstrap, int rows, int cols,
                     std::unique_ptr<Group>* group) {
  AgreedSettings mine{};
  const std::string transport = engine->endpoint()->capabilities().name;
  transport.copy(mine.transport, sizeof(mine.transport) - 1);
  mine.chunk_bytes = engine->options().chunk_bytes;
  mine.staging_bytes = engine->options().staging_bytes;
  mine.rows = static_cast<uint64_t>(rows);
  mine.cols = static_cast<uint64_t>(cols);
  mine.calibrate = static_cast<uint64_t>(engine->options().calibrate);
  mine.topology_is_hint = engine->options().topology_is_hint;
  BRIGADE_RETURN_IF_ERROR(CheckAgreement(bootstrap, mine));
  if (rows < 1 || cols < 1 || rows > bootstrap->size() / cols || rows * cols != bootstrap->size()) {
    return Status(StatusCode::kInvalidArgument,
                  "a grid of " + std::to_string(rows) + " x " + std::to_string(cols) +
                      " does not fit a group of " + std::to_string(bootstrap->size()) + " ranks");
  }

  auto state = std::make_unique<GroupState>();
  state->rows = rows;
  state->cols = cols;
  state->rank = bootstrap->rank();
  const int row = state->rank / cols;
  const int col = state->rank % cols;
  state->scopes[static_cast<int>(ChannelKind::kPointToPoint)] = {rows * cols, state->rank, 0, 1};
  state->scopes[static_cast<int>(ChannelKind::kAll)] = {rows * cols, state->rank, 0, 1};
  state->scopes[static_cast<int>(ChannelKind::kRow)] = {cols, col, row * cols, 1};
  state->scopes[static_cast<int>(ChannelKind::kColumn)] = {rows, row, col, cols};
  {
    // From here on nobody waits for what a member does first: all are here.
    const Engine::Turn turn(engine);
    BRIGADE_RETURN_IF_ERROR(engine->endpoint()->OpenGroup(bootstrap, &state->id));
    engine->AskWhetherHelperMayDrive();
    SetReaches(*engine, state.get());
  }
  group->reset(new Group(engine, std::move(state)));
  Status status;
  GroupState* const opened = (*group)->state_.get();
  // Simulated ranks have processors of their own.
  const bool real = engine->endpoint()->simulated_processor() == nullptr;
  if (real && rows * cols > 2 && opened->scope(ChannelKind::kAll).shares_memory()) {
    status = FindWhetherCrowded(bootstrap, &opened->crowded);
    if (!status.ok()) group->reset();
    BRIGADE_RETURN_IF_ERROR(status);
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
  struct HostName {
    char text[64] = {};
  };
  HostName mine;
  gethostname(mine.text, sizeof(mine.text) - 1);
  std::vector<HostName> names(state_->members());
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), names.data()));
  // The hosts in the order of their first ranks, and how many ranks in a row each has.
  std::map<std::string, int> numbers;
  std::string key = std::string(kMeasurementFormat) + " " + transport();
  size_t in_a_row = 0;
  for (size_t r = 0; r < names.size(); ++r) {
    const std::string name = names[r].text;
    state_->host_of.push_back(numbers.emplace(name, numbers.size()).first->second);
    ++in_a_row;
    if (r + 1 < names.size() && name == names[r + 1].text) continue;
    key += " " + name + " x" + std::to_string(in_a_row);
    in_a_row = 0;
  }
  const bool look = engine_->options().calibrate == EngineOptions::Calibrate::kIfUnknown;
  if (look && numbers.size() == 1) return Status();

  MachineDescription found;
  std::string text;
  std::shared_ptr<const MachineDescription>& known = engine_->machines_[key];
  if (look && rank() == 0 && (known != nullptr || LoadMachine(key, &found))) {
    if (known != nullptr) found = *known;
    found.about = kMeasured;
    text = found.ToJson(kMeasured);
  }
  BRIGADE_RETURN_IF_ERROR(TellText(&text));
  if (text.empty()) {
    bool measured = false;
    BRIGADE_RETURN_IF_ERROR(Calibrate(this, bootstrap, state_->host_of, &found, &measured));
    if (!measured) return Status();
    found.about = kMeasured;
    if (rank() == 0) StoreMachine(key, found);
  } else {
    BRIGADE_RETURN_IF_ERROR(MachineDescription::Parse(text, "rank 0", &found));
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
bool Group::goes_by_host() const {
  const Scope& all = state_->scope(ChannelKind::kAll);
  return all.hosts > 1 && all.hosts < all.size;
}
const Capabilities& Group::capabilities() const { return *state_->capabilities; }
const MachineDescription* Group::machine() const { return state_->machine.get(); }
int Group::rank() const { return state_->rank; }
int Group::rows() const { return state_->rows; }
int Group::cols() const { return state_->cols; }
int Group::ScopeSize(ChannelKind scope) const { return state_->scope(scope).size; }
int Group::ScopeRank(ChannelKind scope) const { return state_->scope(scope).rank; }
Status Group::failure() const {
  const Engine::Turn turn(engine_);
  return state_->failure;
}

const Schedule* Group::ScheduleOf(const PatternCall& call, ChannelKind kind) {
  const CatalogueEntry& entry = EntryOf(call.pattern);
  const Scope& scope = state_->scope(kind);
  // Blocks, and portions on a ring, wait for relay: not in another rank's memory, so some ranks
  // that share memory leave it to one of them.
  const bool circulant = call.topology.shape == Shape::kCirculant;
  const bool waits =
      scope.some_share_memory() && (call.pattern == Pattern::kBroadcast
                                        ? circulant
                                        : call.pattern == Pattern::kMultiBroadcast && !circulant);
  const bool by_host = scope.hosts > 1 && (waits || call.topology.by_host);
  const GroupState::ScheduleKey key = GroupState::ScheduleKey::Of(call, kind, by_host);
  GroupState::LastSchedule& last = state_->last_schedules[static_cast<int>(call.pattern)];
  if (last.schedule != nullptr && last.key == key) return last.schedule;
  std::unique_ptr<const Schedule>& schedule = state_->schedules[key];
  if (schedule == nullptr) {
    ScheduleParameters p;
    p.size = scope.size;
    p.rank = scope.rank;
    p.root = call.root;
    p.topology = call.topology;
    p.decreasing = call.decreasing;
    p.shares_memory = scope.shares_memory();
    p.some_share_memory = scope.some_share_memory();
    for (int r = 0; by_host && r < scope.size; ++r) {
      p.hosts.push_back(engine_->endpoint()->HostOf(state_->id, scope.GroupRank(r)));
    }
    schedule = std::make_unique<const Schedule>(entry.compile(p));
  }
  last = {key, schedule.get()};
  return schedule.get();
}

void Group::Choose(PatternCall* call) const {
  const bool named = call->topology.shape != Shape::kFree;
  if (named && !engine_->options().topology_is_hint) return;
  const Scope& scope = state_->scope(call->scope);
  const CatalogueEntry& entry = EntryOf(call->pattern);
  const bool order_free = !entry.combines || IsOrderFree(call->op, call->type);
  const bool by_model = state_->machine != nullptr && !scope.shares_memory();
  if (named && !(by_model && order_free && CheckTopology(call->pattern, call->topology).ok()))
    return;
  if (!named) {
    const Ranks ranks{scope.size, scope.hosts, scope.reach->capabilities, state_->crowded};
    call->topology = FreeTopology(call->pattern, ranks, BytesOf(*call, scope.size), order_free);
  }
  if (!by_model && !engine_->options().explain) return;
  const size_t bytes = LongestOf(*call, scope.size);
  const Latitude latitude = !order_free ? Latitude::kPieces
                            : named     ? Latitude::kHint
                                        : Latitude::kAll;
  const PieceSettings& settings = scope.reach->settings;
  // What an order depends on is in the key: it never is that of another call.
  const uint64_t key =
      static_cast<uint64_t>(call->pattern) | static_cast<uint64_t>(call->scope) << 4 |
      static_cast<uint64_t>(latitude) << 6 | static_cast<uint64_t>(call->topology.shape) << 8 |
      static_cast<uint64_t>(SizeClassOf(settings, bytes)) << 16 |
      static_cast<uint64_t>(call->topology.parameter) << 32;
  auto choice = state_->choices.find(key);
  if (choice == state_->choices.end()) {
    choice = state_->choices.emplace(key, Decide(*call, by_model, latitude)).first;
  }
  if (!by_model) return;
  call->topology = choice->second.topology;
  if (call->piece_bytes == 0) call->piece_bytes = choice->second.PieceBytes(bytes);
  if (IsTooShortToCut(*call)) call->topology = Topology();
}

CostQuery Group::QueryFor(const PatternCall& call, size_t bytes) const {
  const Scope& scope = state_->scope(call.scope);
  const CatalogueEntry& entry = EntryOf(call.pattern);
  CostQuery query;
  query.pattern = call.pattern;
  query.topology = call.topology;
  query.some_share_memory = scope.some_share_memory();
  query.ranks = scope.size;
  query.bytes = bytes;
  if (entry.multi && call.topology.shape == Shape::kFree) {  // they may go by host
    query.topology.by_host = scope.hosts > 1 && scope.hosts < scope.size &&
                             (!entry.combines || IsOrderFree(call.op, call.type));
  }
  query.elem_bytes = entry.combines ? ElementBytes(call.type) : 1;
  for (int r = 0; state_->machine != nullptr && r < scope.size; ++r) {
    query.hosts.push_back(state_->host_of[static_cast<size_t>(scope.GroupRank(r))]);
  }
  return query;
}

CostQuery Group::QueryAbout(const PatternCall& call) const {
  CostQuery query = QueryFor(call, LongestOf(call, state_->scope(call.scope).size));
  if (IsPair(call.pattern)) {
    query.ranks = 2;
    query.hosts = {state_->host_of[static_cast<size_t>(rank())],
                   state_->host_of[static_cast<size_t>(call.root)]};
  }
  return query;
}

std::vector<Candidate> Group::Candidates(const PatternCall& call, double late_us) const {
  if (state_->machine == nullptr) return {};
  const bool has_peer = call.root >= 0 && call.root < ScopeSize(ChannelKind::kPointToPoint);
  if (IsPair(call.pattern) && !has_peer) return {};
  CostQuery query = QueryAbout(call);
  query.late_us = late_us;
  return AllCandidates(*state_->machine, state_->scope(call.scope).reach->settings, query);
}

Cost Group::Predict(const PatternCall& call) const {
  CostQuery query = QueryAbout(call);
  query.piece_bytes = call.piece_bytes;
  return PredictCost(*state_->machine, state_->scope(call.scope).reach->settings, query);
}

ModelChoice Group::Decide(const PatternCall& call, bool by_model, Latitude latitude) const {
  const Scope& scope = state_->scope(call.scope);
  const PieceSettings& settings = scope.reach->settings;
  const size_t bytes = LongestOf(call, scope.size);
  const CostQuery query = QueryFor(call, LongestOfClass(settings, SizeClassOf(settings, bytes)));
  std::string reason;
  ModelChoice choice;
  if (by_model) {
    choice = ChooseByModel(*state_->machine, settings, query, latitude, &reason);
  } else {
    reason = ExplainRule(query);
  }
  if (engine_->options().explain && scope.rank == 0) engine_->options().report(reason);
  return choice;
}

const PatternCall& Group::Normalise(const PatternCall& call,
                                    std::optional<PatternCall>* copy) const {
  if (call.topology.shape != Shape::kFree) return NormalForm(call, copy);
  *copy = call;
  if (!EntryOf(call.pattern).topologies.empty()) Choose(&**copy);
  return NormalForm(**copy, copy);
}

Status Group::Begin(const PatternCall& call, Beginning* beginning) {
  if (!state_->failure.ok()) return state_->failure;
  const ChannelKind kind = ChannelOf(call);
  const CatalogueEntry& entry = EntryOf(call.pattern);
  const Scope& scope = state_->scope(kind);
  BRIGADE_RETURN_IF_ERROR(CheckCall(entry, call, scope.size, scope.rank));
  beginning->entry = &entry;
  beginning->schedule = ScheduleOf(call, kind);
  beginning->sequence = &state_->scope_sequence[static_cast<int>(kind)];
  if (!IsPair(call.pattern)) return Status();
  if (state_->reach_to.empty()) PrepareForPairs(*engine_, state_.get());
  if (call.pattern == Pattern::kSend) beginning->sequence = &state_->send_sequence[call.root];
  if (call.pattern == Pattern::kReceive) {
    beginning->sequence = &state_->receive_sequence[call.root];
  }
  return Status();
}

Status Group::Run(const PatternCall& given, OperationStatistics* statistics) {
  std::optional<PatternCall> copy;
  const PatternCall& call = Normalise(given, &copy);
  const Engine::Turn turn(engine_);
  Beginning beginning;
  BRIGADE_RETURN_IF_ERROR(Begin(call, &beginning));
  EdgePath edge_path(engine_, state_.get(), *beginning.entry, call);
  if (edge_path.Fits(*beginning.schedule)) {
    const Status status = edge_path.Run(*beginning.schedule, (*beginning.sequence)++);
    if (statistics != nullptr) *statistics = edge_path.statistics();
    return status;
  }
  OnePiece one_piece(engine_, state_.get(), *beginning.entry, call);
  if (one_piece.Fits(*beginning.schedule)) {
    const Status status = one_piece.Run(*beginning.schedule, (*beginning.sequence)++);
    if (statistics != nullptr) *statistics = one_piece.statistics();
    return status;
  }
  std::unique_ptr<Executor> executor = engine_->NewExecutor();
  Status status = executor->Prepare(state_.get(), *beginning.entry, beginning.schedule, call,
                                    *beginning.sequence, /*blocking=*/true);
  if (status.ok()) {
    ++*beginning.sequence;
    engine_->Activate(executor.get());
    engine_->RunToEnd(executor.get());
    engine_->Finish(executor.get());
    status = executor->outcome();
    if (statistics != nullptr) *statistics = executor->statistics();
  }
  engine_->KeepExecutor(std::move(executor));
  return status;
}

Status Group::Start(const PatternCall& given, std::unique_ptr<Operation>* operation) {
  std::optional<PatternCall> copy;
  const PatternCall& call = Normalise(given, &copy);
  const Engine::Turn turn(engine_);
  Beginning beginning;
  BRIGADE_RETURN_IF_ERROR(Begin(call, &beginning));
  std::unique_ptr<Executor> executor = engine_->NewExecutor();
  const Status status = executor->Prepare(state_.get(), *beginning.entry, beginning.schedule, call,
                                          *beginning.sequence, /*blocking=*/false);
  if (!status.ok()) {
    engine_->KeepExecutor(std::move(executor));
    return status;
  }
  ++*beginning.sequence;
  engine_->Activate(executor.get());
  engine_->in_a_hurry_ = true;
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

Status Operation::Wait() {
  if (executor_ != nullptr) {
    const Engine::Turn turn(engine_);
    engine_->RunToEnd(executor_.get());
    Finish();
  }
  return outcome_;
}

void Operation::Finish() {
  engine_->Finish(executor_.get());
  outcome_ = executor_->outcome();
  statistics_ = executor_->statistics();
  engine_->KeepExecutor(std::move(executor_));
}

}  // namespace brigade
