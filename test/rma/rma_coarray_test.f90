! Images of Fortran, whose compiler makes windows of coarrays: gets, puts and strided sections of them, events, locks,
! critical sections, atomics, collectives, and components that are allocated one by one. Each image says what it found.

program coarrays
  use iso_fortran_env, only: atomic_int_kind, event_type, lock_type
  implicit none
  integer, parameter :: turns = 20
  type :: row
    real, allocatable :: values(:)
  end type row
  type(event_type) :: told[*]
  type(lock_type) :: turn[*]
  type(row) :: owned[*]
  integer(atomic_int_kind) :: counted[*], swapped[*]
  integer :: me, all, next, before, i, found, seen(8, 6)[*], total[*], guarded[*]
  double precision :: part(4)

  me = this_image()
  all = num_images()
  next = merge(1, me + 1, me == all)
  before = merge(all, me - 1, me == 1)

  ! Whole blocks and strided sections, to the next image and from it.
  seen = 0
  total = 0
  guarded = 0
  counted = 0
  swapped = 0
  sync all
  seen(1:8:3, 2)[next] = [10 * me + 1, 10 * me + 2, 10 * me + 3]
  seen(5, :)[next] = [(100 * me + i, i = 1, 6)]
  sync all
  write (*, '(a, i0, a, *(1x, i0))') 'image ', me, ' was put', sum(seen), seen(5, :), seen(:, 2)
  found = sum(seen(2:8:3, 1:6:2)[next]) + seen(1, 2)[next]
  write (*, '(a, i0, a, *(1x, i0))') 'image ', me, ' gets', found
  sync all

  ! Each image waits for the one before, and then signals the next: all wait but one.
  do i = 1, turns
    if (me /= 1) event wait (told)
    if (all > 1) event post (told[next])
    if (me == 1) event wait (told)
  end do

  ! One at a time, by a lock and by a critical section: both read, add, and write back.
  do i = 1, turns
    lock (turn[1])
    total[1] = total[1] + me
    unlock (turn[1])
    critical
      guarded[1] = guarded[1] + 1
    end critical
    call atomic_add(counted[1], 1)
  end do
  sync all
  if (me == 1) write (*, '(a, *(1x, i0))') 'together', total, guarded, counted, turns * all * (all + 1) / 2, turns * all
  if (me == 1 .and. (total /= turns * all * (all + 1) / 2 .or. guarded /= turns * all .or. counted /= turns * all)) &
    error stop 'not everything was counted'

  ! Exactly one image finds that nobody was there.
  call atomic_cas(swapped[1], found, 0, me)
  total = merge(1, 0, found == 0)
  call co_sum(total)
  if (total /= 1) error stop 'one image alone is the first'

  part = [(me * 0.5d0 ** i, i = 1, 4)]
  call co_sum(part)
  call co_max(found)
  write (*, '(a, i0, a, *(1x, f0.4))') 'image ', me, ' sums to', part

  ! Components of their own size, which come with windows of their own.
  allocate (owned%values(2 * me))
  owned%values = [(real(100 * me + i), i = 1, 2 * me)]
  sync all
  write (*, '(a, i0, a, *(1x, f0.1))') 'image ', me, ' has beside it', owned[before]%values(2:2 * before:2)
  sync all
end program coarrays
