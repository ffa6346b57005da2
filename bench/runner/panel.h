// Panel: a column-major matrix of doubles in user memory, as ScaLAPACK keeps one, with contents
// that betray any misplaced element.

#ifndef BRIGADE_BENCH_RUNNER_PANEL_H_
#define BRIGADE_BENCH_RUNNER_PANEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace brigade::bench {

// A view of rows x cols doubles; column j starts at data + j * ld. Sizes in elements.
struct PanelView {
  double* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;

  size_t bytes() const { return static_cast<size_t>(rows * cols) * sizeof(double); }
  bool contiguous() const { return ld == rows || cols <= 1; }
};

class Panel {
 public:
  // In `memory`, if given, of ld * cols elements.
  Panel(int64_t rows, int64_t cols, int64_t ld, std::shared_ptr<double[]> memory = nullptr);

  const PanelView& view() const { return view_; }
  // Columns first, first + step, ... of the panel.
  PanelView Columns(int64_t first, int64_t step) const;

  // Every element, and the gaps between columns, get a value that no source ever sends.
  void Poison();
  // Returns whether all gaps still have the values of Poison.
  bool GapsUntouched() const;

 private:
  std::shared_ptr<double[]> memory_;
  PanelView view_;
};

// Writes the data of `source` into `view`: integers that encode source and position, so that sums
// over up to 2000 sources are exact.
void Fill(const PanelView& view, int source);
// All elements 0: sums into it in place, again and again, stay finite.
void Clear(const PanelView& view);
// Returns an empty text if `view` has the sum of the data of sources [first, first + count);
// otherwise the place of an error.
std::string CheckSum(const PanelView& view, int first, int count);

// Writes or reads an element of every cache line; the data stay.
void WriteLines(const PanelView& view);
void ReadLines(const PanelView& view);

// Column by column into `packed`, or out of it.
void Pack(const PanelView& view, double* packed);
void Unpack(const double* packed, const PanelView& view);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_PANEL_H_
