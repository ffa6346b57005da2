// Decides whether this library or the PBLAS behind it computes a product. Results differ in the
// last bits, so the decision is a fixed function of arguments that are equal on all ranks.

#ifndef BRIGADE_PBLAS_SHIM_DECISION_H_
#define BRIGADE_PBLAS_SHIM_DECISION_H_

#include <cstdint>

#include "patterns/settings/settings.h"

namespace brigade {
namespace pblas {

struct ProductShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int rows = 1;  // of the grid
  int cols = 1;
  bool is_half = false;  // half of C: P?SYRK, P?HERK
};

// Returns the reason why the product is left to the PBLAS; null: it is not. `is_row_by_row`:
// whether the BLACS number the grid's ranks row by row.
const char* WhyLeft(Settings::When when, const ProductShape& shape, bool is_row_by_row);

}  // namespace pblas
}  // namespace brigade

#endif  // BRIGADE_PBLAS_SHIM_DECISION_H_
