#include "bench/studies/model_study.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/contenders/brigade_group.h"
#include "membuf/check.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/group/group.h"
#include "patterns/model/candidates.h"

namespace brigade::bench {
namespace {

// Candidates that are predicted to take more than this many times the best are measured only with
// the segments that suit them best. Of long messages, whose measurements take longest, hopeless
// candidates are not measured, and those near the best are also measured with the longest and the
// shortest segments: all lengths take about equal time.
constexpr double kFarFromBest = 2;
constexpr double kNearBest = 1.2;
constexpr double kHopeless = 4;
constexpr size_t kLongBytes = size_t{2} << 20;

// Integers, whose sums have the same bits in any order: every candidate is allowed.
using Number = int32_t;

Matrix MatrixOf(std::vector<Number>* elements, size_t first, size_t count) {
  Matrix matrix;
  matrix.data = reinterpret_cast<std::byte*>(elements->data() + first);
  const auto rows = static_cast<int64_t>(count);
  AbortUnlessOk(
      StridedLayout::General(rows, 1, std::max<int64_t>(rows, 1), sizeof(Number), &matrix.layout));
  return matrix;
}

// The memory of one case, what belongs in it before, and what should be in it afterwards. The root
// is rank 0.
class StudyData {
 public:
  StudyData(const Session& session, Pattern pattern, size_t bytes)
      : rank_(session.rank()), ranks_(session.ranks()), entry_(EntryOf(pattern)) {
    size_t count = bytes / sizeof(Number);
    if (entry_.multi) count = std::max<size_t>(count / ranks_, 1) * ranks_;
    elements_.resize(count);
    own_.resize(entry_.multi ? count / ranks_ : 0);
    for (int q = 0; entry_.multi && q < ranks_; ++q) {
      blocks_.push_back(MatrixOf(&elements_, q * own_.size(), own_.size()));
    }
    sent_.resize(pattern == Pattern::kAllToAll ? count : 0);
    for (int q = 0; !sent_.empty() && q < ranks_; ++q) {
      sent_blocks_.push_back(MatrixOf(&sent_, q * own_.size(), own_.size()));
    }
  }

  size_t bytes() const { return elements_.size() * sizeof(Number); }

  // This rank's part of the pattern: of sends only ranks 0 and 1 have one.
  PatternCall Call() {
    PatternCall call;
    call.pattern = entry_.pattern;
    call.type = Element::kInt32;
    call.topology = {Shape::kFree, 0};
    if (entry_.pattern == Pattern::kSend) {
      call.root = 1 - std::min(rank_, 1);
      if (rank_ == 1) call.pattern = Pattern::kReceive;
    }
    if (entry_.multi) call.blocks = blocks_.data();
    call.sent = sent_blocks_.data();
    call.equal_blocks = true;
    call.matrix = entry_.pattern == Pattern::kMultiReduce
                      ? MatrixOf(&own_, 0, own_.size())
                      : MatrixOf(&elements_, 0, elements_.size());
    return call;
  }

  void Prepare() {
    for (size_t i = 0; i < elements_.size(); ++i) elements_[i] = Sent(rank_, i);
    for (size_t i = 0; i < sent_.size(); ++i) sent_[i] = Sent(rank_, i);
    std::fill(own_.begin(), own_.end(), -1);
  }
  void Clear() { std::fill(elements_.begin(), elements_.end(), 0); }

  std::string Check() const {
    for (size_t i = 0; i < elements_.size(); ++i) {
      if (entry_.pattern == Pattern::kMultiReduce) break;
      if (elements_[i] != Expected(i)) return "element " + std::to_string(i);
    }
    for (size_t i = 0; entry_.pattern == Pattern::kMultiReduce && i < own_.size(); ++i) {
      if (own_[i] != Sum(rank_ * own_.size() + i)) return "element " + std::to_string(i);
    }
    return "";
  }

 private:
  static Number Sent(int rank, size_t i) {
    return static_cast<Number>(i % 10007) * 3 + 100000 * rank;
  }
  Number Sum(size_t i) const { return SumBelow(ranks_, i); }
  static Number SumBelow(int ranks, size_t i) {
    Number sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += Sent(rank, i);
    return sum;
  }
  // Of the patterns whose result is where the argument was.
  Number Expected(size_t i) const {
    switch (entry_.pattern) {
      case Pattern::kSend:
        return Sent(rank_ == 1 ? 0 : rank_, i);
      case Pattern::kBroadcast:
        return Sent(0, i);
      case Pattern::kReduce:
        return rank_ == 0 ? Sum(i) : Sent(rank_, i);
      case Pattern::kAllReduce:
        return Sum(i);
      case Pattern::kMultiBroadcast:
        return Sent(static_cast<int>(i / own_.size()), i);
      case Pattern::kGather:
        return Sent(rank_ == 0 ? static_cast<int>(i / own_.size()) : rank_, i);
      case Pattern::kScatter:
        return Sent(static_cast<int>(i / own_.size()) == rank_ ? 0 : rank_, i);
      case Pattern::kAllToAll:
        return Sent(static_cast<int>(i / own_.size()), rank_ * own_.size() + i % own_.size());
      case Pattern::kScan:
        return SumBelow(rank_ + 1, i);
      case Pattern::kExscan:
        return rank_ == 0 ? Sent(0, i) : SumBelow(rank_, i);
      default:
        return Sent(rank_, i);
    }
  }

