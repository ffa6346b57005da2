/// @file
/// `<bsp.h>` for programs of BSPlib that do not know Brigade: brigade/bsp.h. The folder of this
/// file holds nothing else, so that `-I` of it hides no header of another project.

#include "../bsp.h"
