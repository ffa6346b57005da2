#include "blacs_shim/process_grid.h"

#include <algorithm>
#include <utility>

#include "transport/mpi/mpi_bootstrap.h"
#include "transport/mpi/mpi_time.h"
#include "transport/mpi/returned_errors.h"

namespace brigade {
namespace blacs {
namespace {

// Separates our communicator creations from the caller's own on the same parent; BLACS' message
// tag.
constexpr int kCreateTag = 9976;

// Makes a communicator of `members` of `parent`, without calls of other ranks. The only call that
// waits for other ranks inside MPI, which may spin: MPI has no non-blocking one. For some ranks of
// the parent, Open MPI sends messages with kCreateTag on it, which a receive of the program from
// any source would take; for all ranks it sends none.
Status CreateCommunicator(MPI_Comm parent, const std::vector<int>& members,
                          MPI_Comm* communicator) {
  MPI_Group parent_group;
  MPI_Comm_group(parent, &parent_group);
  MPI_Group member_group;
  MPI_Group_incl(parent_group, static_cast<int>(members.size()), members.data(), &member_group);
  // The number of communicators of an MPI is limited: exceeding it is reported as an error of the
  // BLACS.
  const ReturnedErrors returned(parent);
  int size = 0;
  MPI_Comm_size(parent, &size);
  const bool is_whole = static_cast<size_t>(size) == members.size();
  const int error = InMpi([&] {
    return is_whole ? MPI_Comm_create(parent, member_group, communicator)
                    : MPI_Comm_create_group(parent, member_group, kCreateTag, communicator);
  });
  MPI_Group_free(&member_group);
  MPI_Group_free(&parent_group);
  return MpiStatus(error, is_whole ? "MPI_Comm_create" : "MPI_Comm_create_group");
}

// As MPI has it for a communicator that is made of another one.
void InheritErrorHandler(MPI_Comm parent, MPI_Comm communicator) {
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(parent, &handler);
  MPI_Comm_set_errhandler(communicator, handler);
  MPI_Errhandler_free(&handler);
}

}  // namespace

Status ProcessGrid::Create(Engine* engine, MPI_Comm parent, const std::vector<int>& members,
                           int rows, int cols, std::unique_ptr<ProcessGrid>* grid) {
  auto created = std::make_unique<ProcessGrid>();
  BRIGADE_RETURN_IF_ERROR(CreateCommunicator(parent, members, &created->communicator));
  MpiBootstrap bootstrap(created->communicator);
  BRIGADE_RETURN_IF_ERROR(Group::Create(engine, &bootstrap, rows, cols, &created->group));
  InheritErrorHandler(parent, created->communicator);  // errors so far are those of the BLACS
  created->rows = rows;
  created->cols = cols;
  created->row = created->group->row();
  created->col = created->group->col();
  *grid = std::move(created);
  return Status();
}

ProcessGrid::~ProcessGrid() {
  group.reset();
  if (communicator != MPI_COMM_NULL) MPI_Comm_free(&communicator);
}

int GridTable::Insert(std::unique_ptr<ProcessGrid> grid) {
  auto it = std::find(grids_.begin(), grids_.end(), nullptr);
  if (it == grids_.end()) it = grids_.insert(it, nullptr);
  *it = std::move(grid);
  return static_cast<int>(it - grids_.begin());
}

}  // namespace blacs
}  // namespace brigade
