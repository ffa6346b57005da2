#include "windows/faces/li/choice.h"

#include <cstdlib>
#include <string>

#include "blacs_shim/settings.h"
#include "windows/faces/li/windows_backend.h"

namespace brigade {
namespace li {
namespace {

// Empty where it is unset.
std::string Lookup(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

Status ChooseBackend(std::unique_ptr<Backend>* backend) {
  const std::string name = Lookup("BRIGADE_LI_BACKEND");
  if (name.empty() || name == "windows") {
    blacs::Settings settings;
    BRIGADE_RETURN_IF_ERROR(blacs::ReadSettings(&settings));
    *backend = std::make_unique<WindowsBackend>(settings);
    return Status();
  }
  return {StatusCode::kInvalidArgument, "BRIGADE_LI_BACKEND=" + name + ": must be windows"};
}

}  // namespace li
}  // namespace brigade
