/* The functions of brigade/group.h that make groups of a group. */

#ifndef BRIGADE_TEST_API_EVERY_GROUP_H_
#define BRIGADE_TEST_API_EVERY_GROUP_H_

#include "brigade/brigade.h"

/* Returns the number of failures, which it prints. */
int every_group(brigade_group* group);

#endif /* BRIGADE_TEST_API_EVERY_GROUP_H_ */
