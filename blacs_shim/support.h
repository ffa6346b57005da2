// Everything in BLACS that is not communication: start and end, grids, handles, parameters.

#ifndef BRIGADE_BLACS_SHIM_SUPPORT_H_
#define BRIGADE_BLACS_SHIM_SUPPORT_H_

#include <mpi.h>

namespace brigade {
namespace blacs {

// The two languages number communicators differently (system_handles.h).
enum class Language { kC, kFortran };

// `routine`: blacs_pinfo or blacs_setup, which are one.
void ProcessInfo(const char* routine, int* pnum, int* procs);
void GetParameter(Language language, int context, int what, int* value);
void SetParameter(int context, int what, int value);

// `context` holds a system handle going in and the new context, or -1 for a process that is not in
// the grid, coming out. Members only take part; others return at once.
void GridInit(Language language, int* context, const char* order, int rows, int cols);
void GridMap(Language language, int* context, const int* usermap, int ldumap, int rows, int cols);
void GridExit(int context);

void GridInfo(int context, int* rows, int* cols, int* row, int* col);
int ProcessNumber(int context, int row, int col);
void ProcessCoordinates(int context, int pnum, int* row, int* col);

void FreeBuffers(int context, int wait);
[[noreturn]] void Abort(int context, int code);
void Exit(int not_done);

// The C handle table.
int HandleOf(MPI_Comm communicator);
MPI_Comm CommunicatorOf(int handle);
void FreeHandle(int handle);

// A scope's broadcast id, counted up by each query; nothing depends on it.
int BroadcastId(const char* routine, int context, const char* scope);
// What ksendid and krecvid return.
inline constexpr int kPointToPointId = 9977;

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_SUPPORT_H_
