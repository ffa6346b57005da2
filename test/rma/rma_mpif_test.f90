! One-sided calls through mpif.h, whose wrappers end in PMPI names of C.
program rma_mpif_test
  implicit none
  include 'mpif.h'
  integer, parameter :: width = 4
  integer :: win, rank, ranks, error, memory(4), sent, got
  integer(kind=MPI_ADDRESS_KIND) :: bytes, third, place, found
  logical :: is_there

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  memory = -1
  bytes = 4 * width
  third = 2
  call MPI_Win_create(memory, bytes, width, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
  call MPI_Get_address(memory, place, error)
  call MPI_Win_get_attr(win, MPI_WIN_BASE, found, is_there, error)
  if (.not. is_there .or. found /= place) call MPI_Abort(MPI_COMM_WORLD, 6, error)
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, found, is_there, error)
  if (.not. is_there .or. found /= bytes) call MPI_Abort(MPI_COMM_WORLD, 7, error)
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, found, is_there, error)
  if (.not. is_there .or. found /= width) call MPI_Abort(MPI_COMM_WORLD, 8, error)
  sent = rank
  call MPI_Win_fence(0, win, error)
  call MPI_Put(sent, 1, MPI_INTEGER, mod(rank + 1, ranks), third, 1, MPI_INTEGER, win, error)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, error)
  if (memory(3) /= mod(rank + ranks - 1, ranks)) call MPI_Abort(MPI_COMM_WORLD, 4, error)
  call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, error)
  call MPI_Get(got, 1, MPI_INTEGER, 0, third, 1, MPI_INTEGER, win, error)
  call MPI_Win_unlock(0, win, error)
  if (got /= ranks - 1) call MPI_Abort(MPI_COMM_WORLD, 5, error)
  call MPI_Win_free(win, error)
  call MPI_Finalize(error)
end program
