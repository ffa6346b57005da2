#include "bench/simulated/superstep_cells.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "bench/studies/exchange_epochs.h"
#include "bench/studies/li_relations.h"
#include "li_shim/gathered_puts.h"
#include "membuf/element.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/group.h"
#include "transport/sim/sim_transport.h"
#include "windows/core/window.h"
#include "windows/layout/typed_layout.h"
#include "windows/message/window_space.h"

namespace brigade::bench {
namespace {

using Relation = std::vector<std::vector<SuperstepPiece>>;  // by rank

// Blocks of `ints` ints. Computing takes no time here.
SuperstepCell AsCell(const AsRelation& relation, int ranks, long ints) {
  SuperstepCell cell;
  cell.name = relation.name;
  cell.rows = ints;
  cell.cols = ranks;
  cell.bytes = static_cast<size_t>(ints * ranks) * 4;
  cell.meets = relation.meets;
  Relation all(static_cast<size_t>(ranks));
  for (int from = 0; from < ranks; ++from) {
    ForOthers(from, ranks, [&](int to) {
      if (!relation.sends(from, to, ranks)) return;
      all[static_cast<size_t>(from)].push_back({to, static_cast<size_t>(ints) * 4});
    });
  }
  cell.pieces.push_back(std::move(all));
  return cell;
}

SuperstepCell Product(int ranks, long n) {
  const int side = MultPlace(0, ranks).side;
  SuperstepCell cell;
  cell.name = "matrix product, without computation";
  cell.rows = cell.cols = n;
  cell.bytes = static_cast<size_t>(n * n) * 8;
  const auto block = static_cast<size_t>((n / side) * (n / side)) * 8;
  for (int round = 0; round < side; ++round) {
    Relation puts(static_cast<size_t>(ranks));
    Relation gets(static_cast<size_t>(ranks));
    for (int rank = 0; rank < side * side; ++rank) {
      const MultPlace place(rank, ranks);
      for (const int to : place.Mates(round, /*gets=*/false)) {
        if (to != rank) puts[static_cast<size_t>(rank)].push_back({to, block});
      }
      for (const int from : place.Mates(round, /*gets=*/true)) {
        if (from != rank) gets[static_cast<size_t>(from)].push_back({rank, block});
      }
    }
    cell.pieces.push_back(std::move(puts));
    cell.gets.push_back(std::move(gets));
  }
  return cell;
}

// The keys of each digit on a rank, in every round: equally many; or the expected number if a bit
// is set in one key of 16, as in the suite's skewed keys.
std::vector<int64_t> KeysOfDigits(int64_t keys, bool is_skewed) {
  constexpr int kDigits = RdxRound::kDigits;
  std::vector<int64_t> counts(kDigits, keys / kDigits);
  for (int digit = 0; digit < kDigits && is_skewed; ++digit) {
    double share = 1;
    for (int bit = 0; bit < 8; ++bit) share *= (digit >> bit & 1) != 0 ? 1 / 16.0 : 15 / 16.0;
    counts[static_cast<size_t>(digit)] = static_cast<int64_t>(share * static_cast<double>(keys));
  }
  counts[0] += keys - std::accumulate(counts.begin(), counts.end(), int64_t{0});
  return counts;
}

SuperstepCell RadixSort(int ranks, long keys, bool is_skewed, const std::string& algorithm) {
  SuperstepCell cell;
  cell.name = std::string("radix sort, ") + (is_skewed ? "skewed keys, " : "") + algorithm;
  cell.rows = keys;
  cell.bytes = static_cast<size_t>(keys) * 4;
  RdxRound round(ranks, keys / ranks);
  const std::vector<int64_t> counts = KeysOfDigits(keys / ranks, is_skewed);
  for (int rank = 0; rank < ranks; ++rank) {
    std::copy(counts.begin(), counts.end(), round.CountsOf(rank));
  }
  round.SumCounts();
  Relation all(static_cast<size_t>(ranks));
  Relation counting(static_cast<size_t>(ranks));
  for (int from = 0; from < ranks; ++from) {
    const auto add = [from](int to, int64_t bytes, Relation* relation) {
      if (to == from || bytes == 0) return;
      (*relation)[static_cast<size_t>(from)].push_back({to, static_cast<size_t>(bytes)});
    };
    std::vector<int64_t> sent(static_cast<size_t>(ranks));
    round.ForPieces(from, algorithm == "RDXSORTOPT" ? round.FirstDigit(from) : 0,
                    [&](const RdxRound::Piece& piece) {
                      sent[static_cast<size_t>(piece.to)] += piece.keys;
                      if (algorithm != "combined") add(piece.to, piece.keys * 4, &all);
                    });
    ForOthers(from, ranks, [&](int to) {
      add(to, RdxRound::kDigits * 8, &counting);
      if (algorithm == "combined") add(to, sent[static_cast<size_t>(to)] * 4, &all);
    });
  }
  for (int i = 0; i < 4; ++i) {
    cell.pieces.push_back(counting);
    cell.pieces.push_back(all);
  }
  return cell;
}

SuperstepCell Exchange(int ranks, int neighbours, long doubles) {
  SuperstepCell cell;
  cell.name = "exchange with " + std::to_string(neighbours) + " neighbour";
  if (neighbours > 1) cell.name += "s";
  cell.rows = doubles;
  cell.cols = neighbours;
  cell.bytes = static_cast<size_t>(doubles * neighbours) * 8;
  Relation all(static_cast<size_t>(ranks));
  for (int from = 0; from < ranks; ++from) {
    const Neighbours near(from, ranks, neighbours);
    for (const int to : near.targets) {
      all[static_cast<size_t>(from)].push_back({to, static_cast<size_t>(doubles) * 8});
    }
  }
  cell.pieces.push_back(all);
  cell.gets.push_back(std::move(all));
  return cell;
}

// One rank, on a machine in virtual time.
class SuperstepRank {
 public:
  SuperstepRank(SimWorld* world, int rank, const SuperstepCell& cell, SuperstepVariant variant)
      : world_(world),
        rank_(rank),
        variant_(variant),
        meets_(cell.meets),
        supersteps_(variant == SuperstepVariant::kGet ? cell.gets : cell.pieces),
        out_(1, static_cast<std::byte>(rank + 1)) {
    for (const Relation& relation : supersteps_) {
      size_t out = 0;
      for (const SuperstepPiece& piece : relation[Index(rank)]) out += piece.bytes;
      out_.resize(std::max(out_.size(), out), static_cast<std::byte>(rank + 1));
      half_ = std::max(half_, Arriving(relation, rank));
    }
    in_.resize(2 * half_);
  }

