#include "windows/multiply/areas.h"

#include <algorithm>
#include <cstddef>

#include "windows/rules.h"

namespace brigade {
namespace {

void AddAreas(const Area& area, const std::vector<IndexRange>& wanted, std::vector<Area>* areas) {
  const int64_t end = area.row + area.rows;
  // From the first column to the last one, the wanted rows only grow or only shrink.
  const IndexRange& first = wanted[static_cast<size_t>(area.col)];
  const IndexRange& last = wanted[static_cast<size_t>(area.col + area.cols - 1)];
  const auto has_none = [&](const IndexRange& some) {
    return some.end <= area.row || some.begin >= end;
  };
  if (has_none(first) && has_none(last)) return;
  const bool is_crossed =
      std::max(first.begin, last.begin) > area.row || std::min(first.end, last.end) < end;
  if (!is_crossed || std::max(area.rows, area.cols) <= rules::kMostCrossed) {
    areas->push_back(area);
    areas->back().is_crossed = is_crossed;
    return;
  }
  Area one = area;
  Area other = area;
  if (area.rows > area.cols) {
    one.rows = area.rows / 2;
    other.row += one.rows;
    other.rows -= one.rows;
  } else {
    one.cols = area.cols / 2;
    other.col += one.cols;
    other.cols -= one.cols;
  }
  AddAreas(one, wanted, areas);
  AddAreas(other, wanted, areas);
}

}  // namespace

std::vector<IndexRange> WantedRows(Half half, const std::vector<IndexRange>& rows,
                                   const std::vector<IndexRange>& cols) {
  const int64_t all = CountOf(rows);
  std::vector<IndexRange> wanted;
  size_t range = 0;
  int64_t before = 0;  // it
  for (const IndexRange& some : cols) {
    for (int64_t col = some.begin; col < some.end; ++col) {
      const int64_t bound = half == Half::kUpper ? col + 1 : col;
      for (; range < rows.size() && rows[range].end <= bound; ++range) {
        before += rows[range].count();
      }
      const int64_t within =
          range < rows.size() ? std::max<int64_t>(0, bound - rows[range].begin) : 0;
      const int64_t above = before + within;  // rows whose index is below the bound
      wanted.push_back({half == Half::kLower ? above : 0, half == Half::kUpper ? above : all});
    }
  }
  return wanted;
}

std::vector<Area> AreasOf(const Area& all, const std::vector<IndexRange>& wanted) {
  std::vector<Area> areas;
  AddAreas(all, wanted, &areas);
  return areas;
}

}  // namespace brigade
