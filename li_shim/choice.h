// Environment variables BRIGADE_LI_* select the backend of a program.

#ifndef BRIGADE_LI_SHIM_CHOICE_H_
#define BRIGADE_LI_SHIM_CHOICE_H_

#include <memory>

#include "li_shim/backend/backend.h"
#include "membuf/status.h"

namespace brigade {
namespace li {

// kInvalidArgument, naming variable, value and what is allowed; and what a backend says.
Status ChooseBackend(std::unique_ptr<Backend>* backend);

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_CHOICE_H_
