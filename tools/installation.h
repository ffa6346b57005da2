// The MPIs that this program's installation serves.

#ifndef BRIGADE_TOOLS_INSTALLATION_H_
#define BRIGADE_TOOLS_INSTALLATION_H_

#include <string>
#include <utility>
#include <vector>

namespace brigade {

// Returns a line for the folder with Brigade's libraries beside this program, and one for each
// family of MPIs with the libraries that serve it.
std::vector<std::pair<std::string, std::string>> DescribeInstallation();

}  // namespace brigade

#endif  // BRIGADE_TOOLS_INSTALLATION_H_
