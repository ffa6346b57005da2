// The meaning of the BLACS operations, by direct definition: the elements that they move, their
// data, and the results of combines. Shares no code with the implementation under test.

#ifndef BRIGADE_TEST_BLACS_BLACS_ORACLE_H_
#define BRIGADE_TEST_BLACS_BLACS_ORACLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brigade {

// The part of an m x n column-major matrix that an operation moves: all of it or a trapezoid.
struct Region {
  bool trapezoid = false;
  bool upper = false;
  bool unit_diagonal = false;
  int m = 0;
  int n = 0;
};

std::string ToString(const Region& region);

// Offsets, in elements from the matrix' first, of the region's elements in the order they travel.
std::vector<size_t> ElementOffsets(const Region& region, int lda);
size_t ElementCount(const Region& region);

// A matrix in memory with padding before it, after it and (for lda > m) below each column. Every
// byte that belongs to no operation is a canary.
class Image {
 public:
  // All canaries, which differ from byte to byte and from `key` to `key`. `lda` is the leading
  // dimension given to BLACS, which takes the larger of it and `m`. `front_bytes` are before the
  // matrix, which decides its alignment.
  Image(uint64_t key, int m, int n, int lda, size_t element_bytes, size_t front_bytes);

  unsigned char* Element(size_t offset) { return &bytes_[front_bytes_ + offset * element_bytes_]; }
  const std::vector<unsigned char>& bytes() const { return bytes_; }
  // Overwrites every byte, as the caller of a locally blocking routine may.
  void Scribble();
  // Where a byte is, in words.
  std::string Locate(size_t byte) const;

 private:
  int m_, n_;
  size_t lda_, element_bytes_, front_bytes_;
  std::vector<unsigned char> bytes_;
};

// A good 64-bit hash of its arguments.
uint64_t Mix(uint64_t a, uint64_t b);

// Bytes of one element of type 'i', 's', 'd', 'c' or 'z'; and of its real or imaginary part.
size_t ElementBytes(char type);
size_t ScalarBytes(char type);

// Fills an element with any bits: elements that are only moved may be NaN.
void FillArbitrary(uint64_t key, size_t index, size_t element_bytes, void* element);

enum class CombineOp { kSum, kAbsMax, kAbsMin };

// The element a rank contributes. Sums are exact in any order: small whole numbers and signed zeros
// in floating point, any integer for 'i' (sums wrap). Maxima and minima have many ties in absolute
// value, and neither NaN, nor signed zeros, nor INT_MIN.
void FillOperand(CombineOp op, char type, uint64_t key, int rank, size_t index, void* element);

// Writes the combination of the ranks' operands at `index` to `result`. `ranks` is in order of
// increasing distance from where the result goes: the first of equals in absolute value wins,
// unless `signed_ties`, when the larger signed value does. Returns the winner's position in `ranks`
// (0 for sums).
size_t CombineOperands(CombineOp op, char type, bool signed_ties, uint64_t key,
                       const std::vector<int>& ranks, size_t index, void* result);

}  // namespace brigade

#endif  // BRIGADE_TEST_BLACS_BLACS_ORACLE_H_
