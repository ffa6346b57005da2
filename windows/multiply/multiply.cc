#include "windows/multiply/multiply.h"

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "membuf/element.h"
#include "patterns/group/group_agreement.h"
#include "windows/layout/typed_layout.h"
#include "windows/memory/member.h"
#include "windows/multiply/call_check.h"
#include "windows/multiply/operand.h"
#include "windows/multiply/product.h"

namespace brigade {
namespace {

// Options that must be equal on all ranks of a grid.
struct Agreed {
  int64_t rows;
  int64_t cols;
  uint64_t buffer_bytes;
};

Status CheckGrid(const MultiplierOptions& options, int ranks) {
  if (options.rows < 1 || options.cols < 1 || int64_t{options.rows} * options.cols != ranks) {
    return {StatusCode::kInvalidArgument, "a grid of " + std::to_string(options.rows) + " x " +
                                              std::to_string(options.cols) + " for " +
                                              std::to_string(ranks) + " ranks"};
  }
  if (options.buffer_bytes < kLeastMultiplyBuffer) {
    return {StatusCode::kInvalidArgument,
            "buffer_bytes is " + std::to_string(options.buffer_bytes) + ", and must be at least " +
                std::to_string(kLeastMultiplyBuffer)};
  }
  return Status();
}

}  // namespace

Multiplier::Multiplier(const MultiplierOptions& options, std::unique_ptr<Window> window)
    : options_(options), memory_(std::make_unique<ProductMemory>()), window_(std::move(window)) {}

Multiplier::~Multiplier() = default;

int Multiplier::rank() const { return window_->rank(); }

Status Multiplier::Create(WindowSpace* space, Bootstrap* bootstrap,
                          const MultiplierOptions& options,
                          std::unique_ptr<Multiplier>* multiplier) {
  BRIGADE_RETURN_IF_ERROR(AgreeOnOutcome(bootstrap, CheckGrid(options, bootstrap->size())));
  const Agreed mine{options.rows, options.cols, options.buffer_bytes};
  int rank = -1;
  Agreed first{};
  Agreed other{};
  BRIGADE_RETURN_IF_ERROR(bootstrap->FindDifference(&mine, sizeof(mine), &rank, &first, &other));
  if (rank >= 0) {
    const auto shape = [](const Agreed& one) {
      return std::to_string(one.rows) + " x " + std::to_string(one.cols);
    };
    const bool is_shape = first.rows != other.rows || first.cols != other.cols;
    return {StatusCode::kMismatch,
            "the ranks of a grid differ in " +
                (is_shape ? "its shape: rank 0 has " + shape(first)
                          : "the buffers of products (BRIGADE_MULTIPLY_BYTES): rank 0 has " +
                                std::to_string(first.buffer_bytes)) +
                ", rank " + std::to_string(rank) + " has " +
                (is_shape ? shape(other) : std::to_string(other.buffer_bytes))};
  }
  WindowOptions all;
  all.kind = WindowMemory::kProcess;
  all.goes_directly = options.goes_directly;
  std::unique_ptr<Window> window;
  BRIGADE_RETURN_IF_ERROR(Window::Create(space, bootstrap, all, &window));
  multiplier->reset(new Multiplier(options, std::move(window)));
  return Status();
}

Status Multiplier::Free() { return window_->Free(); }

Status Multiplier::Leave() {
  if (!is_broken()) memory_.reset();  // what is on its way may still arrive
  return window_->Leave();
}

Status Multiplier::Agree(const CallRecord& mine, std::vector<CallRecord>* all) {
  all->resize(static_cast<size_t>(window_->size()));
  BRIGADE_RETURN_IF_ERROR(window_->AllGather(&mine, sizeof(mine), all->data(), look_));
  // All ranks are in this call, and answer.
  for (const std::atomic<bool>* const over : reads_) {
    BRIGADE_RETURN_IF_ERROR(window_->WaitFor(*over));
  }
  reads_.clear();
  return CheckRecords(*all);
}

Status Multiplier::Refuse(const Status& why) {
  std::vector<CallRecord> records;
  return window_->CatchOutOfMemory([&] { return Agree(RecordOf(MultiplyCall(), why), &records); });
}

Status Multiplier::Read(int rank, uint64_t address, int64_t* number, std::atomic<bool>* over) {
  const TypedLayout& one = TypedLayout::One(Element::kInt64);
  reads_.push_back(over);
  return window_->Get({reinterpret_cast<std::byte*>(number), one, 1},
                      {rank, static_cast<int64_t>(address - kProcessAddress), one, 1}, over);
}

Status Multiplier::Multiply(const MultiplyCall& call, const MultiplyOptions& options,
                            MultiplyStatistics* statistics) {
  MultiplyStatistics ignored;
  if (statistics == nullptr) statistics = &ignored;
  *statistics = MultiplyStatistics();
  Status mine = CheckCall(call, options, options_, rank());
  std::unique_ptr<Product> product;
  if (mine.ok()) {
    try {
      product = std::make_unique<Product>(call, options, options_, rank());
      mine = product->Prepare(memory_.get());
    } catch (const std::bad_alloc&) {
      mine = {StatusCode::kOutOfMemory, "a list of columns, tiles or panels"};
    }
  }
  // Records may arrive in these until the window is broken.
  std::vector<CallRecord> records;
  std::vector<char> all;
  return window_->CatchOutOfMemory([&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(Agree(RecordOf(call, mine), &records));
    std::vector<PartPlace> a;
    std::vector<PartPlace> b;
    for (const CallRecord& other : records) {
      a.push_back(other.a);
      b.push_back(other.b);
    }
    BRIGADE_RETURN_IF_ERROR(product->Run(window_.get(), a, b, memory_.get(), statistics));
    // Until all have what they need of A and B.
    const char done = 0;
    all.resize(records.size());
    return window_->AllGather(&done, sizeof(done), all.data());
  });
}

}  // namespace brigade
