#include "tools/installation.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace brigade {
namespace {

namespace fs = std::filesystem;

struct Family {
  const char* name;
  const char* ending;  // of its libraries' files
};
constexpr Family kFamilies[] = {{"Open MPI", "_openmpi.so.1"}, {"MPICH", "_mpich.so.1"}};

std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::error_code none;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end;
       entry.increment(none)) {
    entries.push_back(entry->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool HasLibraries(const fs::path& folder) {
  std::error_code none;
  return fs::exists(folder / "libbrigade.so.1", none);
}

// Beside the folder of this program: as installed, with any --libdir below lib, and as built.
fs::path FolderOfLibraries() {
  std::error_code none;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", none).parent_path().parent_path();
  std::vector<fs::path> folders = {prefix / "lib", prefix / "lib64"};
  for (const fs::path& folder : EntriesOf(prefix / "lib")) folders.push_back(folder);
  folders.push_back(prefix / "blacs_shim");
  const auto found = std::find_if(folders.begin(), folders.end(), HasLibraries);
  return found == folders.end() ? fs::path() : *found;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> DescribeInstallation() {
  const fs::path folder = FolderOfLibraries();
  if (folder.empty()) return {{"libraries", "none beside this program"}};
  std::vector<std::pair<std::string, std::string>> lines = {{"libraries", folder.string()}};
  const std::string beginning = "libbrigade_";
  for (const Family& family : kFamilies) {
    const std::string ending = family.ending;
    std::vector<std::string> served;
    for (const fs::path& path : EntriesOf(folder)) {
      const std::string file = path.filename().string();
      if (file.size() <= beginning.size() + ending.size() || file.rfind(beginning, 0) != 0 ||
          file.compare(file.size() - ending.size(), ending.size(), ending) != 0) {
        continue;
      }
      served.push_back(
          file.substr(beginning.size(), file.size() - beginning.size() - ending.size()));
    }
    std::sort(served.begin(), served.end());  // files are in the order of what follows the name
    std::string names;
    for (const std::string& name : served) names += (names.empty() ? "" : ", ") + name;
    lines.emplace_back(std::string("for ") + family.name, names.empty() ? "none" : names);
  }
  return lines;
}

}  // namespace brigade
