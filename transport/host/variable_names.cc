#include "transport/host/variable_names.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <vector>

namespace brigade {
namespace {

constexpr std::string_view kPrefix = "BRIGADE_";
constexpr std::string_view kTestPrefix = "BRIGADE_TEST_";

// Old names of values, which stay valid.
struct OldValue {
  std::string_view setting;  // "NAME=value"
  std::string_view value;    // the standard name
};
constexpr OldValue kOldValues[] = {
    {"BRIGADE_TRANSPORT=uring", "tcp"},
    {"BRIGADE_KERNEL_COPIES=1", "auto"},
    {"BRIGADE_KERNEL_COPIES=0", "off"},
};

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// How many characters have to be changed, added or left out to make one of the other.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string SettingWarnings(const char* const* environment) {
  std::string text;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    for (const OldValue& old : kOldValues) {
      if (entry != old.setting) continue;
      text.append("brigade: ").append(entry).append(" is an old name; set ");
      text.append(old.value).append(" instead\n");
    }
    const std::string_view name = entry.substr(0, entry.find('='));
    if (!StartsWith(name, kPrefix) || StartsWith(name, kTestPrefix)) continue;
    if (std::find(std::begin(kVariables), std::end(kVariables), name) != std::end(kVariables)) {
      continue;
    }
    const std::string_view nearest =
        *std::min_element(std::begin(kVariables), std::end(kVariables),
                          [&](auto a, auto b) { return Distance(name, a) < Distance(name, b); });
    text.append("brigade: ").append(name).append(" is set, but there is no such setting; ");
    text.append("the nearest name is ").append(nearest).append("\n");
  }
  return text;
}

void PrintSettingWarnings() {
  static const bool done = [] { return std::fputs(SettingWarnings(environ).c_str(), stderr); }();
  (void)done;
}

}  // namespace brigade