  Status Run(double* began_us, double* ended_us) {
    BRIGADE_RETURN_IF_ERROR(Open());
    BRIGADE_RETURN_IF_ERROR(group_->Run(PatternCall()));
    *began_us = world_->Clock(rank_);
    for (const Relation& relation : supersteps_) {
      BRIGADE_RETURN_IF_ERROR(variant_ == SuperstepVariant::kPut ||
                                      variant_ == SuperstepVariant::kGather
                                  ? Put(relation)
                              : variant_ == SuperstepVariant::kGet ? Get(relation)
                                                                   : Send(relation));
      BRIGADE_RETURN_IF_ERROR(Check(relation));
    }
    *ended_us = world_->Clock(rank_);
    BRIGADE_RETURN_IF_ERROR(window_->Fence({false, /*nothing_succeeds=*/true}));
    return window_->Free();
  }

 private:
  static size_t Index(int rank) { return static_cast<size_t>(rank); }

  Status Open() {
    endpoint_ = world_->CreateEndpoint(rank_);
    BRIGADE_RETURN_IF_ERROR(Engine::Create(endpoint_.get(), EngineOptions(), &engine_));
    BRIGADE_RETURN_IF_ERROR(WindowSpace::Create(engine_.get(), &space_));
    const std::unique_ptr<Bootstrap> bootstrap = world_->MakeBootstrap(rank_);
    BRIGADE_RETURN_IF_ERROR(
        Group::Create(engine_.get(), bootstrap.get(), 1, world_->ranks(), &group_));
    WindowOptions options;
    std::vector<std::byte>& memory = variant_ == SuperstepVariant::kGet ? out_ : in_;
    options.memory = memory.data();
    options.bytes = memory.size();
    options.goes_directly = false;  // here the ranks are on one thread; on the machine they are not
    BRIGADE_RETURN_IF_ERROR(Window::Create(space_.get(), bootstrap.get(), options, &window_));
    return window_->Fence({/*nothing_precedes=*/true, false});
  }

