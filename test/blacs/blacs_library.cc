#include "test/blacs/blacs_library.h"

#include <dlfcn.h>

#include <vector>

namespace brigade {
namespace {

std::vector<std::string> RoutineNames() {
  std::vector<std::string> names = {
      "blacs_pinfo",
      "blacs_setup",
      "blacs_get",
      "blacs_set",
      "blacs_gridinit",
      "blacs_gridmap",
      "blacs_gridexit",
      "blacs_gridinfo",
      "blacs_pnum",
      "blacs_pcoord",
      "blacs_barrier",
      "blacs_freebuff",
      "blacs_abort",
      "blacs_exit",
      "sys2blacs_handle",
      "blacs2sys_handle",
      "ksendid",
      "krecvid",
      "kbsid",
      "kbrid",
      "free_blacs_system_handle",
      "dcputime00",
      "dwalltime00",
  };
  for (char type : std::string("isdcz")) {
    for (const char* operation : {"gesd2d", "trsd2d", "gerv2d", "trrv2d", "gebs2d", "trbs2d",
                                  "gebr2d", "trbr2d", "gsum2d", "gamx2d", "gamn2d"}) {
      names.push_back(type + std::string(operation));
    }
  }
  return names;
}

}  // namespace

Status BlacsLibrary::Load(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Status(StatusCode::kUnavailable, dlerror());
  std::string missing;
  auto find = [&](const std::string& symbol) {
    void* address = dlsym(handle, symbol.c_str());
    if (address == nullptr) missing += " " + symbol;
    return address;
  };
  for (const std::string& name : RoutineNames()) {
    routines_[name] = {find("C" + name), find(name + "_")};
  }
  if (!missing.empty()) return Status(StatusCode::kUnavailable, path + " lacks" + missing);
  return Status();
}

}  // namespace brigade
