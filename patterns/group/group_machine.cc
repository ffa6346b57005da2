#include "patterns/group/group_machine.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "patterns/group/calibration.h"
#include "patterns/group/group_agreement.h"
#include "patterns/group/group_calls.h"
#include "patterns/group/host_numbers.h"
#include "patterns/model/machine_cache.h"
#include "transport/machines/machine_description.h"

namespace brigade {
namespace {

constexpr char kMeasured[] = "measured: among the ranks of a group";
// Of what is kept in files; to be raised when measurements change.
constexpr char kMeasurementFormat[] = "5";

// Rank 0's to all.
Status SpreadText(Engine* engine, GroupState* group, std::string* text) {
  const auto broadcast = [&](void* data, size_t bytes) {
    PatternCall call;
    call.pattern = Pattern::kBroadcast;
    call.matrix = {static_cast<std::byte*>(data), StridedLayout::Contiguous(bytes)};
    return RunCall(engine, group, call);
  };
  uint64_t bytes = text->size();
  BRIGADE_RETURN_IF_ERROR(broadcast(&bytes, sizeof(bytes)));
  text->resize(bytes);
  return broadcast(text->data(), bytes);
}

}  // namespace

Status FindMachine(Engine* engine, GroupState* group, Bootstrap* bootstrap) {
  const RankHost mine = RankHost::Here();
  std::vector<RankHost> all(group->members());
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), all.data()));
  group->host_of = NumberHosts(all);
  const int hosts = 1 + *std::max_element(group->host_of.begin(), group->host_of.end());
  const std::string key =
      std::string(kMeasurementFormat) + " " + group->capabilities->name + " " + DescribeHosts(all);
  const bool look = engine->options().calibrate == EngineOptions::Calibrate::kIfUnknown;
  if (look && hosts == 1) return Status();

  MachineDescription found;
  std::string text;
  std::shared_ptr<const MachineDescription>& known = (*engine->machines())[key];
  if (look && group->rank == 0 && (known != nullptr || LoadMachine(key, &found))) {
    if (known != nullptr) found = *known;
    found.about = kMeasured;
    text = found.ToJson(kMeasured);
  }
  BRIGADE_RETURN_IF_ERROR(AgreeOnOutcome(bootstrap, SpreadText(engine, group, &text)));
  if (text.empty()) {
    bool measured = false;
    BRIGADE_RETURN_IF_ERROR(Calibrate(engine, group, bootstrap, &found, &measured));
    if (!measured) return Status();
    found.about = kMeasured;
    if (group->rank == 0) StoreMachine(key, found);
  } else {
    BRIGADE_RETURN_IF_ERROR(
        AgreeOnOutcome(bootstrap, MachineDescription::Parse(text, "rank 0", &found)));
  }
  known = group->machine = std::make_shared<const MachineDescription>(std::move(found));
  return Status();
}

}  // namespace brigade
