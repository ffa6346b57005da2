// The end of this process's libraries, in MPI_Finalize, by one attribute of MPI_COMM_SELF.
//
// MPI_Finalize deletes the attributes of MPI_COMM_SELF first, the newest first, while all of MPI
// still works. The libraries of names set this attribute inside MPI_Init
// (transport/family/init_names.h), so it is deleted last: delete callbacks of the program and of
// other libraries may use windows and grids. If MPI was initialised before a library was loaded, or
// by calls that do not reach it, the first SetTeardown sets the attribute, and callbacks of older
// attributes run after it.

#ifndef BRIGADE_TRANSPORT_MPI_MPI_TEARDOWN_H_
#define BRIGADE_TRANSPORT_MPI_MPI_TEARDOWN_H_

namespace brigade {

// The libraries that end with MPI, in the order of their end on every rank, independent of the
// order of preloading and first use: a library may use those below it until it has ended.
enum class Teardown { kProducts, kWindows, kBlacs };

// Calls `function` inside MPI_Finalize, once. Sets the attribute if nothing has set it.
// Thread-safe. REQUIRES: MPI is initialised, and not IsTornDown().
void SetTeardown(Teardown library, void (*function)());

// Returns whether MPI_Finalize has begun to call these functions: no library starts any more,
// although callbacks of older attributes may still use MPI. Thread-safe.
bool IsTornDown();

// Returns whether MPI_Init has set the attribute, so that no callback of the program runs after
// these functions. Thread-safe.
bool IsTornDownLast();

}  // namespace brigade

// Sets the attribute if it is not set. The libraries of names find this by name, after a successful
// MPI_Init.
extern "C" void brigade_set_finalize_attribute();

#endif  // BRIGADE_TRANSPORT_MPI_MPI_TEARDOWN_H_
