! A Fortran program linked with the BLACS and nothing else of ours: a 2 x 2 grid, a broadcast in each
! row and a sum over all, on matrices with a leading dimension of their own. Run with 4 processes.
program blacs_fortran_test
  implicit none
  integer, parameter :: rows = 3, columns = 2, ld = 5
  integer, external :: blacs_pnum
  integer :: process, processes, context, nprow, npcol, row, column, i, j
  double precision :: a(ld, columns)
  logical :: failed = .false.

  call blacs_pinfo(process, processes)
  call expect(dble(processes), 4d0, 'number of processes')
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, 'Row-major', 2, 2)
  call blacs_gridinfo(context, nprow, npcol, row, column)
  call expect(dble(10 * nprow + npcol), 22d0, 'shape of the grid')
  call expect(dble(blacs_pnum(context, row, column)), dble(process), 'pnum')

  ! From the second column to the first: a(i, j) = 100 row + 10 i + j.
  a = -1
  if (column == 1) then
    do j = 1, columns
      do i = 1, rows
        a(i, j) = 100 * row + 10 * i + j
      end do
    end do
    call dgebs2d(context, 'Row', 'I-ring', rows, columns, a, ld)
  else
    call dgebr2d(context, 'Row', 'I-ring', rows, columns, a, ld, row, 1)
  end if
  call dgsum2d(context, 'All', ' ', rows, columns, a, ld, -1, -1)
  do j = 1, columns
    do i = 1, ld
      call expect(a(i, j), merge(200 + 4d0 * (10 * i + j), -1d0, i <= rows), 'element')
    end do
  end do

  call blacs_gridexit(context)
  call blacs_exit(0)
  if (failed) error stop 1

contains

  subroutine expect(actual, expected, what)
    double precision, intent(in) :: actual, expected
    character(*), intent(in) :: what
    if (actual == expected) return
    print *, what, ' is ', actual, ', expected ', expected
    failed = .true.
  end subroutine expect

end program blacs_fortran_test
