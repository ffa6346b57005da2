// Panels: what a rank sums over, as a list of products that each have one owner along the sum in A
// and one in B.
//
// The indices of the sum are put into classes: those that the same row or column of the grid has in
// A, and the same in B. An owner has what is in a class in few pieces, often in one, however small
// the blocks are. Panels are cut from classes. They are added in a fixed way, whatever the order in
// which they are computed: each belongs to one of three sums, within a sum they are added as
// listed, and sums are added as listed. The three are made so that each order of visits.h takes
// what is in one sum as it is listed.

#ifndef BRIGADE_WINDOWS_MULTIPLY_PANELS_H_
#define BRIGADE_WINDOWS_MULTIPLY_PANELS_H_

#include <cstdint>
#include <vector>

#include "windows/multiply/dealing.h"

namespace brigade {

struct Panel {
  std::vector<IndexRange> indices;  // of the sum
  int64_t width = 0;
  int class_number = 0;
  int a_owner = 0;  // along the sum
  int b_owner = 0;
};

// Where a rank begins, and what it has itself: classes.
struct Starts {
  int diagonal = 0;
  int own = 0;
};

// How many sums there are: classes from the diagonal on, those before it, the own class.
inline constexpr int kSums = 3;

// Class after class, in the order in which they first appear; the same on all ranks but for the
// width. `a`, `b`: how the `k` indices of the sum are distributed in A and B.
std::vector<Panel> CutIntoPanels(const Dealing& a, const Dealing& b, int64_t k, int64_t width);

// What a rank has, as far as it decides where it begins.
struct OwnParts {
  int row = 0;  // of the rank in the grid
  int col = 0;
  int along_a = 0;  // the rank's number among the owners of the sum's indices, in A and in B
  int along_b = 0;
  int64_t of_a = 0;  // of each such index, how many elements that it needs it has, if any
  int64_t of_b = 0;
};

// The diagonal shift k_0 = (i + j) mod q, and the class of which most is here. REQUIRES: not empty.
// Source: SRUMMA, section 3.1.
Starts StartsOf(const std::vector<Panel>& panels, const OwnParts& own);

// The sum that a class belongs to.
int SumOf(int class_number, const Starts& starts);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_PANELS_H_
