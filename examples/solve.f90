! Solves A x = b with ScaLAPACK on a 2 x 2 grid and prints the residual. Nothing in it knows Brigade.
!
! Preload, an existing program:
!   mpif90 examples/solve.f90 -o solve -lscalapack-openmpi
!   mpirun -n 4 --oversubscribe \
!     env LD_PRELOAD=$PWD/bazel-bin/blacs_shim/libbrigade_blacs.so BRIGADE_LOG=info ./solve
!
! Relink, instead of that: Brigade before ScaLAPACK.
!   mpif90 examples/solve.f90 -o solve_relinked \
!     -Lbazel-bin/blacs_shim -lbrigade_blacs -Wl,-rpath,$PWD/bazel-bin/blacs_shim -lscalapack-openmpi
!   mpirun -n 4 --oversubscribe env BRIGADE_LOG=info ./solve_relinked
!
! With BRIGADE_LOG=info Brigade says that it is there.
! -> BLACS over transport
! -> scaled residual below 1: T

program solve
  implicit none
  integer, parameter :: n = 500, nb = 32
  integer :: pnum, procs, context, row, col, mine, columns, i, j, info
  integer :: a_is(9), b_is(9)
  integer, allocatable :: pivots(:)
  double precision, allocatable :: a(:, :), a0(:, :), x(:), b(:), work(:)
  double precision :: a_norm, x_norm, residual, none(1)
  integer, external :: numroc, indxl2g
  double precision, external :: pdlange

  call blacs_pinfo(pnum, procs)
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, 'R', 2, 2)
  call blacs_gridinfo(context, i, j, row, col)
  if (row >= 0) then  ! ranks beyond the grid have nothing to do
    mine = numroc(n, nb, row, 0, 2)
    columns = numroc(n, nb, col, 0, 2)
    allocate (a(mine, columns), a0(mine, columns), x(mine), b(mine), work(mine), pivots(mine + nb))
    call descinit(a_is, n, n, nb, nb, 0, 0, context, max(1, mine), info)
    call descinit(b_is, n, 1, nb, nb, 0, 0, context, max(1, mine), info)
    do j = 1, columns
      do i = 1, mine
        a(i, j) = element(indxl2g(i, nb, row, 0, 2), indxl2g(j, nb, col, 0, 2))
      end do
    end do
    a0 = a
    b = 1
    x = b
    call pdgesv(n, 1, a, 1, 1, a_is, pivots, x, 1, 1, b_is, info)

    ! || A x - b || / (|| A || || x || n epsilon)
    call pdgemv('N', n, n, 1d0, a0, 1, 1, a_is, x, 1, 1, b_is, 1, -1d0, b, 1, 1, b_is, 1)
    a_norm = pdlange('I', n, n, a0, 1, 1, a_is, work)
    x_norm = pdlange('M', n, 1, x, 1, 1, b_is, none)
    residual = pdlange('M', n, 1, b, 1, 1, b_is, none)
    residual = residual / (a_norm * x_norm * n * epsilon(1d0))
    if (pnum == 0) print '(a, l1)', 'scaled residual below 1: ', info == 0 .and. residual < 1
    call blacs_gridexit(context)
  end if
  call blacs_exit(0)

contains

  ! A matrix that is easy to solve: large on the diagonal.
  double precision function element(i, j)
    integer, intent(in) :: i, j
    element = 1d0 / (1 + modulo(7 * i + 3 * j, 11))
    if (i == j) element = element + n
  end function

end program
