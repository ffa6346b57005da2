#include "bench/cases/spread_data.h"

#include <utility>

namespace brigade::bench {

Case MakeCase(const std::string& name, const PanelView& panel) {
  Case the_case;
  the_case.name = name;
  the_case.rows = panel.rows;
  the_case.cols = panel.cols;
  the_case.ld = panel.ld;
  the_case.bytes = panel.bytes();
  return the_case;
}

std::string WithGaps(const Panel& panel, std::string wrong) {
  if (!wrong.empty() || panel.GapsUntouched()) return wrong;
  return "gaps between columns were written";
}

Case MakeGatherCase(const std::string& name, SpreadData* data) {
  Case the_case = MakeCase(name, data->panel.view());
  the_case.prepare = [data](int) {
    data->panel.Poison();
    Fill(data->blocks[data->rank], data->rank);
  };
  return the_case;
}

std::string CheckGathered(const SpreadData& data) {
  std::string wrong;
  for (int q = 0; q < data.ranks && wrong.empty(); ++q) {
    wrong = CheckSum(data.blocks[q], q, 1);
    if (!wrong.empty()) wrong.insert(0, "block " + std::to_string(q) + ", ");
  }
  return WithGaps(data.panel, wrong);
}

void AddSubject(const Contenders& all, const std::string& name, const std::string& pattern,
                bool tells_cost, const Operation& operation, Check check, Case* the_case) {
  Subject subject;
  subject.name = name;
  subject.pattern = pattern;
  subject.run = [operation](int turn) { return operation(turn, nullptr); };
  subject.check = std::move(check);
  if (tells_cost) {
    const BrigadeGroup* group = all.brigade.get();
    subject.cost = [=, bytes = the_case->bytes](int turn, Cost* cost) {
      OperationStatistics statistics;
      BRIGADE_RETURN_IF_ERROR(operation(turn, &statistics));
      *cost = group->CostOf(statistics, bytes);
      return Status();
    };
  }
  the_case->subjects.push_back(std::move(subject));
}

}  // namespace brigade::bench
