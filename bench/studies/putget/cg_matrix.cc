#include "bench/studies/putget/cg_matrix.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/studies/putget/nas_random.h"

namespace brigade::bench {
namespace {

constexpr CgClass kClasses[] = {{'S', 1400, 7, 15, 10, 8.5971775078648},
                                {'W', 7000, 8, 15, 12, 10.362595087124},
                                {'A', 14000, 11, 15, 20, 17.130235054029},
                                {'B', 75000, 13, 75, 60, 22.712745482631},
                                {'C', 150000, 15, 75, 110, 28.973605592845}};

constexpr double kConditionNumber = 0.1;  // its reciprocal

struct Entry {
  int row, column;
  double value;
};
using SparseVector = std::vector<std::pair<int, double>>;  // places and values

SparseVector::iterator Find(SparseVector* vector, int place) {
  return std::find_if(vector->begin(), vector->end(),
                      [place](const auto& entry) { return entry.first == place; });
}

// Random values in so many different random places below n.
void Fill(int n, int nonzeros, NasRandom* random, SparseVector* vector) {
  int power = 1;
  while (power < n) power *= 2;
  vector->clear();
  while (vector->size() < static_cast<size_t>(nonzeros)) {
    const double value = random->Next();
    const int place = static_cast<int>(power * random->Next());
    if (place < n && Find(vector, place) == vector->end()) vector->emplace_back(place, value);
  }
}

}  // namespace

const CgClass* FindCgClass(char name) {
  const auto* const found = std::find_if(std::begin(kClasses), std::end(kClasses),
                                         [name](const CgClass& one) { return one.name == name; });
  return found == std::end(kClasses) ? nullptr : found;
}

void MakeCgBlock(const CgClass& of, CgBlock* block) {
  const auto has_row = [&](int row) {
    return row >= block->first_row && row < block->first_row + block->rows;
  };
  const auto has_column = [&](int column) {
    return column >= block->first_column && column < block->first_column + block->columns;
  };
  NasRandom random;
  random.Next();  // the first is not used
  const double ratio = std::pow(kConditionNumber, 1.0 / of.n);
  double size = 1;
  std::vector<Entry> entries;
  SparseVector vector;
  for (int i = 0; i < of.n; ++i) {
    Fill(of.n, of.nonzeros, &random, &vector);
    const auto own = Find(&vector, i);
    if (own == vector.end()) {
      vector.emplace_back(i, 0.5);
    } else {
      own->second = 0.5;
    }
    for (const auto& [column, of_column] : vector) {
      if (!has_column(column)) continue;
      for (const auto& [row, of_row] : vector) {
        if (has_row(row)) entries.push_back({row, column, of_row * (of_column * size)});
      }
    }
    size *= ratio;
  }
  for (int i = block->first_row; i < block->first_row + block->rows; ++i) {
    if (has_column(i)) entries.push_back({i, i, kConditionNumber - of.shift});
  }

  // Sums of one place in the order in which they were made, so that all runs have the same bits.
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  block->starts.assign(1, 0);
  const Entry* last = nullptr;
  for (const Entry& entry : entries) {
    const auto row = static_cast<size_t>(entry.row - block->first_row);
    while (block->starts.size() <= row) block->starts.push_back(block->value.size());
    if (last != nullptr && last->row == entry.row && last->column == entry.column) {
      block->value.back() += entry.value;
    } else {
      block->column.push_back(entry.column - block->first_column);
      block->value.push_back(entry.value);
    }
    last = &entry;
  }
  while (block->starts.size() <= static_cast<size_t>(block->rows)) {
    block->starts.push_back(block->value.size());
  }
}

}  // namespace brigade::bench
