// What the libraries of this process do when MPI ends, by one attribute of MPI_COMM_SELF.
//
// MPI_Finalize deletes the attributes of MPI_COMM_SELF first, the newest first, while all of MPI
// still works. The libraries of names set ours inside MPI_Init (transport/family/init_names.h), so
// it is deleted last: delete callbacks of the program and of other libraries may use windows and
// grids. Where MPI was initialised before a library was loaded, or by calls that do not reach it,
// the first SetTeardown sets the attribute, and callbacks of older attributes run after ours.

#ifndef BRIGADE_TRANSPORT_MPI_MPI_TEARDOWN_H_
#define BRIGADE_TRANSPORT_MPI_MPI_TEARDOWN_H_

namespace brigade {

// The libraries that end with MPI, in the order in which they do on every rank, whatever was
// preloaded or used first: a library may use those below it until it has ended.
enum class Teardown { kProducts, kWindows, kBlacs };

// Calls `function` inside MPI_Finalize, once. Sets the attribute if nothing has set it.
// Thread-safe. REQUIRES: MPI is initialised, and not IsTornDown().
void SetTeardown(Teardown library, void (*function)());

// Whether MPI_Finalize has begun to call these functions: no library starts any more, although MPI
// may still be used by callbacks of older attributes. Thread-safe.
bool IsTornDown();

// Whether MPI_Init has set the attribute, so that nothing of the program's is called behind these
// functions. Thread-safe.
bool IsTornDownLast();

}  // namespace brigade

// For the libraries of names, which find it by name, behind a successful MPI_Init: sets the
// attribute if nothing has set it. Does nothing else.
extern "C" void brigade_set_finalize_attribute();

#endif  // BRIGADE_TRANSPORT_MPI_MPI_TEARDOWN_H_
