! One-sided calls through the module mpi_f08, whose wrappers end in PMPI names of C.
program rma_f08_test
  use mpi_f08
  implicit none
  integer, parameter :: width = 4
  type(MPI_Win) :: win
  type(MPI_Group) :: group
  integer :: rank, ranks, members
  integer, asynchronous :: memory(4), sent, fetched

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  memory = -1
  call MPI_Win_create(memory, int(4 * width, MPI_ADDRESS_KIND), width, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_get_group(win, group)
  call MPI_Group_size(group, members)
  if (members /= ranks) call MPI_Abort(MPI_COMM_WORLD, 3)
  call MPI_Group_free(group)
  sent = rank
  call MPI_Win_fence(0, win)
  call MPI_Put(sent, 1, MPI_INTEGER, mod(rank + 1, ranks), 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  call MPI_Accumulate(sent, 1, MPI_INTEGER, mod(rank + 1, ranks), 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
  if (memory(3) /= 2 * mod(rank + ranks - 1, ranks)) call MPI_Abort(MPI_COMM_WORLD, 4)
  call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)
  call MPI_Fetch_and_op(sent, fetched, MPI_INTEGER, 0, 2_MPI_ADDRESS_KIND, MPI_NO_OP, win)
  call MPI_Win_unlock(0, win)
  if (fetched /= 2 * (ranks - 1)) call MPI_Abort(MPI_COMM_WORLD, 5)
  call MPI_Win_free(win)
  call MPI_Finalize()
end program
