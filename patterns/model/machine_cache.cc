#include "patterns/model/machine_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>
#include <utility>

namespace brigade {
namespace {

std::filesystem::path Folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::filesystem::path(cache) / "brigade";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::filesystem::path(home) / ".cache" / "brigade";
  return {};
}

// Networks change.
constexpr std::chrono::hours kMostAge(24 * 7);
// Allocations of a batch system are hardly ever the same hosts twice.
constexpr size_t kMostFiles = 256;

bool ReadIfRecent(const std::filesystem::path& file, MachineDescription* machine) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file, error);
  return !error && std::filesystem::file_time_type::clock::now() - written <= kMostAge &&
         MachineDescription::Read(file, machine).ok();
}

// Returns what the folder has. An error while it is read, as of a network file system, ends the
// list.
std::vector<std::filesystem::path> Files() {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator file(Folder(), error); !error && file != end;
       file.increment(error)) {
    files.push_back(file->path());
  }
  return files;
}

// Removes what counts no more, drafts that a process left when it was killed included, and the
// oldest of too many.
void Prune() {
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> kept;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& file : Files()) {
    std::error_code unknown;
    const auto written = std::filesystem::last_write_time(file, unknown);
    if (unknown) continue;
    if (now - written > kMostAge) {
      std::filesystem::remove(file, unknown);
    } else {
      kept.emplace_back(written, file);
    }
  }
  if (kept.size() <= kMostFiles) return;
  std::sort(kept.begin(), kept.end());
  kept.resize(kept.size() - kMostFiles);
  std::error_code error;
  for (const auto& [written, path] : kept) std::filesystem::remove(path, error);
}

}  // namespace

std::string CachedMachineFile(const std::string& key) {
  const std::filesystem::path folder = Folder();
  if (folder.empty()) return "";
  char name[32];
  std::snprintf(name, sizeof(name), "%016zx.json", std::hash<std::string>()(key));
  return (folder / name).string();
}

bool LoadMachine(const std::string& key, MachineDescription* machine) {
  MachineDescription found;
  if (!ReadIfRecent(CachedMachineFile(key), &found) || found.about != key) return false;
  *machine = found;
  return true;
}

std::vector<std::string> CachedMachines() {
  std::vector<std::string> keys;
  for (const auto& file : Files()) {
    MachineDescription found;
    if (ReadIfRecent(file, &found) && CachedMachineFile(found.about) == file) {
      keys.push_back(found.about);
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

void StoreMachine(const std::string& key, const MachineDescription& machine) {
  const std::string file = CachedMachineFile(key);
  if (file.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  MachineDescription named = machine;
  named.about = key;
  // Not named after the process: in two containers with one home, two may have the same number.
  std::string draft = file + ".XXXXXX";
  const int made = mkostemp(draft.data(), O_CLOEXEC);
  if (made < 0) return;
  close(made);
  std::ofstream out(draft);
  out << named.ToJson("measured: by calibration");
  out.close();
  if (out) std::filesystem::rename(draft, file, error);
  if (!out || error) std::filesystem::remove(draft, error);
  Prune();
}

}  // namespace brigade
