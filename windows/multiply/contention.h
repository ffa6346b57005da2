// How many ranks fetch from one host at a time: what the orders of visits.h are for, as a number.

#ifndef BRIGADE_WINDOWS_MULTIPLY_CONTENTION_H_
#define BRIGADE_WINDOWS_MULTIPLY_CONTENTION_H_

#include <vector>

namespace brigade {

// The most fetches that ranks of one host make from one other host in the same step. `asked`: by
// rank and step, the ranks that it fetches from, itself perhaps; `host_of`: by rank.
//
// Source: SRUMMA, section 3.1.
int MostFetchesAtOnce(const std::vector<std::vector<std::vector<int>>>& asked,
                      const std::vector<int>& host_of);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_CONTENTION_H_
