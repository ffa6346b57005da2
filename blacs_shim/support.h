// Everything in BLACS that is not communication: start and end, grids, handles, parameters.

#ifndef BRIGADE_BLACS_SHIM_SUPPORT_H_
#define BRIGADE_BLACS_SHIM_SUPPORT_H_

#include <mpi.h>

#include <cstdint>

#include "blacs_shim/integers.h"

namespace brigade {
namespace blacs {

// The two languages number communicators differently (system_handles.h).
enum class Language { kC, kFortran };

// `routine`: blacs_pinfo or blacs_setup, which are one.
void ProcessInfo(const char* routine, Integers pnum, Integers procs);
void GetParameter(Language language, int64_t context, int64_t what, Integers value);
void SetParameter(int64_t context, int64_t what, int64_t value);

// `context` holds a system handle going in and the new context, or -1 for a process that is not in
// the grid, coming out. Members only take part; others return at once.
void GridInit(Language language, Integers context, const char* order, int64_t rows, int64_t cols);
void GridMap(Language language, Integers context, Integers usermap, int64_t ldumap, int64_t rows,
             int64_t cols);
void GridExit(int64_t context);

void GridInfo(int64_t context, Integers rows, Integers cols, Integers row, Integers col);
int ProcessNumber(int64_t context, int64_t row, int64_t col);
void ProcessCoordinates(int64_t context, int64_t pnum, Integers row, Integers col);

void FreeBuffers(int64_t wait);
[[noreturn]] void Abort(int64_t context, int64_t code);
void Exit(int64_t not_done);

// The C handle table.
int HandleOf(MPI_Comm communicator);
MPI_Comm CommunicatorOf(int64_t handle);
void FreeHandle(int64_t handle);

// A scope's broadcast id, counted up by each query; nothing depends on it.
int BroadcastId(const char* name, int64_t context, const char* scope);
// The return value of ksendid and krecvid.
inline constexpr int kPointToPointId = 9977;

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_SUPPORT_H_
