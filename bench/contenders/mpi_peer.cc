#include "bench/contenders/mpi_peer.h"

namespace brigade::bench {
namespace {

constexpr int kTag = 0;

int Elements(const PanelView& panel) { return static_cast<int>(panel.rows * panel.cols); }

// As the buffer of an all-gather must be.
bool AreEqualAndAdjacent(const std::vector<PanelView>& blocks) {
  const PanelView& first = blocks[0];
  for (size_t q = 0; q < blocks.size(); ++q) {
    const PanelView& block = blocks[q];
    if (!block.contiguous() || Elements(block) != Elements(first) ||
        block.data != first.data + static_cast<int64_t>(q) * Elements(first)) {
      return false;
    }
  }
  return true;
}

}  // namespace

MpiPeer::MpiPeer(MPI_Comm comm) {
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_rank(comm_, &rank_);
}

MpiPeer::~MpiPeer() {
  for (auto& [shape, type] : types_) MPI_Type_free(&type);
  MPI_Comm_free(&comm_);
}

MPI_Datatype MpiPeer::TypeOf(const PanelView& panel) {
  const auto [entry, is_new] =
      types_.try_emplace(std::make_tuple(panel.rows, panel.cols, panel.ld), MPI_DATATYPE_NULL);
  if (is_new) {
    MPI_Type_vector(static_cast<int>(panel.cols), static_cast<int>(panel.rows),
                    static_cast<int>(panel.ld), MPI_DOUBLE, &entry->second);
    MPI_Type_commit(&entry->second);
  }
  return entry->second;
}

void MpiPeer::Measure(const std::vector<PanelView>& blocks) {
  counts_.clear();
  starts_.assign(1, 0);
  for (const PanelView& block : blocks) {
    counts_.push_back(Elements(block));
    starts_.push_back(starts_.back() + counts_.back());
  }
  packed_.resize(starts_.back());
}

void MpiPeer::PingPong(const PanelView& out, const PanelView& in, int peer, bool begins,
                       const std::function<void()>& received) {
  const bool plain = out.contiguous();
  const int count = plain ? Elements(out) : 1;
  const MPI_Datatype type = plain ? MPI_DOUBLE : TypeOf(out);
  MPI_Request requests[2];
  MPI_Irecv(in.data, count, type, peer, kTag, comm_, &requests[0]);
  if (!begins) {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    received();
  }
  MPI_Isend(out.data, count, type, peer, kTag, comm_, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (begins) received();
}

void MpiPeer::Broadcast(int root, const PanelView& panel) {
  if (panel.contiguous()) {
    MPI_Bcast(panel.data, Elements(panel), MPI_DOUBLE, root, comm_);
  } else {
    MPI_Bcast(panel.data, 1, TypeOf(panel), root, comm_);
  }
}

MPI_Request MpiPeer::StartSend(const PanelView& panel, int receiver) {
  MPI_Request request;
  MPI_Isend(panel.data, Elements(panel), MPI_DOUBLE, receiver, kTag, comm_, &request);
  return request;
}

MPI_Request MpiPeer::StartReceive(const PanelView& panel, int sender) {
  MPI_Request request;
  MPI_Irecv(panel.data, Elements(panel), MPI_DOUBLE, sender, kTag, comm_, &request);
  return request;
}

MPI_Request MpiPeer::StartBroadcast(int root, const PanelView& panel) {
  MPI_Request request;
  MPI_Ibcast(panel.data, Elements(panel), MPI_DOUBLE, root, comm_, &request);
  return request;
}

void MpiPeer::Barrier() { MPI_Barrier(comm_); }

void MpiPeer::Reduce(int root, const PanelView& panel) {
  const int count = Elements(panel);
  const bool packs = !panel.contiguous();
  if (packs) {
    packed_.resize(count);
    Pack(panel, packed_.data());
  }
  double* data = packs ? packed_.data() : panel.data;
  if (rank_ == root) {
    MPI_Reduce(MPI_IN_PLACE, data, count, MPI_DOUBLE, MPI_SUM, root, comm_);
    if (packs) Unpack(data, panel);
  } else {
    MPI_Reduce(data, nullptr, count, MPI_DOUBLE, MPI_SUM, root, comm_);
  }
}

void MpiPeer::Allreduce(const PanelView& panel) {
  const int count = Elements(panel);
  if (panel.contiguous()) {
    MPI_Allreduce(MPI_IN_PLACE, panel.data, count, MPI_DOUBLE, MPI_SUM, comm_);
    return;
  }
  packed_.resize(count);
  Pack(panel, packed_.data());
  MPI_Allreduce(MPI_IN_PLACE, packed_.data(), count, MPI_DOUBLE, MPI_SUM, comm_);
  Unpack(packed_.data(), panel);
}

void MpiPeer::Allgather(const std::vector<PanelView>& blocks) {
  if (AreEqualAndAdjacent(blocks)) {
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks[0].data, Elements(blocks[0]),
                  MPI_DOUBLE, comm_);
    return;
  }
  Measure(blocks);
  Pack(blocks[rank_], packed_.data() + starts_[rank_]);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, packed_.data(), counts_.data(), starts_.data(),
                 MPI_DOUBLE, comm_);
  for (size_t q = 0; q < blocks.size(); ++q) {
    if (static_cast<int>(q) != rank_) Unpack(packed_.data() + starts_[q], blocks[q]);
  }
}

