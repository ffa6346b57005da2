// What the installation that this program belongs to serves.

#ifndef BRIGADE_TOOLS_INSTALLATION_H_
#define BRIGADE_TOOLS_INSTALLATION_H_

#include <string>
#include <utility>
#include <vector>

namespace brigade {

// A line for the folder with Brigade's libraries beside this program, and for each family of MPIs
// those that serve it.
std::vector<std::pair<std::string, std::string>> DescribeInstallation();

}  // namespace brigade

#endif  // BRIGADE_TOOLS_INSTALLATION_H_
