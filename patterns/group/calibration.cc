#include "patterns/group/calibration.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "membuf/combine.h"
#include "membuf/pack.h"
#include "membuf/strided_layout.h"
#include "patterns/eager/group_edges.h"
#include "patterns/group/group_calls.h"
#include "patterns/group/operation.h"
#include "patterns/model/link_estimate.h"
#include "transport/host/process_watch.h"
#include "transport/host/ranks_per_processor.h"
#include "transport/host_memory/kernel_copy.h"

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRepetitions = 5;
constexpr int kChains = 3;  // each time: what a rank that sleeps takes to wake differs most
constexpr int kMostInChain = 16;
constexpr int kLongerRepetitions = 3;
constexpr int kBroadcasts = 10;
constexpr int kSegments = 16;
constexpr size_t kCutBytes = kSegments * kSegmentProbeBytes;
constexpr size_t kWorkBytes = size_t{32} << 10;  // of copies and sums: a chunk
constexpr size_t kShortRunBytes = 256;
// An idle link gathers what it passes at once.
constexpr std::chrono::milliseconds kRest(2);

double MicrosecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// Of all threads of this process.
double ProcessorMicroseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The measurements of one rank.
struct RankTimes {
  EdgeTimes far;
  EdgeTimes near;
  RankProcessors processors;
  int64_t outcome = 0;  // StatusCode
  double copy_us = 0;   // kWorkBytes, contiguous
  double runs_us = 0;   // in short runs
  double add_us = 0;
  size_t least_kernel_bytes = SIZE_MAX;
  size_t most_kernel_bytes = 0;
  double kernel_byte_us = 0;
};
static_assert(std::is_trivially_copyable_v<RankTimes>, "exchanged as bytes");

class Measurer {
 public:
  Measurer(Engine* engine, GroupState* group)
      : engine_(engine),
        group_(group),
        data_(kLongerProbeBytes / sizeof(double)),
        receive_buffer_(kLongerProbeBytes / sizeof(double)) {}

  // `ring`: group ranks that take part, each once. A rank outside the ring measures nothing.
  Status MeasureEdges(const std::vector<int>& ring, EdgeTimes* times) {
    const auto self = std::find(ring.begin(), ring.end(), group_->rank);
    if (self == ring.end() || ring.size() < 2) return Status();
    const auto size = static_cast<int>(ring.size());
    place_ = static_cast<int>(self - ring.begin());
    next_ = ring[static_cast<size_t>((place_ + 1) % size)];
    previous_ = ring[static_cast<size_t>((place_ + size - 1) % size)];

    double us = 0;
    BRIGADE_RETURN_IF_ERROR(Shift(kShortProbeBytes, &us, &us));  // opens the connections
    std::vector<double> hops, longs, longers, short_sends, long_sends, long_works, longer_works;
    for (int i = 0; i < kRepetitions; ++i) {
      BRIGADE_RETURN_IF_ERROR(Chain(ring, &us));  // waits for those that come later
      for (int chain = 0; chain < kChains; ++chain) {
        BRIGADE_RETURN_IF_ERROR(Chain(ring, &us));
        if (us > 0) hops.push_back(us / std::min(size, kMostInChain));
      }
      for (const size_t bytes : {kLongProbeBytes, kLongerProbeBytes}) {
        if (bytes == kLongerProbeBytes && i >= kLongerRepetitions) continue;
        std::this_thread::sleep_for(kRest);
        double sending_us = 0;
        BRIGADE_RETURN_IF_ERROR(Shift(kShortProbeBytes, &us, &sending_us));  // all are there
        short_sends.push_back(sending_us);
        const double begin_us = ProcessorMicroseconds();
        BRIGADE_RETURN_IF_ERROR(Shift(bytes, &us, &sending_us));
        const double work_us = ProcessorMicroseconds() - begin_us;
        const bool is_long = bytes == kLongProbeBytes;
        (is_long ? longs : longers).push_back(us);
        (is_long ? long_works : longer_works).push_back(work_us);
        if (is_long) long_sends.push_back(sending_us);
      }
    }
    // Whatever else the processors do makes them longer.
    const auto least = [](const std::vector<double>& values) {
      return *std::min_element(values.begin(), values.end());
    };
    times->hop_us = Median(hops);
    times->long_us = least(longs);
    times->longer_us = least(longers);
    // To receive is taken to be as much work again.
    times->call_byte_us =
        2 * std::max(0.0, least(long_sends) - least(short_sends)) / kLongProbeBytes;
    times->processor_byte_us = std::max(0.0, Median(longer_works) - Median(long_works)) /
                               (kLongerProbeBytes - kLongProbeBytes);
    return Status();
  }

