// GridRows: the rows of the grid of ranks that is nearest to a square, and not higher than wide.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_GRID_ROWS_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_GRID_ROWS_H_

namespace brigade::bench {

inline int GridRows(int ranks) {
  int rows = 1;
  for (int i = 1; i * i <= ranks; ++i) {
    if (ranks % i == 0) rows = i;
  }
  return rows;
}

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_GRID_ROWS_H_
