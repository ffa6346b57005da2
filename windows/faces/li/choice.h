// Which backend carries the program, as the environment asks: BRIGADE_LI_*.

#ifndef BRIGADE_WINDOWS_FACES_LI_CHOICE_H_
#define BRIGADE_WINDOWS_FACES_LI_CHOICE_H_

#include <memory>

#include "membuf/status.h"
#include "windows/faces/li/backend.h"

namespace brigade {
namespace li {

// kInvalidArgument, naming variable, value and what is allowed; and what a backend says.
Status ChooseBackend(std::unique_ptr<Backend>* backend);

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_WINDOWS_FACES_LI_CHOICE_H_
