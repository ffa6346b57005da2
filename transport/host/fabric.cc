#include "transport/host/fabric.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace brigade {
namespace {

namespace fs = std::filesystem;

// A value of pml, btl or mtl.
class Components {
 public:
  explicit Components(const std::string& value) : excludes_(!value.empty() && value[0] == '^') {
    std::istringstream list(value.substr(excludes_ ? 1 : 0));
    for (std::string name; std::getline(list, name, ',');) {
      name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
      if (!name.empty()) names_.push_back(name);
    }
  }

  bool Allows(const std::string& name) const { return names_.empty() || Has(name) != excludes_; }
  // Returns the first named component that is none of `expected`; empty if there is none.
  std::string NamedBut(const std::vector<std::string>& expected) const {
    for (const std::string& name : names_) {
      const bool is_expected = std::find(expected.begin(), expected.end(), name) != expected.end();
      if (!excludes_ && !is_expected) return name;
    }
    return "";
  }

 private:
  bool Has(const std::string& name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }

  const bool excludes_;
  std::vector<std::string> names_;
};

// The names in a folder; none if there is no such folder. An error while it is read ends the list.
std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  const fs::directory_iterator end;
  for (fs::directory_iterator entry(folder, error); !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool StartsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

FabricVerdict JudgeFabric(const FabricFacts& facts) {
  if (!facts.is_open_mpi) return {false, "what this MPI would use is not known"};
  const Components pml(facts.pml);
  const Components btl(facts.btl);
  const Components mtl(facts.mtl);
  const std::string other_pml = pml.NamedBut({"ob1", "v", "monitoring"});
  if (!other_pml.empty()) return {false, "MPI is set to use pml " + other_pml};
  const std::string other_btl = btl.NamedBut({"self", "sm", "vader", "smcuda", "tcp"});
  if (!other_btl.empty()) return {false, "MPI is set to use btl " + other_btl};
  const std::string other_mtl = pml.Allows("cm") ? mtl.NamedBut({}) : "";
  if (!other_mtl.empty()) return {false, "MPI is set to use mtl " + other_mtl};
  if (facts.devices.empty()) return {true, "no device of a faster network is active"};
  const auto may_use = [&](const Components& components, const char* kind, const char* name) {
    return components.Allows(name) ? std::string(kind) + " " + name : std::string();
  };
  for (const std::string& component :
       {may_use(pml, "pml", "ucx"), may_use(pml, "pml", "cm"), may_use(btl, "btl", "openib"),
        may_use(btl, "btl", "ofi"), may_use(btl, "btl", "uct"), may_use(btl, "btl", "usnic")}) {
    if (!component.empty()) {
      return {false, "MPI may use " + facts.devices[0] + " through " + component};
    }
  }
  return {true, "MPI is set not to use " + facts.devices[0]};
}

std::vector<std::string> ActiveDevices(const std::string& sysfs) {
  std::vector<std::string> devices = NamesIn(fs::path(sysfs) / "class/cxi");
  const fs::path verbs = fs::path(sysfs) / "class/infiniband";
  for (const std::string& device : NamesIn(verbs)) {
    for (const std::string& port : NamesIn(verbs / device / "ports")) {
      std::string state;
      std::getline(std::ifstream(verbs / device / "ports" / port / "state"), state);
      if (state.find("ACTIVE") == std::string::npos) continue;
      devices.push_back(device);
      break;
    }
  }
  return devices;
}

std::vector<std::string> OpenDevices(const std::string& descriptors) {
  // Also terminals, graphics, and devices that copy between processes of one host.
  static constexpr const char* kLocal[] = {
      "null",  "zero", "full", "random",         "urandom", "tty",  "pts/", "ptmx",   "console",
      "shm/",  "fuse", "kvm",  "hugepages",      "mqueue",  "dri/", "kfd",  "nvidia", "knem",
      "xpmem", "cma",  "net/", "cpu_dma_latency"};
  std::vector<std::string> devices;
  for (const std::string& number : NamesIn(descriptors)) {
    std::error_code error;
    const std::string file = fs::read_symlink(fs::path(descriptors) / number, error).string();
    if (error || !StartsWith(file, "/dev/")) continue;
    const std::string name = file.substr(std::string("/dev/").size());
    const bool local = std::any_of(std::begin(kLocal), std::end(kLocal),
                                   [&](const char* known) { return StartsWith(name, known); });
    if (!local && std::find(devices.begin(), devices.end(), name) == devices.end()) {
      devices.push_back(name);
    }
  }
  return devices;
}

}  // namespace brigade