void MpiPeer::Gather(int root, const std::vector<PanelView>& blocks) {
  const PanelView& own = blocks[rank_];
  if (AreEqualAndAdjacent(blocks)) {
    const int count = Elements(own);
    if (rank_ == root) {
      MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks[0].data, count, MPI_DOUBLE, root,
                 comm_);
    } else {
      MPI_Gather(own.data, count, MPI_DOUBLE, nullptr, 0, MPI_DATATYPE_NULL, root, comm_);
    }
    return;
  }
  Measure(blocks);
  if (rank_ != root) {
    Pack(own, packed_.data());
    MPI_Gatherv(packed_.data(), counts_[rank_], MPI_DOUBLE, nullptr, nullptr, nullptr,
                MPI_DATATYPE_NULL, root, comm_);
    return;
  }
  MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, packed_.data(), counts_.data(), starts_.data(),
              MPI_DOUBLE, root, comm_);
  for (size_t q = 0; q < blocks.size(); ++q) {
    if (static_cast<int>(q) != root) Unpack(packed_.data() + starts_[q], blocks[q]);
  }
}

void MpiPeer::Scatter(int root, const std::vector<PanelView>& blocks) {
  const PanelView& own = blocks[rank_];
  if (AreEqualAndAdjacent(blocks)) {
    const int count = Elements(own);
    if (rank_ == root) {
      MPI_Scatter(blocks[0].data, count, MPI_DOUBLE, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root,
                  comm_);
    } else {
      MPI_Scatter(nullptr, 0, MPI_DATATYPE_NULL, own.data, count, MPI_DOUBLE, root, comm_);
    }
    return;
  }
  Measure(blocks);
  if (rank_ != root) {
    MPI_Scatterv(nullptr, nullptr, nullptr, MPI_DATATYPE_NULL, packed_.data(), counts_[rank_],
                 MPI_DOUBLE, root, comm_);
    Unpack(packed_.data(), own);
    return;
  }
  for (size_t q = 0; q < blocks.size(); ++q) {
    if (static_cast<int>(q) != root) Pack(blocks[q], packed_.data() + starts_[q]);
  }
  MPI_Scatterv(packed_.data(), counts_.data(), starts_.data(), MPI_DOUBLE, MPI_IN_PLACE, 0,
               MPI_DATATYPE_NULL, root, comm_);
}

void MpiPeer::Alltoall(const std::vector<PanelView>& sent, const std::vector<PanelView>& blocks) {
  const int count = Elements(blocks[0]);
  if (AreEqualAndAdjacent(sent) && AreEqualAndAdjacent(blocks)) {
    MPI_Alltoall(sent[0].data, count, MPI_DOUBLE, blocks[0].data, count, MPI_DOUBLE, comm_);
    return;
  }
  Measure(blocks);
  sum_.resize(packed_.size());
  for (size_t q = 0; q < sent.size(); ++q) Pack(sent[q], sum_.data() + starts_[q]);
  MPI_Alltoall(sum_.data(), count, MPI_DOUBLE, packed_.data(), count, MPI_DOUBLE, comm_);
  for (size_t q = 0; q < blocks.size(); ++q) Unpack(packed_.data() + starts_[q], blocks[q]);
}

void MpiPeer::Scan(const PanelView& panel, bool exclusive) {
  const int count = Elements(panel);
  const auto scan = exclusive ? MPI_Exscan : MPI_Scan;
  if (panel.contiguous()) {
    scan(MPI_IN_PLACE, panel.data, count, MPI_DOUBLE, MPI_SUM, comm_);
    return;
  }
  packed_.resize(count);
  Pack(panel, packed_.data());
  scan(MPI_IN_PLACE, packed_.data(), count, MPI_DOUBLE, MPI_SUM, comm_);
  Unpack(packed_.data(), panel);
}

void MpiPeer::ReduceScatterBlock(const std::vector<PanelView>& blocks, const PanelView& result) {
  MPI_Reduce_scatter_block(blocks[0].data, result.data, Elements(result), MPI_DOUBLE, MPI_SUM,
                           comm_);
}

void MpiPeer::ReduceScatter(const std::vector<PanelView>& blocks, const PanelView& result) {
  Measure(blocks);
  if (AreEqualAndAdjacent(blocks) && result.contiguous()) {
    MPI_Reduce_scatter(blocks[0].data, result.data, counts_.data(), MPI_DOUBLE, MPI_SUM, comm_);
    return;
  }
  sum_.resize(counts_[rank_]);
  for (size_t q = 0; q < blocks.size(); ++q) {
    Pack(blocks[q], packed_.data() + starts_[q]);
  }
  MPI_Reduce_scatter(packed_.data(), sum_.data(), counts_.data(), MPI_DOUBLE, MPI_SUM, comm_);
  Unpack(sum_.data(), result);
}

}  // namespace brigade::bench
