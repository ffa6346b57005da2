// The names of the products, with as many arguments in each.

#include "transport/family/names.h"

#include "transport/family/init_names.h"

BRIGADE_PASS(long, psgemm_, 19)
BRIGADE_PASS(long, pdgemm_, 19)
BRIGADE_PASS(long, pcgemm_, 19)
BRIGADE_PASS(long, pzgemm_, 19)
BRIGADE_PASS(long, pssyrk_, 14)
BRIGADE_PASS(long, pdsyrk_, 14)
BRIGADE_PASS(long, pcsyrk_, 14)
BRIGADE_PASS(long, pzsyrk_, 14)
BRIGADE_PASS(long, pcherk_, 14)
BRIGADE_PASS(long, pzherk_, 14)
