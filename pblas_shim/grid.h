// Grid: a BLACS context that multiplies, or the reason why it does not. It lives as long as the
// context's communicator, which it hangs on as an attribute.

#ifndef BRIGADE_PBLAS_SHIM_GRID_H_
#define BRIGADE_PBLAS_SHIM_GRID_H_

#include <mpi.h>

#include <memory>
#include <string>

#include "membuf/status.h"
#include "patterns/settings/settings.h"
#include "windows/multiply/multiply.h"

namespace brigade {
namespace pblas {

class Runtime;

struct GridPlace {
  int rows = 0;
  int cols = 0;
  int row = 0;
  int col = 0;
};

class Grid {
 public:
  // Collective over `comm`, the context's communicator.
  static std::unique_ptr<Grid> Make(Runtime* runtime, MPI_Comm comm, const GridPlace& place);

  // What all of its ranks agree on: the least of what they ask for.
  Settings::When when() const { return when_; }
  // Why it does not multiply; empty: it does. The same on all ranks.
  const std::string& refusal() const { return refusal_; }
  Multiplier* multiplier() const { return multiplier_.get(); }
  const GridPlace& place() const { return place_; }

  // Collective over it.
  void Free();

 private:
  Grid() = default;
  Status Open(Runtime* runtime, MPI_Comm comm);

  GridPlace place_;
  Settings::When when_ = Settings::When::kOff;
  std::string refusal_;
  std::unique_ptr<Multiplier> multiplier_;
};

}  // namespace pblas
}  // namespace brigade

#endif  // BRIGADE_PBLAS_SHIM_GRID_H_
