#include "bench/simulated/exchange_cells.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "bench/contenders/block_layout.h"
#include "membuf/element.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/group.h"
#include "transport/sim/sim_transport.h"
#include "transport/simulated_processor.h"
#include "windows/core/window.h"
#include "windows/layout/layout_cursor.h"
#include "windows/layout/typed_layout.h"
#include "windows/message/window_space.h"

namespace brigade::bench {
namespace {

constexpr int kEpochs = 3;
// Blocks of up to a chunk are not cut: the paper does not say that its are.
constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr size_t kStagingBytes = size_t{128} << 20;
constexpr size_t kBlocks[] = {1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
constexpr EpochKind kKinds[] = {EpochKind::kFence, EpochKind::kPostStart, EpochKind::kLock};

// Shared by the ranks of a simulation.
struct Exchange {
  SimWorld* world;
  const ExchangeCell& cell;
  bool carries_payload;
  double cache_clear_us;
  std::vector<std::byte*> memories;  // of the windows, by rank
  std::vector<double> began_us = std::vector<double>(kEpochs);
  std::vector<double> ended_us = std::vector<double>(kEpochs);
};

BlockKind KindOf(const std::string& datatype) {
  return datatype == "vector" ? BlockKind::kVector : BlockKind::kStruct;
}

// A window whose shared memory the origin copies to and from, as on a machine whose ranks map it.
class SimulatedWindow {
 public:
  SimulatedWindow(Exchange* exchange, SimulatedProcessor* processor, Window* window)
      : exchange_(exchange), processor_(processor), window_(window) {}

  // Fences come in pairs.
  Status Fence() {
    BRIGADE_RETURN_IF_ERROR(window_->Fence());
    is_open_ = !is_open_;
    if (!is_open_) ClearCache();
    return Status();
  }
  Status Post(const std::vector<int>& origins) { return window_->Post(origins); }
  Status Start(const std::vector<int>& targets) { return window_->Start(targets); }
  Status Complete() { return window_->Complete(); }
  Status Wait() {
    BRIGADE_RETURN_IF_ERROR(window_->Wait());
    ClearCache();
    return Status();
  }
  Status Lock(int rank) { return window_->Lock(LockKind::kExclusive, rank); }
  Status Unlock(int rank) {
    BRIGADE_RETURN_IF_ERROR(window_->Unlock(rank));
    ClearCache();
    return Status();
  }

  Status Put(std::byte* data, const TypedLayout& layout, int64_t count, int rank, size_t place) {
    if (exchange_->cell.is_shared) {
      Copy(exchange_->memories[static_cast<size_t>(rank)] + place, data, layout.size() * count);
      return Status();
    }
    return window_->Put({data, layout, count}, {rank, static_cast<int64_t>(place), layout, count});
  }
  Status Get(std::byte* data, const TypedLayout& layout, int64_t count, int rank) {
    if (exchange_->cell.is_shared) {
      Copy(data, exchange_->memories[static_cast<size_t>(rank)], layout.size() * count);
      return Status();
    }
    return window_->Get({data, layout, count}, {rank, 0, layout, count});
  }

 private:
  void Copy(std::byte* to, const std::byte* from, int64_t length) {
    const auto bytes = static_cast<size_t>(length);
    if (processor_->Copy(to, from, bytes, bytes)) std::memcpy(to, from, bytes);
  }
  void ClearCache() {
    if (exchange_->cell.is_shared) processor_->Compute(exchange_->cache_clear_us);
  }

  Exchange* const exchange_;
  SimulatedProcessor* const processor_;
  Window* const window_;
  bool is_open_ = false;
};

class ExchangeRank {
 public:
  ExchangeRank(Exchange* exchange, int rank)
      : exchange_(exchange),
        cell_(exchange->cell),
        rank_(rank),
        neighbours_(rank, cell_.ranks, cell_.neighbours) {
    if (!cell_.datatype.empty()) {
      blocks_.emplace(KindOf(cell_.datatype));
      count_ = static_cast<int64_t>(cell_.bytes) / BlockLayout::kBytes;
    } else {
      count_ = static_cast<int64_t>(cell_.bytes);
    }
    extent_ = std::max<size_t>(1, static_cast<size_t>(layout().extent() * count_));
    // Pages stay untouched, and cost nothing, where lengths alone are simulated.
    out_.reset(new std::byte[extent_]);
    in_.reset(new std::byte[extent_ * neighbours_.sources.size()]);
    memory_.reset(new std::byte[extent_ * (neighbours_.sources.size() + 1)]);
    if (exchange->carries_payload) {
      std::fill_n(out_.get(), extent_, Mark(rank));
      std::fill_n(in_.get(), extent_ * neighbours_.sources.size(), std::byte{0});
      std::fill_n(memory_.get(), extent_ * (neighbours_.sources.size() + 1), std::byte{0});
      std::fill_n(memory_.get(), extent_, Mark(rank));
    }
    exchange->memories[static_cast<size_t>(rank)] = memory_.get();
  }

  Status Run() {
    BRIGADE_RETURN_IF_ERROR(Open());
    SimulatedWindow window(exchange_, endpoint_->simulated_processor(), window_.get());
    for (size_t epoch = 0; epoch < kEpochs; ++epoch) {
      BRIGADE_RETURN_IF_ERROR(group_->Run(PatternCall()));
      Latest(&exchange_->began_us[epoch]);
      if (cell_.forgets) blocks_->Forget();
      if (cell_.is_message) {
        BRIGADE_RETURN_IF_ERROR(SendAndReceive());
      } else {
        BRIGADE_RETURN_IF_ERROR(
            RunEpoch(&window, cell_.epoch, cell_.puts, neighbours_,
                     [&](size_t j) { return cell_.bytes == 0 ? Status() : Move(&window, j); }));
      }
      Latest(&exchange_->ended_us[epoch]);
    }
    BRIGADE_RETURN_IF_ERROR(group_->Run(PatternCall()));
    if (exchange_->carries_payload) BRIGADE_RETURN_IF_ERROR(Check());
    return window_->Free();
  }

 private:
  static std::byte Mark(int rank) { return static_cast<std::byte>(rank + 1); }
  const TypedLayout& layout() const {
    return blocks_ ? blocks_->layout() : TypedLayout::One(Element::kByte);
  }
  void Latest(double* us) const { *us = std::max(*us, exchange_->world->Clock(rank_)); }
  std::byte* BlockOf(size_t j) { return in_.get() + j * extent_; }
  // The place of the block of the j-th source in the memory of a window.
  size_t PlaceOf(size_t j) const { return (j + 1) * extent_; }

  Status Open() {
    endpoint_ = exchange_->world->CreateEndpoint(rank_);
    EngineOptions engine;
    engine.chunk_bytes = kChunkBytes;
    engine.staging_bytes = kStagingBytes;
    BRIGADE_RETURN_IF_ERROR(Engine::Create(endpoint_.get(), engine, &engine_));
    BRIGADE_RETURN_IF_ERROR(WindowSpace::Create(engine_.get(), &space_));
    const std::unique_ptr<Bootstrap> bootstrap = exchange_->world->MakeBootstrap(rank_);
    BRIGADE_RETURN_IF_ERROR(Group::Create(engine_.get(), bootstrap.get(), 1, cell_.ranks, &group_));
    WindowOptions options;
    options.memory = memory_.get();
    options.bytes = extent_ * (neighbours_.sources.size() + 1);
    options.goes_directly = false;
    return Window::Create(space_.get(), bootstrap.get(), options, &window_);
  }

  Status Move(SimulatedWindow* window, size_t j) {
    return cell_.puts
               ? window->Put(out_.get(), layout(), count_, neighbours_.targets[j], PlaceOf(j))
               : window->Get(BlockOf(j), layout(), count_, neighbours_.sources[j]);
  }

  Status Message(Pattern pattern, int peer, std::byte* data, size_t bytes) {
    PatternCall call;
    call.pattern = pattern;
    call.root = peer;
    call.matrix = {data, StridedLayout::Contiguous(bytes)};
    return group_->Run(call);
  }

  // Blocks with gaps are packed, as MPI does it. A block in shared memory is copied by its
  // receiver, which gets a message of an int first (section 3).
  Status SendAndReceive() {
    const size_t run_bytes = cell_.datatype == "vector" ? sizeof(int) : 2 * sizeof(int);
    SimulatedProcessor* const processor = endpoint_->simulated_processor();
    for (size_t j = 0; j < neighbours_.targets.size(); ++j) {
      const int source = neighbours_.sources[j];
      const size_t bytes = cell_.is_shared ? sizeof(int) : cell_.bytes;
      if (blocks_) processor->Copy(out_.get(), out_.get(), bytes, run_bytes);
      BRIGADE_RETURN_IF_ERROR(Message(Pattern::kSend, neighbours_.targets[j], out_.get(), bytes));
      BRIGADE_RETURN_IF_ERROR(Message(Pattern::kReceive, source, BlockOf(j), bytes));
      if (blocks_) processor->Copy(BlockOf(j), BlockOf(j), bytes, run_bytes);
      if (cell_.is_shared) {
        const std::byte* const block = exchange_->memories[static_cast<size_t>(source)];
        if (processor->Copy(BlockOf(j), block, cell_.bytes, cell_.bytes)) {
          std::memcpy(BlockOf(j), block, cell_.bytes);
        }
      }
    }
    return Status();
  }

  // Checks the bytes of the blocks; of a datatype, those that are not gaps.
  Status Check() {
    for (size_t j = 0; j < neighbours_.sources.size() && cell_.bytes > 0; ++j) {
      const std::byte* const block =
          cell_.is_message || !cell_.puts ? BlockOf(j) : memory_.get() + PlaceOf(j);
      const std::byte expected = Mark(neighbours_.sources[j]);
      const auto right = static_cast<size_t>(std::count(block, block + extent_, expected));
      if (right < cell_.bytes) {
        return {StatusCode::kInternal, "the block of rank " +
                                           std::to_string(neighbours_.sources[j]) +
                                           " is not at rank " + std::to_string(rank_)};
      }
    }
    return Status();
  }

  Exchange* const exchange_;
  const ExchangeCell& cell_;
  const int rank_;
  const Neighbours neighbours_;
  std::optional<BlockLayout> blocks_;
  int64_t count_ = 0;
  size_t extent_ = 0;  // of a block, gaps included
  std::unique_ptr<std::byte[]> out_;
  std::unique_ptr<std::byte[]> in_;
  std::unique_ptr<std::byte[]> memory_;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<WindowSpace> space_;
  std::unique_ptr<Group> group_;
  std::unique_ptr<Window> window_;
};

}  // namespace

std::vector<ExchangeCell> ExchangeCells() {
  std::vector<ExchangeCell> cells;
  for (const bool is_shared : {true, false}) {
    for (const int ranks : {2, 4, 6, 8}) {
      for (const EpochKind kind : kKinds) {
        for (const int neighbours : {1, ranks}) {
          ExchangeCell cell;
          cell.ranks = ranks;
          cell.neighbours = neighbours;
          cell.is_shared = is_shared;
          cell.epoch = kind;
          cells.push_back(cell);
        }
      }
    }
  }
  for (const int table : {2, 3}) {
    for (const bool is_shared : {true, false}) {
      for (const size_t bytes : kBlocks) {
        ExchangeCell cell;
        cell.table = table;
        cell.neighbours = table == 2 ? 1 : 8;
        cell.is_shared = is_shared;
        cell.bytes = bytes;
        for (const EpochKind kind : kKinds) {
          if (table == 3 && kind == EpochKind::kLock) continue;
          for (const bool puts : {true, false}) {
            cell.epoch = kind;
            cell.puts = puts;
            cells.push_back(cell);
          }
        }
        cell.is_message = true;
        cells.push_back(cell);
      }
    }
  }
  for (const size_t bytes : {1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10}) {
    for (const char* const datatype : {"vector", "struct"}) {
      ExchangeCell cell;
      cell.table = 4;
      cell.bytes = bytes;
      cell.datatype = datatype;
      cell.epoch = EpochKind::kPostStart;
      cells.push_back(cell);
      cell.forgets = true;
      cells.push_back(cell);
      cell.forgets = false;
      cell.is_message = true;
      cells.push_back(cell);
    }
  }
  return cells;
}

Status SimulateExchange(const MachineDescription& machine, const ExchangeCell& cell,
                        double cache_clear_us, bool carries_payload, double* us) {
  SimOptions options;
  options.carries_payload = carries_payload;
  SimWorld world(machine, cell.ranks, options);
  Exchange exchange{&world, cell, carries_payload, cache_clear_us,
                    std::vector<std::byte*>(static_cast<size_t>(cell.ranks))};
  Status failure;
  BRIGADE_RETURN_IF_ERROR(world.Run([&](int rank) {
    const Status status = ExchangeRank(&exchange, rank).Run();
    if (failure.ok()) failure = status;
  }));
  *us = exchange.ended_us[0] - exchange.began_us[0];
  for (size_t epoch = 1; epoch < kEpochs; ++epoch) {
    *us = std::min(*us, exchange.ended_us[epoch] - exchange.began_us[epoch]);
  }
  return failure;
}

}  // namespace brigade::bench
