// BrigadeWindow: Brigade's windows, called through the C++ class.

#ifndef BRIGADE_BENCH_CONTENDERS_BRIGADE_WINDOW_H_
#define BRIGADE_BENCH_CONTENDERS_BRIGADE_WINDOW_H_

#include <cstdint>
#include <memory>

#include "bench/contenders/brigade_group.h"
#include "bench/contenders/one_sided.h"
#include "membuf/status.h"
#include "windows/message/window_space.h"

namespace brigade::bench {

// The staging memory of windows on a group's engine.
Status MakeWindowSpace(BrigadeGroup* group, std::unique_ptr<WindowSpace>* space);
// Collective over the group: `doubles` on each rank, zeroed, shared or private. `goes_directly`:
// where it can.
Status MakeBrigadeWindow(BrigadeGroup* group, WindowSpace* space, int64_t doubles, bool is_shared,
                         std::unique_ptr<OneSided>* window, bool goes_directly = true);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_BRIGADE_WINDOW_H_
