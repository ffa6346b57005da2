! Systems solved by LU and Cholesky factors, and eigenvalues, on a 2 x 2 grid: prints how well the equations hold, in
! units of rounding errors, and figures of the results. Compiled with default integers of either width.
program mkl_solve
  implicit none
  integer, parameter :: n = 200, block = 16
  integer, external :: numroc
  double precision, external :: pdlange
  integer :: process, processes, context, nprow, npcol, row, column, rows, columns, info, work_size
  integer :: described(9)
  double precision, allocatable :: a(:, :), kept(:, :), x(:, :), b(:, :), z(:, :), eigenvalues(:), work(:)
  integer, allocatable :: pivots(:)
  double precision :: one_work(1)

  call blacs_pinfo(process, processes)
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, 'R', 2, 2)
  call blacs_gridinfo(context, nprow, npcol, row, column)
  rows = numroc(n, block, row, 0, nprow)
  columns = numroc(n, block, column, 0, npcol)
  call descinit(described, n, n, block, block, 0, 0, context, rows, info)
  allocate(a(rows, columns), kept(rows, columns), x(rows, columns), b(rows, columns), z(rows, columns))
  allocate(eigenvalues(n), pivots(rows + block), work(rows + columns + 2 * block))

  call fill(b, 1)
  call fill(a, 2)
  kept = a
  x = b
  call pdgesv(n, n, a, 1, 1, described, pivots, x, 1, 1, described, info)
  call tell('LU', info)

  call fill(a, 3)
  kept = a
  x = b
  call pdposv('L', n, n, a, 1, 1, described, x, 1, 1, described, info)
  call tell('Cholesky', info)

  a = kept
  call pdsyev('V', 'U', n, a, 1, 1, described, eigenvalues, z, 1, 1, described, one_work, -1, info)
  work_size = int(one_work(1))
  deallocate(work)
  allocate(work(work_size))
  call pdsyev('V', 'U', n, a, 1, 1, described, eigenvalues, z, 1, 1, described, work, work_size, info)
  if (process == 0) print '(a, i0, 3es24.15)', 'eigenvalues ', info, eigenvalues(1), eigenvalues(n / 2), eigenvalues(n)

  call blacs_gridexit(context)
  call blacs_exit(0)

contains

  ! 1: right sides; 2: a general matrix; 3: a symmetric, definite one.
  subroutine fill(matrix, kind_of)
    double precision, intent(out) :: matrix(:, :)
    integer, intent(in) :: kind_of
    integer :: i, j, gi, gj
    do j = 1, columns
      gj = ((j - 1) / block * npcol + column) * block + mod(j - 1, block) + 1
      do i = 1, rows
        gi = ((i - 1) / block * nprow + row) * block + mod(i - 1, block) + 1
        select case (kind_of)
        case (1)
          matrix(i, j) = sin(dble(gi * 7 + gj))
        case (2)
          matrix(i, j) = sin(dble(gi * gj)) + merge(2d0, 0d0, gi == gj)
        case default
          matrix(i, j) = 1d0 / (1 + abs(gi - gj)) + merge(4d0, 0d0, gi == gj)
        end select
      end do
    end do
  end subroutine fill

  ! |kept x - b| / (n eps |kept| |x|), and |x|.
  subroutine tell(what, status)
    character(*), intent(in) :: what
    integer, intent(in) :: status
    double precision :: residual, size_of_x, size_of_a
    z = b
    call pdgemm('N', 'N', n, n, n, 1d0, kept, 1, 1, described, x, 1, 1, described, -1d0, z, 1, 1, described)
    residual = pdlange('F', n, n, z, 1, 1, described, work)
    size_of_x = pdlange('F', n, n, x, 1, 1, described, work)
    size_of_a = pdlange('F', n, n, kept, 1, 1, described, work)
    residual = residual / (n * epsilon(1d0) * size_of_a * size_of_x)
    if (process == 0) print '(a, i0, f12.6, es24.15)', what // ' ', status, residual, size_of_x
  end subroutine tell

end program mkl_solve
