// The names of the products, with as many arguments in each.

#include "transport/family/names.h"

BRIGADE_PASS(long, psgemm_, 19)
BRIGADE_PASS(long, pdgemm_, 19)
BRIGADE_PASS(long, pcgemm_, 19)
BRIGADE_PASS(long, pzgemm_, 19)
