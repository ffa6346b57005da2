#include "patterns/model/machine_cache.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

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
  const std::string file = CachedMachineFile(key);
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file, error);
  if (error || std::filesystem::file_time_type::clock::now() - written > kMostAge) return false;
  if (file.empty() || !MachineDescription::Read(file, &found).ok() || found.about != key) {
    return false;
  }
  *machine = found;
  return true;
}

void StoreMachine(const std::string& key, const MachineDescription& machine) {
  const std::string file = CachedMachineFile(key);
  if (file.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  MachineDescription named = machine;
  named.about = key;
  const std::string draft = file + "." + std::to_string(getpid());
  std::ofstream out(draft);
  out << named.ToJson("measured: by calibration");
  out.close();
  if (out) std::filesystem::rename(draft, file, error);
  if (!out || error) std::filesystem::remove(draft, error);
}

}  // namespace brigade
