! A grid of two processes by a map. Behind the handle stands what integers of twice the width take for its
! upper half. Linked with the library for the other width than it is compiled with (blacs_width_test.sh).
program blacs_width_test
  implicit none
  integer :: context(2), map(2)

  call blacs_get(-1, 0, context)
  context = [0, 7]
  map = [0, 1]
  call blacs_gridmap(context, map, 2, 2, 1)
  call blacs_exit(0)
end program blacs_width_test