  const int rank_;
  const int ranks_;
  const CatalogueEntry& entry_;
  std::vector<Number> elements_;
  std::vector<Number> own_;  // multi forms: this rank's sum, as long as each block
  std::vector<Matrix> blocks_;
  std::vector<Number> sent_;  // of an all-to-all
  std::vector<Matrix> sent_blocks_;
};

// Returns the candidates worth measuring, equal on all ranks.
std::vector<Candidate> WithoutHopeless(const std::vector<Candidate>& all, size_t bytes) {
  struct Cuts {
    double best_us = std::numeric_limits<double>::infinity();
    int64_t fewest = std::numeric_limits<int64_t>::max();
    int64_t most = 0;
  };
  std::map<std::string, Cuts> cuts_of;
  double best_us = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : all) {
    Cuts& cuts = cuts_of[TopologyName(candidate.topology)];
    cuts.best_us = std::min(cuts.best_us, candidate.cost.us);
    cuts.fewest = std::min(cuts.fewest, candidate.cost.segments);
    cuts.most = std::max(cuts.most, candidate.cost.segments);
    best_us = std::min(best_us, candidate.cost.us);
  }
  std::vector<Candidate> kept;
  for (const Candidate& candidate : all) {
    const double us = candidate.cost.us;
    const int64_t segments = candidate.cost.segments;
    const Cuts& cuts = cuts_of[TopologyName(candidate.topology)];
    const bool is_long = bytes >= kLongBytes;
    if (is_long && us > kHopeless * best_us) continue;
    const bool is_asked =
        is_long ? us <= kNearBest * best_us && (segments == cuts.fewest || segments == cuts.most)
                : us <= kFarFromBest * best_us;
    if (us <= cuts.best_us || is_asked) kept.push_back(candidate);
  }
  return kept;
}

// Returns the place of the candidate that the library selects for a free topology. Adds it to
// `candidates` if it is missing.
size_t PlaceOfChosen(Group* group, const PatternCall& asked, std::vector<Candidate>* candidates) {
  PatternCall call = asked;
  const Status chosen = group->Choose(&call);
  BRIGADE_CHECK(chosen.ok());
  const brigade::Cost cost = group->Predict(call);
  const auto same = std::find_if(candidates->begin(), candidates->end(), [&](const Candidate& one) {
    return one.topology == call.topology && one.cost.segments == cost.segments;
  });
  const auto place = static_cast<size_t>(same - candidates->begin());
  if (same == candidates->end()) candidates->push_back({call.topology, call.segment_bytes, cost});
  return place;
}

// The delay of ranks that sleep until a common time, when all processors have several of them to
// wake: the time of all-reduces of 4 bytes, measured alternately with the candidates of a case,
// minus the prediction for ranks that are awake; the mean of a tree and a hypercube.
class Lateness {
 public:
  Lateness(const Session& session, Group* group)
      : group_(group), data_(session, Pattern::kAllReduce, sizeof(Number)), call_(data_.Call()) {}

  // Ahead of all others. This object outlives the case.
  void AddTo(Case* the_case) {
    for (const Topology& topology : topologies_) {
      Subject subject;
      PatternCall variant = call_;
      variant.topology = topology;
      subject.run = [=](int) { return group_->Run(variant); };
      subject.check = [=](int) { return data_.Check(); };
      the_case->subjects.push_back(std::move(subject));
    }
  }
  void Prepare() { data_.Prepare(); }
  void Clear() { data_.Clear(); }
  // Its own subjects, and their results.
  static void LeaveOut(Case* the_case) {
    the_case->subjects.erase(the_case->subjects.begin(), the_case->subjects.begin() + kSubjects);
  }
  static void LeaveOut(std::vector<Result>* results) {
    results->erase(results->begin(), results->begin() + kSubjects);
  }

  // `results`: of a case with the subjects that AddTo added.
  double Us(const std::vector<Result>& results) const {
    double sum_us = 0;
    for (size_t i = 0; i < kSubjects; ++i) {
      const double measured_us = results[i].microseconds.median;
      double late_us = 0;
      for (double step = measured_us / 2; step > 0.1; step /= 2) {
        if (PredictedUs(topologies_[i], late_us + step, measured_us) <= measured_us) {
          late_us += step;
        }
      }
      sum_us += late_us;
    }
    return sum_us / kSubjects;
  }

 private:
  static constexpr size_t kSubjects = 2;

  double PredictedUs(const Topology& topology, double late_us, double otherwise) const {
    for (const Candidate& candidate : group_->Candidates(call_, late_us)) {
      if (candidate.topology == topology) return candidate.cost.us;
    }
    return otherwise;
  }

