! A Fortran program linked with the BLACS and nothing else of ours: a 2 x 2 grid, a broadcast in each
! row and a sum over all, on matrices with a leading dimension of their own; then a grid by a map, and
! integers as large as there are. Run with 4 processes; compiled with default integers of either width.
program blacs_fortran_test
  implicit none
  integer, parameter :: rows = 3, columns = 2, ld = 5
  integer, external :: blacs_pnum
  integer :: process, processes, context, nprow, npcol, row, column, i, j
  ! Both halves of a wide integer are in use.
  integer, parameter :: large = ishft(huge(1), -3)
  integer :: map(2, 2), numbers(2), winner_rows(2), winner_columns(2)
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

  ! The same processes the other way round.
  map = reshape([3, 2, 1, 0], [2, 2])
  call blacs_get(-1, 0, context)
  call blacs_gridmap(context, map, 2, 2, 2)
  call blacs_gridinfo(context, nprow, npcol, row, column)
  call expect(dble(map(row + 1, column + 1)), dble(process), 'place in the map')
  call blacs_pcoord(context, blacs_pnum(context, row, column), i, j)
  call expect(dble(10 * i + j), dble(10 * row + column), 'pcoord')

  numbers = [large + process, -process]
  call igsum2d(context, 'All', ' ', 2, 1, numbers, 2, -1, -1)
  call expect_integer(numbers(1), 4 * large + 6, 'sum of integers')
  call expect_integer(numbers(2), -6, 'sum of negative integers')
  numbers = [large + process, -large - process]
  call igamx2d(context, 'All', ' ', 2, 1, numbers, 2, winner_rows, winner_columns, 2, -1, -1)
  call expect_integer(numbers(1), large + 3, 'largest integer')
  call expect_integer(numbers(2), -large - 3, 'largest negative integer')
  call expect_integer(10 * winner_rows(2) + winner_columns(2), 0, 'winner')
  numbers = 0
  if (row == 0) then
    numbers = [large, -large]
    call igesd2d(context, 2, 1, numbers, 2, 1, column)
  else
    call igerv2d(context, 2, 1, numbers, 2, 0, column)
  end if
  call expect_integer(numbers(2), -large, 'integer received')

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

  subroutine expect_integer(actual, expected, what)
    integer, intent(in) :: actual, expected
    character(*), intent(in) :: what
    if (actual == expected) return
    print *, what, ' is ', actual, ', expected ', expected
    failed = .true.
  end subroutine expect_integer

end program blacs_fortran_test
