! The attributes of a window through the module mpi_f08, those of the program among them.
program rma_attributes_test
  use mpi_f08
  implicit none
  integer, parameter :: width = 4
  type(MPI_Win) :: win
  integer :: key
  integer, asynchronous :: memory(4)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place, own

  call MPI_Init()
  bytes = 4 * width
  own = 77
  call MPI_Win_create(memory, bytes, width, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Get_address(memory, place)
  call expect(MPI_WIN_BASE, place)
  call expect(MPI_WIN_SIZE, bytes)
  call expect(MPI_WIN_DISP_UNIT, int(width, MPI_ADDRESS_KIND))
  call expect(MPI_WIN_CREATE_FLAVOR, int(MPI_WIN_FLAVOR_CREATE, MPI_ADDRESS_KIND))
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, own)
  call MPI_Win_set_attr(win, key, own)
  call expect(key, own)
  call MPI_Win_free(win)
  call MPI_Finalize()

contains

  subroutine expect(key, value)
    integer, intent(in) :: key
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: value
    integer(kind=MPI_ADDRESS_KIND) :: found
    logical :: is_there
    call MPI_Win_get_attr(win, key, found, is_there)
    if (.not. is_there .or. found /= value) call MPI_Abort(MPI_COMM_WORLD, 3)
  end subroutine
end program
