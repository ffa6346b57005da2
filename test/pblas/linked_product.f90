! Multiplies a matrix by the identity on a 2 x 2 grid, and fails if that changes it: a program to link.

program linked_product
  implicit none
  integer, parameter :: n = 600, nb = 32
  integer :: pnum, procs, context, row, col, rows, cols, i, j, info
  integer :: is(9)
  double precision, allocatable :: a(:, :), b(:, :), c(:, :)
  integer, external :: numroc, indxl2g

  call blacs_pinfo(pnum, procs)
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, 'R', 2, 2)
  call blacs_gridinfo(context, i, j, row, col)
  rows = numroc(n, nb, row, 0, 2)
  cols = numroc(n, nb, col, 0, 2)
  allocate (a(rows, cols), b(rows, cols), c(rows, cols))
  call descinit(is, n, n, nb, nb, 0, 0, context, rows, info)
  do j = 1, cols
    do i = 1, rows
      a(i, j) = indxl2g(i, nb, row, 0, 2) + n * indxl2g(j, nb, col, 0, 2)
      b(i, j) = merge(1, 0, indxl2g(i, nb, row, 0, 2) == indxl2g(j, nb, col, 0, 2))
    end do
  end do
  c = -1
  call pdgemm('N', 'N', n, n, n, 1d0, a, 1, 1, is, b, 1, 1, is, 0d0, c, 1, 1, is)
  if (any(c /= a)) error stop 'the product is wrong'
  call blacs_gridexit(context)
  call blacs_exit(0)
end program