  // Returns the bytes from the ranks below `end`; messages lie in the order of their senders.
  static size_t Arriving(const Relation& relation, int to, int end) {
    size_t bytes = 0;
    for (int from = 0; from < end; ++from) {
      for (const SuperstepPiece& piece : relation[Index(from)]) {
        if (piece.to == to) bytes += piece.bytes;
      }
    }
    return bytes;
  }
  static size_t Arriving(const Relation& relation, int to) {
    return Arriving(relation, to, static_cast<int>(relation.size()));
  }

  // Where the half in use begins in a rank's memory.
  size_t HalfOf(int rank) const {
    if (superstep_ % 2 == 0) return 0;
    return rank == rank_ ? half_ : static_cast<size_t>(window_->bytes_of(rank)) / 2;
  }

  Status Put(const Relation& relation) {
    std::vector<size_t> places;
    for (int to = 0; to < world_->ranks(); ++to) {
      places.push_back(HalfOf(to) + Arriving(relation, to, rank_));
    }
    std::vector<li::GatheredPuts> gathered(places.size(),
                                           li::GatheredPuts(space_->segment_bytes()));
    const auto put_gathered = [&](int to) {
      OriginData here;
      TargetData there;
      BRIGADE_RETURN_IF_ERROR(gathered[Index(to)].Take(to, &here, &there));
      return window_->Put(here, there);
    };
    std::byte* from = out_.data();
    for (const SuperstepPiece& piece : relation[Index(rank_)]) {
      const auto bytes = static_cast<int64_t>(piece.bytes);
      const TypedLayout& byte = TypedLayout::One(Element::kByte);
      size_t& place = places[Index(piece.to)];
      if (variant_ == SuperstepVariant::kGather && gathered[Index(piece.to)].Takes(piece.bytes)) {
        gathered[Index(piece.to)].Add(from, place, piece.bytes);
        if (gathered[Index(piece.to)].is_full()) BRIGADE_RETURN_IF_ERROR(put_gathered(piece.to));
      } else {
        BRIGADE_RETURN_IF_ERROR(window_->Put({from, byte, bytes},
                                             {piece.to, static_cast<int64_t>(place), byte, bytes}));
      }
      place += piece.bytes;
      from += piece.bytes;
    }
    for (int to = 0; to < world_->ranks(); ++to) {
      if (!gathered[Index(to)].is_empty()) BRIGADE_RETURN_IF_ERROR(put_gathered(to));
    }
    return window_->Fence();
  }

  // In turn from the next rank on, as the programs do.
  Status Get(const Relation& relation) {
    const TypedLayout& byte = TypedLayout::One(Element::kByte);
    for (int j = 1; j < world_->ranks(); ++j) {
      const int from = (rank_ + j) % world_->ranks();
      std::byte* to = in_.data() + HalfOf(rank_) + Arriving(relation, rank_, from);
      int64_t place = 0;
      for (const SuperstepPiece& piece : relation[Index(from)]) {
        const auto bytes = static_cast<int64_t>(piece.bytes);
        if (piece.to == rank_) {
          BRIGADE_RETURN_IF_ERROR(window_->Get({to, byte, bytes}, {from, place, byte, bytes}));
          to += bytes;
        }
        place += bytes;
      }
    }
    return window_->Fence();
  }

  static Status Pair(Pattern pattern, int peer, std::byte* data, size_t bytes, PatternCall* call) {
    call->pattern = pattern;
    call->root = peer;
    call->matrix.data = data;
    const auto length = static_cast<int64_t>(bytes);
    return StridedLayout::General(length, 1, length, 1, &call->matrix.layout);
  }

