/* Every call of brigade/calls.h on a group, in its three forms, against values computed here. */

#ifndef BRIGADE_TEST_API_EVERY_CALL_H_
#define BRIGADE_TEST_API_EVERY_CALL_H_

#include "brigade/brigade.h"

/* Returns the number of failures, which it prints. The group must have at most 64 ranks. */
int every_call(brigade_engine* engine, brigade_group* group);

#endif /* BRIGADE_TEST_API_EVERY_CALL_H_ */