  // Measures the cost of a short segment when all ranks take part. `last` is the last rank to get a
  // segment; `first_us` is the time that the first segment takes.
  Status MeasureSegments(int last, double first_us, EdgeTimes* times) {
    double us = 0;
    BRIGADE_RETURN_IF_ERROR(MedianAround(last, kCutBytes, &us));
    if (group_->rank != 0) return Status();
    times->segment_us = std::max(0.0, us - first_us) / (kSegments - 1);
    return Status();
  }
  // The same beside a broadcast of one segment: where messages take little, a sleep is much.
  Status MeasureSegmentsBesideOne(int last, EdgeTimes* times) {
    double first_us = 0;
    BRIGADE_RETURN_IF_ERROR(MedianAround(last, kSegmentProbeBytes, &first_us));
    return MeasureSegments(last, first_us, times);
  }

  // Measures how fast the kernel copies to other ranks, and takes over the lengths for which it
  // may. To be called behind MeasureEdges.
  void MeasureKernelCopies(RankTimes* times) {
    OutEdge* const edge = EdgeTo(engine_, group_, ChannelKind::kPointToPoint, next_);
    if (edge == nullptr) return;
    const KernelCopyRange& range = edge->peer_memory().kernel_copies().writes;
    if (range.empty()) return;
    const size_t bytes =
        std::min({std::max(kWorkBytes, range.least_bytes), range.most_bytes, kLongerProbeBytes});
    const StridedLayout layout = StridedLayout::Contiguous(bytes);
    const RemoteStretches to{reinterpret_cast<uint64_t>(receive_buffer_.data()), bytes, bytes,
                             bytes};
    const auto* const from = reinterpret_cast<const std::byte*>(data_.data());
    const ProcessWatch none;
    times->kernel_byte_us = Best([&] { (void)CopyToProcess(getpid(), &none, layout, from, to); }) /
                            static_cast<double>(bytes);
    times->least_kernel_bytes = range.least_bytes;
    times->most_kernel_bytes = range.most_bytes;
  }

  void MeasureMemory(RankTimes* times) {
    StridedLayout whole, runs;
    const auto elems = static_cast<int64_t>(kWorkBytes / sizeof(double));
    const auto run = static_cast<int64_t>(kShortRunBytes / sizeof(double));
    // Both fit what there is.
    (void)StridedLayout::General(elems, 1, elems, sizeof(double), &whole);
    (void)StridedLayout::General(run, elems / run, 2 * run, sizeof(double), &runs);
    std::vector<double> staging(static_cast<size_t>(elems));
    auto* const to = reinterpret_cast<std::byte*>(staging.data());
    auto* const from = reinterpret_cast<std::byte*>(data_.data());
    times->copy_us = Best([&] { CopyIn(to, whole, from, 0, kWorkBytes); });
    times->runs_us = Best([&] { CopyIn(to, runs, from, 0, kWorkBytes); });
    times->add_us = Best([&] {
      Combine(CombineOp::kSum, Element::kDouble, staging.size(), {&whole, to, 0, nullptr},
              {&whole, to, 0, nullptr}, {&whole, from, 0, nullptr});
    });
  }

 private:
  template <typename Work>
  static double Best(const Work& work) {
    double best_us = 0;
    for (int i = 0; i < 2 * kRepetitions; ++i) {
      const Clock::time_point begin = Clock::now();
      work();
      const double us = MicrosecondsSince(begin);
      if (i == 0 || us < best_us) best_us = us;
    }
    return best_us;
  }

  // `root`: as in PatternCall.
  Status CallOf(Pattern pattern, int root, size_t bytes, PatternCall* call) {
    call->pattern = pattern;
    call->root = root;
    call->matrix.data = reinterpret_cast<std::byte*>(data_.data());
    const auto elems = static_cast<int64_t>(bytes / sizeof(double));
    return StridedLayout::General(elems, 1, elems, sizeof(double), &call->matrix.layout);
  }

