// Windows and multipliers of the ranks of a group, made over the group's own messages.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/group/group_bootstrap.h"
#include "test/support/load_blas.h"
#include "test/windows/window_ranks.h"
#include "windows/core/window.h"
#include "windows/multiply/multiply.h"

namespace brigade {
namespace {

const bool kBlasIsLoaded = [] {
  LoadBlas();
  return true;
}();

class WindowOfGroup : public testing::TestWithParam<WindowSetup> {};
INSTANTIATE_TEST_SUITE_P(Over, WindowOfGroup, testing::ValuesIn(WindowSetups()),
                         [](const auto& test) { return test.param.name; });
INSTANTIATE_TEST_SUITE_P(In, WindowOfGroup, testing::ValuesIn(SimulatedWindowSetups()),
                         [](const auto& test) { return test.param.name; });

void Expect(bool yes, const std::string& what) {
  if (!yes) throw std::runtime_error(what);
}

// Every member puts its rank there into each other's memory.
void UseWindow(Window* window, const std::vector<int64_t>& memory) {
  Require(window->Fence());
  const int64_t mine = window->rank() + 100;
  const TypedLayout one = TypedLayout::Run(Element::kInt64, 1);
  for (int r = 0; r < window->size(); ++r) {
    auto* const data = reinterpret_cast<std::byte*>(const_cast<int64_t*>(&mine));
    Require(window->Put({data, one, 1}, {r, window->rank(), one, 1}));
  }
  Require(window->Fence());
  for (int r = 0; r < window->size(); ++r) {
    Expect(memory[static_cast<size_t>(r)] == r + 100, "what has been put");
  }
  Require(window->Free());
}

TEST_P(WindowOfGroup, IsMadeOfAllRanksAndOfParts) {
  OnWindowRanks(GetParam(), 5, [](WindowRank& self) {
    std::vector<int64_t> memory(5, -1);
    WindowOptions options;
    options.kind = WindowMemory::kPrivate;
    options.memory = reinterpret_cast<std::byte*>(memory.data());
    options.bytes = memory.size() * sizeof(int64_t);
    options.unit = sizeof(int64_t);
    options.goes_directly = self.setup().goes_directly(self.rank());
    options.is_checked = self.setup().is_checked(self.rank());
    const auto make = [&](const std::vector<int>& members, std::unique_ptr<Window>* window) {
      Require(GroupBootstrap::Use(self.group(), members, [&](Bootstrap* bootstrap) {
        return Window::Create(self.space(), bootstrap, options, window);
      }));
    };
    std::unique_ptr<Window> window;
    make({0, 1, 2, 3, 4}, &window);
    UseWindow(window.get(), memory);
    window.reset();
    const int rank = self.rank();
    make(rank == 2  ? std::vector<int>()
         : rank < 2 ? std::vector<int>{1, 0}
                    : std::vector<int>{3, 4},
         &window);
    Expect((window == nullptr) == (rank == 2), "who has a window");
    if (window != nullptr) UseWindow(window.get(), memory);
  });
}

// C = A * B on a grid of 2 x 2 ranks of a group of 5, with one element on each.
TEST_P(WindowOfGroup, MultipliesOnSomeRanks) {
  OnWindowRanks(GetParam(), 5, [](WindowRank& self) {
    const std::vector<int> grid = {4, 0, 3, 1};
    MultiplierOptions options;
    options.rows = options.cols = 2;
    options.goes_directly = self.setup().goes_directly(self.rank());
    std::unique_ptr<Multiplier> multiplier;
    const bool is_member = self.rank() != 2;
    Require(GroupBootstrap::Use(
        self.group(), is_member ? grid : std::vector<int>(), [&](Bootstrap* bootstrap) {
          return Multiplier::Create(self.space(), bootstrap, options, &multiplier);
        }));
    Expect((multiplier != nullptr) == is_member, "who has a multiplier");
    if (!is_member) return;
    Expect(grid[static_cast<size_t>(multiplier->rank())] == self.rank(), "the order");
    // A = B = (1 2; 3 4) by rank in the grid.
    double a = multiplier->rank() + 1.0;
    double b = a;
    double c = -1;
    const double one = 1;
    const double zero = 0;
    MultiplyCall call;
    call.m = call.n = call.k = 2;
    call.alpha = &one;
    call.beta = &zero;
    const auto shape = [](DistributedMatrix* matrix, double* data) {
      matrix->rows = matrix->cols = 2;
      matrix->row_block = matrix->col_block = 1;
      matrix->data = reinterpret_cast<std::byte*>(data);
      matrix->ld = 1;
    };
    shape(&call.a, &a);
    shape(&call.b, &b);
    shape(&call.c, &c);
    Require(multiplier->Multiply(call));
    const double expected[] = {7, 10, 15, 22};
    Expect(c == expected[multiplier->rank()], "the product");
    Require(multiplier->Free());
  });
}

}  // namespace
}  // namespace brigade
