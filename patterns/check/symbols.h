// Symbols: what the checker's ranks hold in memory instead of data.

#ifndef BRIGADE_PATTERNS_CHECK_SYMBOLS_H_
#define BRIGADE_PATTERNS_CHECK_SYMBOLS_H_

#include <cstdint>
#include <vector>

namespace brigade {

// The contents of one segment of memory. Contributions are numbered in the order in which the
// pattern promises to combine them; a value holds those of [low, high] and remembers how they were
// put together.
struct Value {
  int block = -2;  // -1: matrix; -2: nothing
  int64_t segment = -1;
  int low = 0;
  int high = 0;
  uint64_t association = 0;
  uint64_t knows = 0;  // ranks whose arrival this message proves (groups of up to 64)

  bool is_nothing() const { return block == -2; }
};

inline bool SameData(const Value& a, const Value& b) {
  return a.block == b.block && a.segment == b.segment && a.low == b.low && a.high == b.high &&
         a.association == b.association;
}

// How a contribution is put together, and what combining two operands makes of them.
inline uint64_t Associate(uint64_t left, uint64_t right) {
  uint64_t x = left * 0x9E3779B97F4A7C15u + (right ^ (right >> 29)) * 0xBF58476D1CE4E5B9u + 1;
  x ^= x >> 31;
  return x * 0x94D049BB133111EBu;
}
inline uint64_t AssociationOf(int position) {
  return Associate(static_cast<uint64_t>(position) + 1, 7);
}

// One rank's user memory.
struct UserMemory {
  std::vector<Value> matrix;               // by segment
  std::vector<std::vector<Value>> blocks;  // by block, or share, and segment
  // Contributions that are apart from both.
  std::vector<Value> source;
  std::vector<std::vector<Value>> source_blocks;
  uint64_t knows = 0;  // ranks whose arrival it has received
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CHECK_SYMBOLS_H_