  Status Move(Pattern pattern, int peer, size_t bytes) {
    PatternCall call;
    BRIGADE_RETURN_IF_ERROR(CallOf(pattern, peer, bytes, &call));
    return RunCall(engine_, group_, call);
  }

  // To the next, and from the previous one, at the same time. *sending_us: until the send returned.
  Status Shift(size_t bytes, double* us, double* sending_us) {
    PatternCall receive;
    BRIGADE_RETURN_IF_ERROR(CallOf(Pattern::kReceive, previous_, bytes, &receive));
    receive.matrix.data = reinterpret_cast<std::byte*>(receive_buffer_.data());
    const Clock::time_point begin = Clock::now();
    std::unique_ptr<Operation> receiving;
    BRIGADE_RETURN_IF_ERROR(StartCall(engine_, group_, receive, &receiving));
    const Clock::time_point send_begin = Clock::now();
    BRIGADE_RETURN_IF_ERROR(Move(Pattern::kSend, next_, bytes));
    *sending_us = MicrosecondsSince(send_begin);
    BRIGADE_RETURN_IF_ERROR(receiving->Wait());
    *us = MicrosecondsSince(begin);
    return Status();
  }

  // A short message once around the first members of the ring. The first of all times it; *us is 0
  // elsewhere.
  Status Chain(const std::vector<int>& ring, double* us) {
    *us = 0;
    const int size = std::min(static_cast<int>(ring.size()), kMostInChain);
    if (place_ >= size) return Status();
    const int last = ring[static_cast<size_t>(size - 1)];
    const int next = place_ + 1 == size ? ring[0] : next_;
    // Ranks that have waited for long sleep, and that is how a call finds them.
    if (place_ == 0) std::this_thread::sleep_for(kRest);
    const Clock::time_point begin = Clock::now();
    if (place_ > 0) {
      BRIGADE_RETURN_IF_ERROR(Move(Pattern::kReceive, previous_, kShortProbeBytes));
      return Move(Pattern::kSend, next, kShortProbeBytes);
    }
    BRIGADE_RETURN_IF_ERROR(Move(Pattern::kSend, next, kShortProbeBytes));
    BRIGADE_RETURN_IF_ERROR(Move(Pattern::kReceive, last, kShortProbeBytes));
    *us = MicrosecondsSince(begin);
    return Status();
  }

  // Broadcasts from rank 0 around; *us means something there.
  Status MedianAround(int last, size_t bytes, double* us) {
    std::vector<double> all;
    for (int i = 0; i <= kBroadcasts; ++i) {
      BRIGADE_RETURN_IF_ERROR(Around(last, bytes, us));
      if (i > 0) all.push_back(*us);  // the first one waits for those that come later
      std::this_thread::sleep_for(kRest);
    }
    *us = Median(all);
    return Status();
  }

  // A broadcast from rank 0, host after host, until `last` has said that it has it.
  Status Around(int last, size_t bytes, double* us) {
    PatternCall call;
    BRIGADE_RETURN_IF_ERROR(CallOf(Pattern::kBroadcast, /*root=*/0, bytes, &call));
    call.topology = {Shape::kIncreasingRings, 1, /*by_host=*/true};
    call.segment_bytes = kSegmentProbeBytes;
    const Clock::time_point begin = Clock::now();
    BRIGADE_RETURN_IF_ERROR(RunCall(engine_, group_, call));
    if (group_->rank == last) return Move(Pattern::kSend, 0, kShortProbeBytes);
    if (group_->rank == 0) BRIGADE_RETURN_IF_ERROR(Move(Pattern::kReceive, last, kShortProbeBytes));
    *us = MicrosecondsSince(begin);
    return Status();
  }

  Engine* const engine_;
  GroupState* const group_;
  std::vector<double> data_;
  std::vector<double> receive_buffer_;
  int place_ = 0;
  int next_ = 0;
  int previous_ = 0;
};

// Over all ranks.
double MedianOf(const std::vector<RankTimes>& all, double RankTimes::*time) {
  std::vector<double> values;
  for (const RankTimes& times : all) values.push_back(times.*time);
  return Median(std::move(values));
}

