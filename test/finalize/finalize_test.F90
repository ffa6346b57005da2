! A window, a grid and a product that are used once more by a delete callback on MPI_COMM_SELF, which is set right behind
! the initialisation of MPI. With -DF08 by the module mpi_f08. Argument: init, or thread.
module all_of_it
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer, parameter :: width = 8, block = 40
#ifdef F08
  type(MPI_Win) :: win
#else
  integer :: win
#endif
  integer :: rank, ranks, context
  double precision, asynchronous :: memory(2)

contains

  subroutine require(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    integer :: error
    if (condition) return
    print *, 'CHECK failed: ', what, ' on rank', rank
    call MPI_Abort(MPI_COMM_WORLD, 3, error)
  end subroutine

  subroutine use_all(value)
    double precision, intent(in) :: value
    double precision, asynchronous :: sent
    double precision :: total(1, 1), a(block * ranks, block), b(block * ranks, block), c(block * ranks, block)
    integer :: error, rows, cols, row, col, i, n
    integer :: is(9)
    sent = value + rank
    call MPI_Win_fence(0, win, error)
    call MPI_Put(sent, 1, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1_MPI_ADDRESS_KIND, 1, MPI_DOUBLE_PRECISION, win, &
                 error)
    call MPI_Win_fence(0, win, error)
    call require(memory(2) == value + mod(rank + ranks - 1, ranks), 'the put')
    call blacs_gridinfo(context, rows, cols, row, col)
    call require(rows == 1 .and. cols == ranks .and. col == rank, 'the grid')
    total = rank
    call dgsum2d(context, 'A', ' ', 1, 1, total, 1, -1, -1)
    call require(total(1, 1) == ranks * (ranks - 1) / 2, 'the sum')
    n = block * ranks
    is = (/1, context, n, n, block, block, 0, 0, n/)
    a = value + rank
    b = 0
    do i = 1, block
      b(block * rank + i, i) = 1
    end do
    c = -1
    call pdgemm('N', 'N', n, n, n, 1d0, a, 1, 1, is, b, 1, 1, is, 0d0, c, 1, 1, is)
    call require(all(c == a), 'the product')
  end subroutine

  subroutine at_end(comm, keyval, value, extra, error)
#ifdef F08
    type(MPI_Comm) :: comm
#else
    integer :: comm
#endif
    integer :: keyval, error
    integer(MPI_ADDRESS_KIND) :: value, extra
    integer :: ignored
    ! Not comm, for which Open MPI 4 passes what is no communicator.
    call require(value == 11 .and. extra == 12 .and. keyval /= MPI_KEYVAL_INVALID, 'the arguments')
    call use_all(2d0)
    call MPI_Win_free(win, ignored)
    call blacs_gridexit(context)
    if (rank == 0) print *, 'the callback has passed'
    error = MPI_SUCCESS
  end subroutine
end module

program finalize_test
  use all_of_it
  implicit none
  integer :: error, provided, keyval
  character(10) :: init

  call get_command_argument(1, init)
  if (init == 'thread') then
    call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, error)
  else
    call MPI_Init(error)
  end if
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, keyval, 12_MPI_ADDRESS_KIND, error)
  call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 11_MPI_ADDRESS_KIND, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Win_create(memory, int(2 * width, MPI_ADDRESS_KIND), width, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, 'R', 1, ranks)
  call use_all(1d0)
  call MPI_Finalize(error)
end program
