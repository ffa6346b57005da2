// Panels: what a rank sums over, as a list of products that each have one owner along the sum in A
// and one in B.
//
// The indices of the sum are put into classes: those that the same row or column of the grid has in
// A, and the same in B. An owner has what is in a class in few pieces, often in one, however small
// the blocks are. Panels are cut from classes. They are added in a fixed way, whatever the order in
// which they are computed: each belongs to one of two sums, within a sum they are added as listed,
// and the second sum is added to the first. Each order of visits.h takes the panels of one sum as
// they are listed.

#ifndef BRIGADE_WINDOWS_MULTIPLY_PANELS_H_
#define BRIGADE_WINDOWS_MULTIPLY_PANELS_H_

#include <cstdint>
#include <vector>

#include "windows/multiply/distribution.h"

namespace brigade {

struct Panel {
  std::vector<IndexRange> indices;  // of the sum
  int64_t width = 0;
  int class_number = 0;
  int a_owner = 0;  // along the sum
  int b_owner = 0;
};

// Class after class, in the order in which they first appear; the same on all ranks but for the
// width. `a`, `b`: how the `k` indices of the sum are distributed in A and B.
std::vector<Panel> CutIntoPanels(const Distribution& a, const Distribution& b, int64_t k,
                                 int64_t width);

// The class with which the rank at (row, col) of the grid begins in diagonal order: the diagonal
// shift k_0 = (i + j) mod q. REQUIRES: not empty. Source: SRUMMA, section 3.1.
int FirstClassOf(const std::vector<Panel>& panels, int row, int col);

// Sum 0 has the classes from the first one on, and is never empty. Sum 1 has the classes before the
// first one, and is empty if that is class 0.
inline constexpr int kSums = 2;
int SumOf(int class_number, int first_class);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_PANELS_H_