  Group* const group_;
  const Topology topologies_[kSubjects] = {{Shape::kTree, 2}, {Shape::kHypercube, 0}};
  StudyData data_;
  const PatternCall call_;
};

// A group whose edges have just been measured: what a processor needs for a message changes within
// minutes where others use the machine, too.
std::unique_ptr<BrigadeGroup> Calibrated(Session* session, const Options& options) {
  std::unique_ptr<BrigadeGroup> brigade;
  AbortUnlessOk(BrigadeGroup::Create(session->comm(), options, &brigade));
  if (brigade->machine() == nullptr) {
    AbortUnlessOk(Status(StatusCode::kUnavailable, "model: the edges could not be measured"));
  }
  return brigade;
}

// The case's first subjects are the candidates.
void Predict(const std::vector<Candidate>& candidates, const std::vector<Candidate>& predicted,
             Case* the_case) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    const auto same = std::find_if(predicted.begin(), predicted.end(), [&](const Candidate& other) {
      return other.topology == candidates[i].topology &&
             other.segment_bytes == candidates[i].segment_bytes;
    });
    if (same != predicted.end()) the_case->subjects[i].predicted_us = same->cost.us;
  }
}

void Study(Session* session, const Options& options, Pattern pattern, size_t bytes) {
  const std::unique_ptr<BrigadeGroup> brigade = Calibrated(session, options);
  Group* const group = brigade->group();
  Lateness lateness(*session, group);
  StudyData data(*session, pattern, bytes);
  const bool plain = EntryOf(pattern).topologies.empty();
  const bool takes_part = pattern != Pattern::kSend || session->rank() < 2;
  const PatternCall call = data.Call();
  PatternCall asked = call;  // by every rank alike, also by one that takes no part
  asked.pattern = pattern;
  if (pattern == Pattern::kSend) asked.root = session->rank() == 1 ? 0 : 1;

  Case the_case;
  the_case.name = PatternName(pattern);
  the_case.bytes = data.bytes();
  the_case.rows = static_cast<int64_t>(data.bytes() / sizeof(Number));
  the_case.cols = 1;
  the_case.ld = the_case.rows;
  the_case.roots = 1;
  the_case.prepare = [&](int) {
    data.Prepare();
    lateness.Prepare();
  };
  the_case.before_timing = [&] {
    data.Clear();
    lateness.Clear();
  };
  lateness.AddTo(&the_case);
  const auto add = [&](const std::string& name, const PatternCall& variant) {
    Subject subject;
    subject.name = "brigade";
    subject.pattern = name;
    subject.run = [=](int) { return takes_part ? group->Run(variant) : Status(); };
    subject.check = [&](int) { return data.Check(); };
    the_case.subjects.push_back(std::move(subject));
  };
  std::vector<Candidate> candidates = WithoutHopeless(group->Candidates(asked), bytes);
  const size_t chosen = PlaceOfChosen(group, asked, &candidates);
  for (const Candidate& candidate : candidates) {
    PatternCall variant = call;
    variant.topology = candidate.topology;
    variant.segment_bytes = candidate.segment_bytes;
    std::string name = plain ? "only algorithm" : TopologyName(candidate.topology);
    if (candidate.cost.segments > 1)
      name += ", " + std::to_string(candidate.cost.segments) + " segments";
    add(name, variant);
  }
  add("free", call);

  std::vector<Result> rounds[] = {session->Results(the_case), session->Results(the_case)};
  double late_us = (lateness.Us(rounds[0]) + lateness.Us(rounds[1])) / 2;
  // Two ranks have a processor each.
  if (pattern == Pattern::kSend) late_us /= brigade->machine()->ranks_per_processor;
  const std::vector<Candidate> predicted = group->Candidates(asked, late_us);
  Lateness::LeaveOut(&the_case);
  the_case.subjects[chosen].chosen = true;
  Predict(candidates, predicted, &the_case);
  for (std::vector<Result>& round : rounds) {
    Lateness::LeaveOut(&round);
    session->Add(the_case, round);
  }
}

void WriteMachine(const MachineDescription& machine, const std::string& file) {
  std::ofstream out(file);
  out << machine.ToJson("measured: by calibration") << std::flush;
  if (out) return;
  AbortUnlessOk({StatusCode::kUnavailable, "cannot write " + file + ": " + std::strerror(errno)});
}

}  // namespace

void RunModelStudy(Session* session) {
  Options options = session->options();
  options.calibrate = EngineOptions::Calibrate::kAlways;
  if (!options.machine.empty()) {
    const std::unique_ptr<BrigadeGroup> brigade = Calibrated(session, options);
    if (session->rank() == 0) WriteMachine(*brigade->machine(), options.machine);
  }
  for (const CatalogueEntry& entry : Catalogue()) {
    const auto& wanted = options.patterns;
    if (std::find(wanted.begin(), wanted.end(), entry.name) == wanted.end()) continue;
    session->StartTable(entry.name);
    if (entry.pattern == Pattern::kBarrier) {
      Study(session, options, entry.pattern, 0);
      continue;
    }
    for (const size_t bytes : options.contiguous_bytes) {
      Study(session, options, entry.pattern, bytes);
    }
  }
}

}  // namespace brigade::bench
