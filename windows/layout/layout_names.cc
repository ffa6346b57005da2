#include "windows/layout/layout_names.h"

#include <algorithm>
#include <string>

namespace brigade {

LayoutName GivenLayoutNames::NameOf(const TypedLayout& layout) {
  const auto name = [&](std::vector<Given>::iterator given) -> LayoutName {
    given->used = ++uses_;
    return {static_cast<uint16_t>(given - given_.begin()), given->generation};
  };
  const auto same = std::find_if(given_.begin(), given_.end(),
                                 [&](const Given& given) { return given.layout.IsSameAs(layout); });
  if (same != given_.end()) return name(same);
  if (given_.size() < LayoutName::kNames) {
    given_.emplace_back();
    given_.back().generation = 1;
    given_.back().layout = layout;
    return name(given_.end() - 1);
  }
  const auto oldest = std::min_element(
      given_.begin(), given_.end(), [](const Given& a, const Given& b) { return a.used < b.used; });
  ++oldest->generation;
  oldest->layout = layout;
  return name(oldest);
}

bool GivenLayoutNames::MustSend(const LayoutName& name, int target) {
  std::vector<uint32_t>& sent = given_[name.index].sent;
  if (sent.size() <= static_cast<size_t>(target)) sent.resize(target + 1);
  if (sent[target] == name.generation) return false;
  sent[target] = name.generation;
  return true;
}

Status KnownLayouts::Learn(int origin, const LayoutName& name, const TypedLayout& layout) {
  if (name.index >= LayoutName::kNames) {
    return {StatusCode::kMismatch, "rank " + std::to_string(origin) + " names a datatype " +
                                       std::to_string(name.index) + ", of " +
                                       std::to_string(LayoutName::kNames)};
  }
  std::vector<Known>& known = of_[origin];
  if (known.size() <= name.index) known.resize(name.index + 1);
  known[name.index] = {layout, name.generation};
  return Status();
}

const TypedLayout* KnownLayouts::Find(int origin, const LayoutName& name) const {
  const auto of = of_.find(origin);
  if (of == of_.end() || name.index >= of->second.size()) return nullptr;
  const Known& known = of->second[name.index];
  return name.generation != 0 && known.generation == name.generation ? &known.layout : nullptr;
}

}  // namespace brigade
