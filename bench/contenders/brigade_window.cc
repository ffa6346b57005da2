#include "bench/contenders/brigade_window.h"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "windows/core/window.h"

namespace brigade::bench {
namespace {

class PendingOver final : public Pending {
 public:
  explicit PendingOver(Window* window, double value = 0) : window_(window), value_(value) {}
  std::atomic<bool>* over() { return &over_; }
  const double* value() const { return &value_; }
  Status Wait() override { return window_->WaitFor(over_); }

 private:
  Window* const window_;
  const double value_;  // what it adds
  std::atomic<bool> over_{false};
};

class BrigadeWindow final : public OneSided {
 public:
  explicit BrigadeWindow(int64_t doubles) : private_(static_cast<size_t>(doubles)) {}

  Status Make(BrigadeGroup* group, WindowSpace* space, int64_t doubles, bool is_shared,
              bool goes_directly) {
    WindowOptions options;
    options.kind = is_shared ? WindowMemory::kShared : WindowMemory::kPrivate;
    options.memory = reinterpret_cast<std::byte*>(private_.data());
    options.bytes = static_cast<size_t>(doubles) * sizeof(double);
    options.unit = sizeof(double);
    options.goes_directly = goes_directly;
    group_ = group;
    return Window::Create(space, group->bootstrap(), options, &window_);
  }

  std::string name() const override { return "brigade"; }
  double* memory() override { return reinterpret_cast<double*>(window_->base()); }
  double* MemoryOf(int rank) override {
    return window_->is_direct() ? reinterpret_cast<double*>(window_->PointerTo(rank)) : nullptr;
  }

  Status Put(const double* data, int64_t count, int rank, int64_t displacement) override {
    return window_->Put(Here(data, count), {rank, displacement, one_, count});
  }
  Status PutBlocks(const double* data, const BlockType& type, int64_t count, int rank,
                   int64_t displacement) override {
    OriginData here = Here(data, count);
    here.layout = type.layout();
    return window_->Put(here, {rank, displacement, type.layout(), count});
  }
  Status Get(double* data, int64_t count, int rank, int64_t displacement) override {
    return window_->Get(Here(data, count), {rank, displacement, one_, count});
  }
  Status StartGet(double* data, int64_t count, int rank, int64_t displacement,
                  std::unique_ptr<Pending>* pending) override {
    auto made = std::make_unique<PendingOver>(window_.get());
    BRIGADE_RETURN_IF_ERROR(
        window_->Get(Here(data, count), {rank, displacement, one_, count}, made->over()));
    *pending = std::move(made);
    return Status();
  }
  Status Add(const double* data, int64_t count, int rank, int64_t displacement) override {
    return window_->Accumulate(CombineOp::kSum, Here(data, count),
                               {rank, displacement, one_, count});
  }
  Status StartAdd(const double* data, int64_t count, int rank, int64_t displacement,
                  std::unique_ptr<Pending>* pending) override {
    auto made = std::make_unique<PendingOver>(window_.get());
    BRIGADE_RETURN_IF_ERROR(window_->Accumulate(CombineOp::kSum, Here(data, count),
                                                {rank, displacement, one_, count}, made->over()));
    *pending = std::move(made);
    return Status();
  }
  Status FetchAndAdd(double value, double* before, int rank, int64_t displacement) override {
    BRIGADE_RETURN_IF_ERROR(
        window_->FetchAndOp(CombineOp::kSum, Element::kDouble, &value, before, rank, displacement));
    return window_->Flush(rank);
  }
  Status StartFetchAndAdd(double value, double* before, int rank, int64_t displacement,
                          std::unique_ptr<Pending>* pending) override {
    auto made = std::make_unique<PendingOver>(window_.get(), value);
    BRIGADE_RETURN_IF_ERROR(window_->FetchAndOp(CombineOp::kSum, Element::kDouble, made->value(),
                                                before, rank, displacement, made->over()));
    *pending = std::move(made);
    return Status();
  }

  Status Fence() override { return window_->Fence(); }
  Status Post(const std::vector<int>& origins) override { return window_->Post(origins); }
  Status Start(const std::vector<int>& targets) override { return window_->Start(targets); }
  Status Complete() override { return window_->Complete(); }
  Status Wait() override { return window_->Wait(); }
  Status Lock(int rank) override { return window_->Lock(LockKind::kExclusive, rank); }
  Status Unlock(int rank) override { return window_->Unlock(rank); }
  Status LockAll() override { return window_->LockAll(); }
  Status UnlockAll() override { return window_->UnlockAll(); }
  Status Flush(int rank) override { return window_->Flush(rank); }
  Status PutNotify(const double* data, int64_t count, int rank, int64_t displacement) override {
    return window_->PutNotify(Here(data, count), {rank, displacement, one_, count});
  }
  Status NotifyWait(int source) override { return window_->NotifyWait(source); }
  // A rank that waits in it still answers the others.
  Status Barrier() override {
    BRIGADE_RETURN_IF_ERROR(window_->FlushAll());
    BRIGADE_RETURN_IF_ERROR(window_->Sync());
    BRIGADE_RETURN_IF_ERROR(group_->Barrier(nullptr));
    return window_->Sync();
  }
  Status Free() override { return window_->Free(); }

 private:
  // The const_cast is safe: origin data of a put are only read.
  OriginData Here(const double* data, int64_t count) const {
    return {reinterpret_cast<std::byte*>(const_cast<double*>(data)), one_, count};
  }

  const TypedLayout one_ = TypedLayout::Run(Element::kDouble, 1);
  std::vector<double> private_;
  BrigadeGroup* group_ = nullptr;
  std::unique_ptr<Window> window_;
};

}  // namespace

Status MakeWindowSpace(BrigadeGroup* group, std::unique_ptr<WindowSpace>* space) {
  return WindowSpace::Create(group->group()->engine(), space);
}

Status MakeBrigadeWindow(BrigadeGroup* group, WindowSpace* space, int64_t doubles, bool is_shared,
                         std::unique_ptr<OneSided>* window, bool goes_directly) {
  auto made = std::make_unique<BrigadeWindow>(is_shared ? 0 : doubles);
  BRIGADE_RETURN_IF_ERROR(made->Make(group, space, doubles, is_shared, goes_directly));
  *window = std::move(made);
  return Status();
}

}  // namespace brigade::bench
