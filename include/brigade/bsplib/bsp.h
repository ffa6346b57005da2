/// @file
/// `<bsp.h>` for programs that were written for another BSPlib: includes brigade/bsp.h. The folder
/// of this file contains no other file, so `-I` of this folder hides no header of another project.

#include "../bsp.h"
