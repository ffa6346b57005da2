// The names of the BLACS, in C and in Fortran, with as many arguments in each.

#include "transport/family/names.h"

#include "transport/family/init_names.h"

#define BRIGADE_BOTH(result, name, arguments) \
  BRIGADE_PASS(result, C##name, arguments)    \
  BRIGADE_PASS(result, name##_, arguments)

#define BRIGADE_OF_TYPE(t)          \
  BRIGADE_BOTH(long, t##gesd2d, 7)  \
  BRIGADE_BOTH(long, t##trsd2d, 9)  \
  BRIGADE_BOTH(long, t##gerv2d, 7)  \
  BRIGADE_BOTH(long, t##trrv2d, 9)  \
  BRIGADE_BOTH(long, t##gebs2d, 7)  \
  BRIGADE_BOTH(long, t##trbs2d, 9)  \
  BRIGADE_BOTH(long, t##gebr2d, 9)  \
  BRIGADE_BOTH(long, t##trbr2d, 11) \
  BRIGADE_BOTH(long, t##gsum2d, 9)  \
  BRIGADE_BOTH(long, t##gamx2d, 12) \
  BRIGADE_BOTH(long, t##gamn2d, 12)
BRIGADE_OF_TYPE(i)
BRIGADE_OF_TYPE(s)
BRIGADE_OF_TYPE(d)
BRIGADE_OF_TYPE(c)
BRIGADE_OF_TYPE(z)

BRIGADE_BOTH(long, blacs_pinfo, 2)
BRIGADE_BOTH(long, blacs_setup, 2)
BRIGADE_BOTH(long, blacs_get, 3)
BRIGADE_BOTH(long, blacs_set, 3)
BRIGADE_BOTH(long, blacs_gridinit, 4)
BRIGADE_BOTH(long, blacs_gridmap, 5)
BRIGADE_BOTH(long, blacs_gridexit, 1)
BRIGADE_BOTH(long, blacs_gridinfo, 5)
BRIGADE_BOTH(long, blacs_pnum, 3)
BRIGADE_BOTH(long, blacs_pcoord, 4)
BRIGADE_BOTH(long, blacs_barrier, 2)
BRIGADE_BOTH(long, blacs_freebuff, 2)
BRIGADE_BOTH(long, blacs_abort, 2)
BRIGADE_BOTH(long, blacs_exit, 1)
BRIGADE_BOTH(long, sys2blacs_handle, 1)
BRIGADE_BOTH(long, blacs2sys_handle, 1)
BRIGADE_BOTH(long, free_blacs_system_handle, 1)
BRIGADE_BOTH(long, ksendid, 3)
BRIGADE_BOTH(long, krecvid, 3)
BRIGADE_BOTH(long, kbsid, 2)
BRIGADE_BOTH(long, kbrid, 4)
BRIGADE_BOTH(double, dcputime00, 0)
BRIGADE_BOTH(double, dwalltime00, 0)
