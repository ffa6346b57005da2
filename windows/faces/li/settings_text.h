// SettingsText: what processes tell each other of their settings, which must be equal on all.

#ifndef BRIGADE_WINDOWS_FACES_LI_SETTINGS_TEXT_H_
#define BRIGADE_WINDOWS_FACES_LI_SETTINGS_TEXT_H_

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "membuf/status.h"

namespace brigade {
namespace li {

using SettingsText = std::array<char, 128>;

inline SettingsText ToSettingsText(const std::string& settings) {
  SettingsText text = {};
  settings.copy(text.data(), text.size() - 1);
  return text;
}

// Of all processes. kInvalidArgument, the same on all, names the first that differs.
inline Status CheckSettings(const std::vector<SettingsText>& all) {
  const auto other = std::find_if(all.begin(), all.end(),
                                  [&](const SettingsText& text) { return text != all[0]; });
  if (other == all.end()) return Status();
  return {StatusCode::kInvalidArgument,
          std::string("processes differ in their settings: process 0 has ") + all[0].data() +
              ", process " + std::to_string(other - all.begin()) + " has " + other->data()};
}

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_WINDOWS_FACES_LI_SETTINGS_TEXT_H_
