#include "bench/simulated/putget/program_rank.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "membuf/check.h"
#include "membuf/element.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/pattern_call.h"
#include "transport/simulated_processor.h"
#include "windows/layout/typed_layout.h"

namespace brigade::bench {
namespace {

constexpr double kSliceUs = 5;  // between two looks of a progress thread

const TypedLayout& OneByte() { return TypedLayout::One(Element::kByte); }

}  // namespace

Status ProgramRank::Open(size_t bytes, int rows, int cols, const std::function<void()>& prepare) {
  out_.resize(bytes);
  in_.resize(bytes);
  memories_->resize(static_cast<size_t>(world_->ranks()));
  (*memories_)[static_cast<size_t>(rank_)] = in_.data();
  endpoint_ = world_->CreateEndpoint(rank_);
  BRIGADE_RETURN_IF_ERROR(Engine::Create(endpoint_.get(), EngineOptions(), &engine_));
  BRIGADE_RETURN_IF_ERROR(WindowSpace::Create(engine_.get(), &space_));
  const std::unique_ptr<Bootstrap> bootstrap = world_->MakeBootstrap(rank_);
  BRIGADE_RETURN_IF_ERROR(Group::Create(engine_.get(), bootstrap.get(), rows, cols, &group_));
  if (variant_ != ProgramVariant::kMessages) {
    WindowOptions options;
    options.memory = in_.data();
    options.bytes = bytes;
    options.goes_directly = false;  // here the ranks are on one thread; on the machine they are not
    BRIGADE_RETURN_IF_ERROR(Window::Create(space_.get(), bootstrap.get(), options, &window_));
    BRIGADE_RETURN_IF_ERROR(window_->LockAllUnchecked());
  }
  prepare();
  return group_->Run(PatternCall());
}

Status ProgramRank::Close() {
  if (window_ != nullptr) {
    BRIGADE_RETURN_IF_ERROR(window_->UnlockAll());
    BRIGADE_RETURN_IF_ERROR(window_->Free());
  }
  return group_->Run(PatternCall());
}

void ProgramRank::Compute(double flops) {
  SimulatedProcessor* const processor = endpoint_->simulated_processor();
  for (double us = flops / (gflops_ * 1e3); us > 0; us -= kSliceUs) {
    processor->Compute(std::min(us, kSliceUs));
    engine_->Progress();
  }
}

void ProgramRank::Copy(size_t bytes, size_t run_bytes) {
  endpoint_->simulated_processor()->Copy(in_.data(), out_.data(), bytes, run_bytes);
}

void ProgramRank::Mark(std::byte* data, size_t bytes, uint64_t mark) {
  BRIGADE_CHECK_LE(sizeof(mark), bytes);
  std::memcpy(data, &mark, sizeof(mark));
  std::memcpy(data + bytes - sizeof(mark), &mark, sizeof(mark));
}

Status ProgramRank::CheckMark(const std::byte* data, size_t bytes, uint64_t mark, int from) const {
  if (std::memcmp(data, &mark, sizeof(mark)) == 0 &&
      std::memcmp(data + bytes - sizeof(mark), &mark, sizeof(mark)) == 0) {
    return Status();
  }
  return {StatusCode::kInternal,
          "rank " + std::to_string(rank_) + " has not what rank " + std::to_string(from) + " sent"};
}

Status ProgramRank::RunPair(Pattern pattern, int peer, std::byte* data, size_t bytes) {
  PatternCall call;
  call.pattern = pattern;
  call.root = peer;
  call.matrix = {data, StridedLayout::Contiguous(bytes)};
  return group_->Run(call);
}

Status ProgramRank::Begin(int to, size_t place, size_t bytes) {
  std::byte* const data = &out_[place];
  Mark(data, bytes, MarkOf(rank_, ++sent_[to]));
  if (variant_ == ProgramVariant::kMessages) return RunPair(Pattern::kSend, to, data, bytes);
  auto length = static_cast<int64_t>(bytes);
  if (IsOnMyHost(to)) {
    Copy(bytes, bytes);
    std::memcpy((*memories_)[static_cast<size_t>(to)] + place, data, bytes);
    length = 0;
  }
  return window_->PutNotify({data, OneByte(), length},
                            {to, static_cast<int64_t>(place), OneByte(), length});
}

Status ProgramRank::Await(int from, size_t place, size_t bytes) {
  std::byte* const data = &in_[place];
  if (variant_ == ProgramVariant::kMessages) {
    BRIGADE_RETURN_IF_ERROR(RunPair(Pattern::kReceive, from, data, bytes));
  } else {
    BRIGADE_RETURN_IF_ERROR(window_->NotifyWait(from));
  }
  return CheckMark(data, bytes, MarkOf(from, ++taken_[from]), from);
}

Status ProgramRank::StartGet(int source, size_t place, size_t bytes, PendingGet* pending) {
  pending->data.resize(bytes);
  pending->source = source;
  pending->place = place;
  if (IsOnMyHost(source)) {
    Copy(bytes, bytes);
    std::memcpy(pending->data.data(), (*memories_)[static_cast<size_t>(source)] + place, bytes);
    pending->over = true;
    return Status();
  }
  pending->over = false;
  const auto length = static_cast<int64_t>(bytes);
  return window_->Get({pending->data.data(), OneByte(), length},
                      {source, static_cast<int64_t>(place), OneByte(), length}, &pending->over);
}

Status ProgramRank::AwaitGet(PendingGet* pending) {
  if (pending->source < 0) return Status();
  BRIGADE_RETURN_IF_ERROR(window_->WaitFor(pending->over));
  const int source = pending->source;
  pending->source = -1;
  return CheckMark(pending->data.data(), pending->data.size(), MarkOf(source, pending->place),
                   source);
}

Status ProgramRank::StartFetchAndAdd(int rank, size_t place, const double* value, double* old,
                                     std::atomic<bool>* over) {
  over->store(false);
  return window_->FetchAndOp(CombineOp::kSum, Element::kDouble, value, old, rank,
                             static_cast<int64_t>(place), over);
}

Status ProgramRank::StartAdd(int rank, size_t place, const double* values, int64_t count,
                             std::atomic<bool>* over) {
  const TypedLayout& real = TypedLayout::One(Element::kDouble);
  over->store(false);
  // The const_cast is safe: origin data of an accumulate are only read.
  return window_->Accumulate(
      CombineOp::kSum, {reinterpret_cast<std::byte*>(const_cast<double*>(values)), real, count},
      {rank, static_cast<int64_t>(place), real, count}, over);
}

Status ProgramRank::Meet() {
  BRIGADE_RETURN_IF_ERROR(window_->FlushAll());
  return group_->Run(PatternCall());
}

Status ProgramRank::Collect(Pattern pattern, bool along_row, size_t bytes) {
  PatternCall call;
  call.pattern = pattern;
  call.topology.shape = Shape::kFree;
  call.scope = along_row ? ChannelKind::kRow : ChannelKind::kColumn;
  const auto members = static_cast<size_t>(group_->ScopeSize(call.scope));
  const auto me = static_cast<size_t>(along_row ? group_->col() : group_->row());
  const size_t doubles = bytes / sizeof(double);
  const bool sums = pattern == Pattern::kMultiReduce;
  std::vector<double> data(members * doubles, sums ? 1.0 : 0.0);
  std::fill_n(&data[me * doubles], doubles, 1.0);
  std::vector<double> sum(doubles);
  StridedLayout layout;
  const auto length = static_cast<int64_t>(doubles);
  BRIGADE_RETURN_IF_ERROR(StridedLayout::General(length, 1, length, sizeof(double), &layout));
  const auto matrix = [&layout](double* values) {
    return Matrix{reinterpret_cast<std::byte*>(values), layout};
  };
  std::vector<Matrix> blocks;
  for (size_t q = 0; q < members; ++q) blocks.push_back(matrix(&data[q * doubles]));
  call.blocks = blocks.data();
  call.matrix = matrix(sum.data());
  BRIGADE_RETURN_IF_ERROR(group_->Run(call));
  const bool arrived =
      sums ? sum.back() == static_cast<double>(members)
           : std::count(data.begin(), data.end(), 1.0) == static_cast<std::ptrdiff_t>(data.size());
  return arrived ? Status()
                 : Status{StatusCode::kInternal,
                          "rank " + std::to_string(rank_) + " has not what its row or column sent"};
}

Status ProgramRank::Broadcast(bool along_row, int root, size_t place, size_t bytes) {
  PatternCall call;
  call.pattern = Pattern::kBroadcast;
  call.topology.shape = Shape::kFree;
  call.scope = along_row ? ChannelKind::kRow : ChannelKind::kColumn;
  call.root = root;
  const int from =
      along_row ? group_->row() * group_->cols() + root : root * group_->cols() + group_->col();
  std::byte* const data = &(from == rank_ ? in_ : out_)[place];
  call.matrix = {data, StridedLayout::Contiguous(bytes)};
  BRIGADE_RETURN_IF_ERROR(group_->Run(call));
  return CheckMark(data, bytes, MarkOf(from, place), from);
}

}  // namespace brigade::bench