RateCurve CurveFrom(double us, double runs_us) {
  RateCurve curve;
  curve.points.push_back({kShortRunBytes, kWorkBytes / std::max(runs_us, 1e-3)});
  curve.points.push_back({kWorkBytes, kWorkBytes / std::max(us, 1e-3)});
  return curve;
}

// The medians, each over the ranks that have measured it.
EdgeTimes MediansOf(const std::vector<RankTimes>& all, EdgeTimes RankTimes::*kind) {
  const auto median = [&](double EdgeTimes::*time, double EdgeTimes::*by_whom) {
    std::vector<double> values;
    for (const RankTimes& times : all) {
      if ((times.*kind).*by_whom > 0) values.push_back((times.*kind).*time);
    }
    return Median(std::move(values));
  };
  EdgeTimes times;
  times.hop_us = median(&EdgeTimes::hop_us, &EdgeTimes::hop_us);
  times.segment_us = median(&EdgeTimes::segment_us, &EdgeTimes::segment_us);
  for (const auto time : {&EdgeTimes::long_us, &EdgeTimes::longer_us, &EdgeTimes::call_byte_us,
                          &EdgeTimes::processor_byte_us}) {
    times.*time = median(time, &EdgeTimes::long_us);
  }
  return times;
}

// How messages go among ranks that all share memory.
void DescribeSharedMemory(const std::vector<RankTimes>& all, const EdgeTimes& near,
                          size_t max_inline_bytes, MachineDescription* machine) {
  const double copy_us = MedianOf(all, &RankTimes::copy_us);
  const double runs_us = MedianOf(all, &RankTimes::runs_us);
  const double add_us = MedianOf(all, &RankTimes::add_us);
  const double crowd = machine->ranks_per_processor;
  // A rank alone has found its bytes in its own cache; between two, one has them.
  const double away_us = std::max(0.0, StagedByteUs(near, crowd) - copy_us / kWorkBytes);
  const double more_us = kWorkBytes * away_us;
  const MemoryWork copy = machine->copies[0];
  const MemoryWork staged = {CurveFrom(copy_us + more_us, runs_us + more_us), {}};
  const MemoryWork add = machine->adds[0];
  const MemoryWork add_staged = {CurveFrom(add_us + more_us, add_us + more_us), {}};
  Memory staging;
  staging.name = "staging";
  machine->memories.push_back(staging);
  machine->copies = {copy, staged, staged, copy};
  machine->adds = {add, add, add_staged, add_staged};
  for (int& memory : machine->memory_of_kind) memory = 1;
  machine->needs_staging = true;
  machine->within_host = SharedMemoryLink(near, static_cast<int>(all.size()), crowd);
  SharedMemory& shared = machine->shared_memory;
  shared.is_shared = true;
  shared.max_inline_bytes = max_inline_bytes;
  const double kernel_us = MedianOf(all, &RankTimes::kernel_byte_us);
  if (kernel_us > 0) shared.kernel_mb_s = 1 / (kernel_us + away_us);
  shared.least_kernel_bytes = 0;
  shared.most_kernel_bytes = SIZE_MAX;
  for (const RankTimes& times : all) {  // as both sides have to agree
    shared.least_kernel_bytes = std::max(shared.least_kernel_bytes, times.least_kernel_bytes);
    shared.most_kernel_bytes = std::min(shared.most_kernel_bytes, times.most_kernel_bytes);
  }
}

// `most`: ranks of one host.
MachineDescription Describe(const std::vector<RankTimes>& all, const EdgeTimes& far,
                            const EdgeTimes& near, const Capabilities& has, int hosts, int most) {
  const double copy_us = MedianOf(all, &RankTimes::copy_us);
  const double runs_us = MedianOf(all, &RankTimes::runs_us);
  const double add_us = MedianOf(all, &RankTimes::add_us);
  std::vector<RankProcessors> processors;
  for (const RankTimes& times : all) processors.push_back(times.processors);
  const double crowd = RanksPerProcessor(processors);
  MachineDescription found;
  found.name = "calibrated";
  found.hosts = hosts;
  found.ranks_per_host = most;
  found.ranks_per_processor = crowd;
  Memory user;
  user.name = "user";
  found.memories.push_back(user);
  found.copies.push_back({CurveFrom(copy_us, runs_us), {}});
  found.adds.push_back({CurveFrom(add_us, add_us), {}});
  // Memory is shared within hosts only, though a group with edges of both kinds is said to do so.
  EdgeKind kind{false, false, has.eager_segment_bytes, std::max(copy_us, 1e-3) / kWorkBytes, crowd};
  if (hosts > 1) found.between_hosts = LinkFrom(far, kind);
  kind.within_host = true;
  kind.shares_memory = has.lands_in_peer_memory;
  if (most > 1) found.within_host = LinkFrom(near, kind);
  if (hosts == 1 && has.lands_in_peer_memory) {
    DescribeSharedMemory(all, near, has.max_inline_bytes, &found);
  }
  found.between_hosts.ports_of_host = true;
  found.preferred_segment_bytes = has.tuning.preferred_segment_bytes;
  found.overlap_segment_bytes = has.tuning.overlap_segment_bytes;
  found.segment_cost_bytes = has.tuning.segment_cost_bytes;
  return found;
}

}  // namespace