  Status Send(const Relation& relation) {
    std::byte* data = out_.data();
    for (const SuperstepPiece& piece : relation[Index(rank_)]) {
      PatternCall call;
      BRIGADE_RETURN_IF_ERROR(Pair(Pattern::kSend, piece.to, data, piece.bytes, &call));
      BRIGADE_RETURN_IF_ERROR(group_->Run(call));
      data += piece.bytes;
    }
    data = in_.data() + HalfOf(rank_);
    for (int from = 0; from < world_->ranks(); ++from) {
      for (const SuperstepPiece& piece : relation[Index(from)]) {
        if (piece.to != rank_) continue;
        PatternCall call;
        BRIGADE_RETURN_IF_ERROR(Pair(Pattern::kReceive, from, data, piece.bytes, &call));
        BRIGADE_RETURN_IF_ERROR(group_->Run(call));
        data += piece.bytes;
      }
    }
    return meets_ ? group_->Run(PatternCall()) : Status();
  }

  // Also clears what was brought, and turns to the other half.
  Status Check(const Relation& relation) {
    std::byte* data = in_.data() + HalfOf(rank_);
    for (int from = 0; from < world_->ranks(); ++from) {
      const size_t bytes = Arriving(relation, rank_, from + 1) - Arriving(relation, rank_, from);
      for (const std::byte* const end = data + bytes; data < end; ++data) {
        if (std::exchange(*data, std::byte{0}) != static_cast<std::byte>(from + 1)) {
          return {StatusCode::kInternal,
                  "what rank " + std::to_string(from) + " sent is not there"};
        }
      }
    }
    ++superstep_;
    return Status();
  }

  SimWorld* const world_;
  const int rank_;
  const SuperstepVariant variant_;
  const bool meets_;
  const Supersteps& supersteps_;
  std::vector<std::byte> out_;
  // Two halves in turn: others may be a superstep ahead.
  std::vector<std::byte> in_;
  size_t half_ = 1;
  int superstep_ = 0;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<WindowSpace> space_;
  std::unique_ptr<Group> group_;
  std::unique_ptr<Window> window_;
};

}  // namespace

std::vector<SuperstepCell> SuperstepCells(const std::string& study, int ranks,
                                          std::vector<long> sizes) {
  const bool has_own = sizes.empty();
  std::vector<SuperstepCell> cells;
  if (study == "as") {
    if (has_own) sizes = {1, 16, 256, 4096, 16384};
    for (const AsRelation& test : kAsTests) cells.push_back(AsCell(test, ranks, 1));
    for (const long ints : sizes) cells.push_back(AsCell(kTotalExchange, ranks, ints));
  } else if (study == "mult") {
    if (has_own) sizes = {320, 640};
    for (const long n : sizes) cells.push_back(Product(ranks, n));
  } else if (study == "rdx") {
    if (has_own) sizes = {1024000};
    for (const bool is_skewed : {false, true}) {
      for (const char* const algorithm : {"RDXSORT", "RDXSORTOPT", "combined"}) {
        for (const long keys : sizes) {
          cells.push_back(RadixSort(ranks, keys, is_skewed, algorithm));
        }
      }
    }
  } else {
    if (has_own) sizes = {128, 2048, 8192, 16384};
    for (const int neighbours : {1, ranks - 1}) {
      for (const long doubles : sizes) cells.push_back(Exchange(ranks, neighbours, doubles));
    }
  }
  return cells;
}

Status SimulateSupersteps(const MachineDescription& machine, const SuperstepCell& cell,
                          SuperstepVariant variant, double* us) {
  SimWorld world(machine, static_cast<int>(cell.pieces.front().size()));
  Status failure;
  double began_us = 0;
  double ended_us = 0;
  BRIGADE_RETURN_IF_ERROR(world.Run([&](int rank) {
    double began = 0;
    double ended = 0;
    const Status status = SuperstepRank(&world, rank, cell, variant).Run(&began, &ended);
    if (failure.ok()) failure = status;
    began_us = std::max(began_us, began);
    ended_us = std::max(ended_us, ended);
  }));
  *us = ended_us - began_us;
  return failure;
}

}  // namespace brigade::bench
