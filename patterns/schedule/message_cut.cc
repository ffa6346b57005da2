#include "patterns/schedule/message_cut.h"

#include <numeric>
#include <string>

namespace brigade {

bool FitsCore(const Schedule& schedule, const SegmentSettings& settings) {
  if (schedule.lanes.size() == 1) return true;
  const std::vector<Step>& last = schedule.lanes.back().work;
  int slots = 0;
  for (auto lane = schedule.lanes.begin(); lane + 1 != schedule.lanes.end(); ++lane) {
    slots += static_cast<int>(std::count_if(lane->work.begin(), lane->work.end(),
                                            [](const Step& step) { return step.opens(); }));
  }
  for (int stream = 0; stream < static_cast<int>(schedule.streams.size()); ++stream) {
    const auto opens_it = [&](const Step& step) {
      return step.opens() && step.dst.index == stream;
    };
    slots += std::any_of(last.begin(), last.end(), opens_it) ? 1 : 0;
  }
  return slots * settings.most_chunks <= CoreChunks(settings);
}

size_t SegmentBytesTogether(const CutRule& rule, int blocks, size_t segment_bytes) {
  const size_t each_bytes = MostPayload(rule.settings) / static_cast<size_t>(blocks);
  return std::min(segment_bytes, each_bytes / rule.elem_bytes * rule.elem_bytes);
}

Status MessageCut::Cut(const CutRule& rule, const Schedule& schedule, size_t matrix_bytes,
                       const std::vector<size_t>& block_bytes) {
  schedule_ = &schedule;
  ranks_ = rule.ranks;
  plan_known_ = true;
  List(rule, schedule.shares, matrix_bytes, block_bytes);
  const size_t first = plans_.size() > 1 ? 1 : 0;  // where there are blocks, they are the matrix
  longest_bytes_ = 0;
  for (size_t i = first; i < plans_.size(); ++i) {
    longest_bytes_ = std::max(longest_bytes_, plans_[i].total_bytes);
  }
  const SegmentPlan longest = PlanLongest(rule, schedule.shares, longest_bytes_);
  segment_bytes_ = std::min(longest.segment_bytes, longest_bytes_);
  plan_segments_.assign(plans_.size(), 0);
  for (size_t i = first; i < plans_.size(); ++i) {
    SegmentPlan plan =
        rule.each_alone ? PlanLongest(rule, schedule.shares, plans_[i].total_bytes) : longest;
    plan.begin = plans_[i].begin;
    plan.total_bytes = plans_[i].total_bytes;
    plans_[i] = plan;
    plan_segments_[i] = plan.Count();
  }
  run_blocks_.clear();
  if (!schedule.runs.empty()) {
    BRIGADE_RETURN_IF_ERROR(CutRuns(rule));
  } else {
    all_segments_ = std::accumulate(plan_segments_.begin(), plan_segments_.end(), int64_t{0});
  }
  turns_.Set(schedule.shares, plan_segments_);
  return Status();
}

void MessageCut::List(const CutRule& rule, const Shares& shares, size_t matrix_bytes,
                      const std::vector<size_t>& block_bytes) {
  const int blocks = rule.multi ? static_cast<int>(block_bytes.size()) : shares.count;
  plans_.assign(1 + static_cast<size_t>(blocks), SegmentPlan());
  plans_[0].total_bytes = matrix_bytes;
  const size_t elems = matrix_bytes / rule.elem_bytes;
  for (int q = 0; q < blocks; ++q) {
    SegmentPlan& block = plans_[1 + static_cast<size_t>(q)];
    if (rule.multi) {
      block.total_bytes = block_bytes[static_cast<size_t>(q)];
      continue;
    }
    block.begin = ShareBegin(shares, elems, rule.elem_bytes, q) * rule.elem_bytes;
    block.total_bytes =
        ShareBegin(shares, elems, rule.elem_bytes, q + 1) * rule.elem_bytes - block.begin;
  }
}

Status MessageCut::CutRuns(const CutRule& rule) {
  const std::vector<BlockRun>& runs = schedule_->runs;
  int most = std::max(1, schedule_->most_together);
  for (const BlockRun& run : runs) most = std::max(most, run.count);
  if (SegmentBytesTogether(rule, most, rule.elem_bytes) == 0) {
    return Status(
        StatusCode::kInvalidArgument,
        "chunks of " + std::to_string(rule.settings.chunk_bytes) + " bytes have no room for " +
            std::to_string(most) +
            " blocks; raise BRIGADE_CHUNK_BYTES (brigade_options::chunk_bytes), or take another "
            "topology");
  }
  run_blocks_.assign(plans_.begin() + 1, plans_.end());
  all_segments_ = 0;
  for (SegmentPlan& plan : run_blocks_) {
    plan.segment_bytes = SegmentBytesTogether(rule, most, plan.segment_bytes);
    all_segments_ += plan.Count();
  }
  are_alike_ = std::all_of(run_blocks_.begin(), run_blocks_.end(), [&](const SegmentPlan& plan) {
    return plan.total_bytes == run_blocks_.front().total_bytes;
  });
  plans_.assign(1 + runs.size(), SegmentPlan());
  plan_segments_.assign(plans_.size(), 0);
  run_digests_.clear();
  for (size_t i = 0; i < runs.size(); ++i) {
    uint64_t digest = 0;
    for (int j = 0; j < runs[i].count; ++j) {
      const SegmentPlan& block = PlanInRun(schedule_->BlockAt(runs[i], j, ranks_));
      plans_[1 + i].total_bytes += block.total_bytes;
      digest = (digest + block.total_bytes + 1) * 0x9e3779b97f4a7c15;  // which one has how much
      plan_segments_[1 + i] = std::max(plan_segments_[1 + i], block.Count());
    }
    run_digests_.push_back(static_cast<uint16_t>(digest >> 48));
  }
  return Status();
}

void MessageCut::AwaitPlan() {
  plan_known_ = false;
  all_segments_ = plan_segments_[0] = 1;
  turns_.Set(Shares(), plan_segments_);
}

void MessageCut::SetPlan(const SegmentPlan& plan) {
  plan_known_ = true;
  plans_[0] = plan;
  all_segments_ = plan_segments_[0] = plan.Count();
  turns_.Set(Shares(), plan_segments_);
}

size_t MessageCut::RunBytes(int first, int count, int64_t segment) const {
  if (are_alike_) {
    const SegmentPlan& plan = run_blocks_.front();
    return segment < plan.Count() ? static_cast<size_t>(count) * plan.RangeOf(segment).bytes : 0;
  }
  size_t bytes = 0;
  const BlockRun run{first, count};
  for (int i = 0; i < run.count; ++i) {
    const SegmentPlan& plan = PlanInRun(schedule_->BlockAt(run, i, ranks_));
    if (segment < plan.Count()) bytes += plan.RangeOf(segment).bytes;
  }
  return bytes;
}

}  // namespace brigade
