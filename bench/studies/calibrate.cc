#include "bench/studies/calibrate.h"

#include <cstdio>
#include <memory>

#include "bench/contenders/brigade_group.h"
#include "transport/machines/machine_description.h"

namespace brigade::bench {

void RunCalibrate(Session* session) {
  Options options = session->options();
  options.calibrate = EngineOptions::Calibrate::kAlways;
  std::unique_ptr<BrigadeGroup> group;
  AbortUnlessOk(BrigadeGroup::Create(session->comm(), options, &group));
  if (session->rank() != 0) return;
  if (group->machine() == nullptr) {
    std::fprintf(stderr, "calibrate: a job of one rank has no edges to measure\n");
    return;
  }
  std::fputs(group->machine()->ToJson("measured: by calibration").c_str(), stdout);
}

}  // namespace brigade::bench