Status Calibrate(Engine* engine, GroupState* group, Bootstrap* bootstrap,
                 MachineDescription* machine, bool* measured) {
  const std::vector<int>& hosts = group->host_of;
  std::vector<std::vector<int>> members;  // by host
  for (int r = 0; r < bootstrap->size(); ++r) {
    const auto host = static_cast<size_t>(hosts[static_cast<size_t>(r)]);
    if (host >= members.size()) members.resize(host + 1);
    members[host].push_back(r);
  }
  std::vector<int> firsts;
  size_t most = 0;
  for (const std::vector<int>& host : members) {
    firsts.push_back(host.front());
    most = std::max(most, host.size());
  }
  const size_t others = hosts.size() - firsts.size();  // ranks that share a host with a first one
  const bool all_share_memory = firsts.size() == 1 && group->capabilities->lands_in_peer_memory;

  RankTimes mine;
  const auto measure = [&](Measurer* measurer) {
    BRIGADE_RETURN_IF_ERROR(measurer->MeasureEdges(firsts, &mine.far));
    BRIGADE_RETURN_IF_ERROR(measurer->MeasureEdges(
        members[static_cast<size_t>(hosts[static_cast<size_t>(group->rank)])], &mine.near));
    if (all_share_memory) {
      return measurer->MeasureSegmentsBesideOne(bootstrap->size() - 1, &mine.near);
    }
    const bool by_host = group->scope(ChannelKind::kAll).goes_by_host();
    if (firsts.size() < 3) return Status();  // nobody passes anything on
    const double first_us = static_cast<double>(firsts.size()) * mine.far.hop_us +
                            (by_host ? 0 : static_cast<double>(others) * mine.near.hop_us);
    return measurer->MeasureSegments(by_host ? firsts.back() : bootstrap->size() - 1, first_us,
                                     &mine.far);
  };
  const Status status = BreakIfOutOfMemory(engine, group, [&] {
    Measurer measurer(engine, group);
    BRIGADE_RETURN_IF_ERROR(measure(&measurer));
    measurer.MeasureMemory(&mine);
    if (all_share_memory) measurer.MeasureKernelCopies(&mine);
    return Status();
  });
  mine.outcome = static_cast<int64_t>(status.code());
  mine.processors = RankProcessors::Here();
  // Whatever has happened, the others wait here.
  std::vector<RankTimes> all(static_cast<size_t>(bootstrap->size()));
  const Status gathered = bootstrap->AllGather(&mine, sizeof(mine), all.data());
  *measured = false;
  BRIGADE_RETURN_IF_ERROR(status);
  BRIGADE_RETURN_IF_ERROR(gathered);
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].outcome == static_cast<int64_t>(StatusCode::kOk)) continue;
    return Status(static_cast<StatusCode>(all[r].outcome),
                  "rank " + std::to_string(r) +
                      " failed while the costs of messages were measured; look for its "
                      "error, or set BRIGADE_CALIBRATE=0 (brigade_options::calibrate)");
  }

  const EdgeTimes far = MediansOf(all, &RankTimes::far);
  const EdgeTimes near = MediansOf(all, &RankTimes::near);
  if ((firsts.size() > 1 && !IsSensible(far)) || (most > 1 && !IsSensible(near))) return Status();
  *machine = Describe(all, far, near, *group->capabilities, static_cast<int>(firsts.size()),
                      static_cast<int>(most));
  *measured = true;
  return Status();
}

}  // namespace brigade
