#include "bench/runner/panel.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace brigade::bench {
namespace {

constexpr double kPoison = -1;

// Positions repeat after 2^32 elements; the sum of the first 2000 sources still fits 53 bits.
double ValueOf(int source, int64_t position) {
  return static_cast<double>((int64_t{source} + 1) << 32 | (position & 0xffffffff));
}

}  // namespace

Panel::Panel(int64_t rows, int64_t cols, int64_t ld, std::shared_ptr<double[]> memory)
    : memory_(memory != nullptr ? std::move(memory)
                                : std::shared_ptr<double[]>(new double[ld * cols])),
      view_{memory_.get(), rows, cols, ld} {
  Poison();
}

PanelView Panel::Columns(int64_t first, int64_t step) const {
  const int64_t cols = first < view_.cols ? (view_.cols - first + step - 1) / step : 0;
  return PanelView{view_.data + first * view_.ld, view_.rows, cols, step * view_.ld};
}

void Panel::Poison() { std::fill_n(view_.data, view_.ld * view_.cols, kPoison); }

bool Panel::GapsUntouched() const {
  for (int64_t j = 0; j < view_.cols; ++j) {
    const double* column = view_.data + j * view_.ld;
    for (int64_t i = view_.rows; i < view_.ld; ++i) {
      if (column[i] != kPoison) return false;
    }
  }
  return true;
}

void Fill(const PanelView& view, int source) {
  for (int64_t j = 0; j < view.cols; ++j) {
    for (int64_t i = 0; i < view.rows; ++i) {
      view.data[j * view.ld + i] = ValueOf(source, j * view.rows + i);
    }
  }
}

void Clear(const PanelView& view) {
  for (int64_t j = 0; j < view.cols; ++j) std::fill_n(view.data + j * view.ld, view.rows, 0.0);
}

std::string CheckSum(const PanelView& view, int first, int count) {
  for (int64_t j = 0; j < view.cols; ++j) {
    for (int64_t i = 0; i < view.rows; ++i) {
      double expected = 0;
      for (int s = first; s < first + count; ++s) expected += ValueOf(s, j * view.rows + i);
      const double found = view.data[j * view.ld + i];
      if (found == expected) continue;
      std::ostringstream text;
      text.precision(17);
      text << "element (" << i << ", " << j << ") is " << found << ", not " << expected;
      return text.str();
    }
  }
  return "";
}

namespace {

constexpr int64_t kLineElements = 64 / sizeof(double);

template <typename Touch>
void TouchLines(const PanelView& view, const Touch& touch) {
  for (int64_t j = 0; j < view.cols; ++j) {
    for (int64_t i = 0; i < view.rows; i += kLineElements) {
      touch(static_cast<volatile double*>(&view.data[j * view.ld + i]));
    }
  }
}

}  // namespace

void WriteLines(const PanelView& view) {
  TouchLines(view, [](volatile double* element) { *element = *element; });
}

void ReadLines(const PanelView& view) {
  TouchLines(view, [](volatile double* element) { (void)*element; });
}

void Pack(const PanelView& view, double* packed) {
  for (int64_t j = 0; j < view.cols; ++j) {
    std::copy_n(view.data + j * view.ld, view.rows, packed + j * view.rows);
  }
}

void Unpack(const double* packed, const PanelView& view) {
  for (int64_t j = 0; j < view.cols; ++j) {
    std::copy_n(packed + j * view.rows, view.rows, view.data + j * view.ld);
  }
}

}  // namespace brigade::bench
