#include "patterns/catalogue/circulant.h"

#include "membuf/check.h"
#include "patterns/schedule/circulant_graph.h"
#include "patterns/schedule/geometry.h"

namespace brigade {
namespace {

// The streams of a node, by their numbers; `least_slots`: of others than the base segment's.
void AddStreams(const CirculantNode& node, ChunkRole role, int least_slots, ScheduleBuilder* b) {
  constexpr const char* kNames[] = {"A", "B", "C"};
  BRIGADE_CHECK(node.stream_count <= 3);
  for (int s = 0; s < node.stream_count; ++s)
    b->AddStream(kNames[s], role, s == 0 ? kMinSlots : least_slots);
}

// The stream of the segment that is sent in round k, and whether it is for the last time.
struct Use {
  int stream = -1;
  bool last = false;
};
Use UseIn(const CirculantNode& node, int k) {
  for (size_t from = 0; from < node.sent_on.size(); ++from) {
    for (const int use : node.sent_on[from]) {
      if (use % node.rounds() == k) return {node.streams[from], use == node.sent_on[from].back()};
    }
  }
  CheckFailed(__FILE__, __LINE__, "a segment that is sent and never came");
}

// Calls `segment(share, lead, k)` for what a place receives in round k of a phase, or the root
// sends first, in the order in which it is awaited.
template <typename Segment>
void ForSegments(const CirculantGraph& graph, int place, const Segment& segment) {
  const int q = graph.rounds();
  if (place == 0) {
    for (int k = 0; k < q; ++k) segment(k, 1, k);
    return segment(q, 0, 0);
  }
  const CirculantNode node(graph, place);
  for (int k = 0; k < q; ++k) {
    if (k != node.base_round()) segment(node.KindOf(node.receives[static_cast<size_t>(k)]), 0, k);
    if (k != node.base_awaited()) continue;
    segment(node.receives[static_cast<size_t>(node.base_round())], 1, node.base_round());
    segment(q, 0, node.base_round());
  }
}

// The schedule of a rank whose place another rank represents: that rank forwards all to it.
Schedule WithinPlace(const ScheduleParameters& p, const RankTree& tree,
                     const CirculantGraph& graph) {
  ScheduleBuilder b;
  const int relative = tree.ToRelative(p.rank);
  const TreeNode node = tree.NodeWithinPlace(relative);
  b.SetShares(Shares::Segments(graph.rounds(), /*backwards=*/false));
  const int in =
      b.AddStream("R", node.children.empty() ? ChunkRole::kReceive : ChunkRole::kForward);
  ForSegments(graph, tree.PlaceOf(relative), [&](int share, int lead, int) {
    b.SetBlock(share);
    b.SetLead(lead);
    b.ReceiveAndAwait(tree.ToRank(node.parent), in);
    for (const int child : node.children) b.Send(in, tree.ToRank(child));
    b.Copy(Place::Block(share), Place::Current(in));
    b.Free(in);
  });
  return b.Build();
}

Schedule BroadcastRoot(const RankTree& tree, const CirculantGraph& graph) {
  ScheduleBuilder b;
  const TreeNode within = tree.NodeWithinPlace(0);
  const auto to_place = [&](int place) { return tree.ToRank(tree.FirstOf(place)); };
  b.SetShares(Shares::Segments(graph.rounds(), /*backwards=*/false));
  const int out = b.AddStream("S", ChunkRole::kBroadcastSource);
  ForSegments(graph, 0, [&](int share, int lead, int k) {
    const bool last = share == graph.rounds();
    b.SetBlock(share);
    b.SetLead(lead);
    b.Copy(Place::New(out), Place::Block(share));
    b.Send(out, to_place(graph.skip(k)));
    for (int next = 1; last && next < graph.rounds(); ++next)
      b.Send(out, to_place(graph.skip(next)));
    for (const int child : within.children) b.Send(out, tree.ToRank(child));
    b.Free(out);
  });
  return b.Build();
}

}  // namespace

Schedule CirculantBroadcast(const ScheduleParameters& p) {
  const RankTree tree(p.topology, p.size, p.root, p.hosts);
  if (p.shares_memory || tree.places() == 1) {
    ScheduleParameters wide = p;
    wide.topology = kWithinHost;
    wide.hosts.clear();
    return CompileBroadcast(wide);
  }
  const CirculantGraph graph(tree.places());
  const int relative = tree.ToRelative(p.rank);
  const int place = tree.PlaceOf(relative);
  if (relative != tree.FirstOf(place)) return WithinPlace(p, tree, graph);
  if (place == 0) return BroadcastRoot(tree, graph);

  const CirculantNode node(graph, place);
  const int q = node.rounds();
  const TreeNode within = tree.NodeWithinPlace(relative);
  const auto to_place = [&](int steps) {
    return tree.ToRank(tree.FirstOf(graph.RankAt(place, steps)));
  };
  ScheduleBuilder b;
  b.SetShares(Shares::Segments(q, /*backwards=*/false));
  AddStreams(node, ChunkRole::kForward, kMinSlots, &b);
  const auto turn_to = [&](int share, int lead) {
    b.SetBlock(share);
    b.SetLead(lead);
  };
  const auto let_go = [&](int stream, int share) {
    b.Copy(Place::Block(share), Place::Current(stream));
    b.Free(stream);
  };
  const auto receive = [&](int k, int stream, int share, bool sent_on) {
    b.ReceiveAndAwait(to_place(-graph.skip(k)), stream);
    for (const int child : within.children) b.Send(stream, tree.ToRank(child));
    if (!sent_on) let_go(stream, share);
  };
  // A segment is sent on as soon as its turn comes, and copied out when that is over.
  for (int k = 0; k < q; ++k) {
    const int sent = node.sends[static_cast<size_t>(k)];
    if (sent != CirculantNode::kNothing) {
      const Use use = UseIn(node, k);
      turn_to(node.KindOf(sent), sent < 0 ? 0 : 1);
      b.Send(use.stream, to_place(graph.skip(k)));
      if (use.last) let_go(use.stream, node.KindOf(sent));
    }
    if (sent >= 0) {
      turn_to(q, 0);
      b.Send(0, to_place(graph.skip(k)));
      if (k == node.last_sent_on.back()) let_go(0, q);
    }
    if (k != node.base_round()) {
      const auto round = static_cast<size_t>(k);
      turn_to(node.KindOf(node.receives[round]), 0);
      receive(k, node.streams[round], node.KindOf(node.receives[round]),
              !node.sent_on[round].empty());
    }
    if (k == node.base_awaited()) {
      const auto round = static_cast<size_t>(node.base_round());
      turn_to(node.receives[round], 1);
      receive(node.base_round(), 0, node.receives[round], !node.sent_on[round].empty());
      turn_to(q, 0);
      receive(node.base_round(), 0, q, !node.last_sent_on.empty());
    }
  }
  return b.Build();
}

// Combines the contribution of `rank` with `own`. `behind`: the place of `rank` is behind this one.
void AddFrom(int rank, bool behind, int in, const Place& own, const Place& target,
             ScheduleBuilder* b) {
  b->ReceiveAndAwait(rank, in);
  if (behind) {
    b->Combine(target, own, Place::Current(in));
  } else {
    b->Combine(target, Place::Current(in), own);
  }
  b->Free(in);
}

// The broadcast backwards: where a segment was received its sum is sent, and where it was sent on
// another contribution comes in. Rounds and leads are those of the broadcast, counted from the end.
Schedule CirculantReduce(const ScheduleParameters& p) {
  const RankTree tree(p.topology, p.size, p.root, {});
  const CirculantGraph graph(p.size);
  const int place = tree.ToRelative(p.rank);
  const int q = graph.rounds();
  const auto to_rank = [&](int steps) { return tree.ToRank(graph.RankAt(place, steps)); };
  ScheduleBuilder b;
  b.SetShares(Shares::Segments(q, /*backwards=*/true));
  const auto turn_to = [&](int share, int lead) {
    b.SetBlock(share);
    b.SetLead(lead);
  };
  // Adds the contribution that comes from the rank `steps` further to `own`.
  int in = -1;
  const auto add = [&](int steps, Place target, Place own) {
    AddFrom(to_rank(steps), graph.RankAt(place, steps) > place, in, own, target, &b);
  };

  if (place == 0) {
    in = b.AddStream("R", ChunkRole::kReceive);
    for (int k = q - 1; k >= 0; --k) {
      turn_to(k, 0);
      add(graph.skip(k), Place::Block(k), Place::SourceBlock(k));
      turn_to(q, 1);
      add(graph.skip(k), Place::Block(q), k == q - 1 ? Place::SourceBlock(q) : Place::Block(q));
    }
    return b.Build();
  }

  const CirculantNode node(graph, place);
  // The sum of one segment is sent before that of the next begins in the same stream, and its
  // receiver waits for nothing that comes later, unless it is the base segment's, which may have to
  // wait.
  AddStreams(node, ChunkRole::kCombineTarget, /*least_slots=*/1, &b);
  in = b.AddStream("R", ChunkRole::kReceive);
  const auto send_sum = [&](int k, int stream, int share, bool of_others) {
    if (!of_others) b.Copy(Place::New(stream), Place::SourceBlock(share));
    b.Send(stream, to_rank(-graph.skip(k)));
    b.Free(stream);
  };
  const auto add_to_sum = [&](int k, int stream, int share, bool first) {
    add(graph.skip(k), first ? Place::New(stream) : Place::Current(stream),
        first ? Place::SourceBlock(share) : Place::Current(stream));
  };
  const auto add_in_round = [&](int k) {
    const int sent = node.sends[static_cast<size_t>(k)];
    if (sent == CirculantNode::kNothing) return;
    if (sent >= 0) {
      turn_to(q, 1);
      add_to_sum(k, 0, q, k == node.last_sent_on.back());
    }
    const Use use = UseIn(node, k);
    turn_to(node.KindOf(sent), sent < 0 ? 1 : 0);
    add_to_sum(k, use.stream, node.KindOf(sent), use.last);
  };
  // Contributions to the next base segment arrive after the sum of this one has been sent.
  const auto waits = [&](int k) {
    return k > node.base_round() && k <= node.base_awaited() &&
           node.sends[static_cast<size_t>(k)] ==
               node.receives[static_cast<size_t>(node.base_round())] - q;
  };
  for (int k = q - 1; k >= 0; --k) {
    const auto round = static_cast<size_t>(k);
    const int segment = node.receives[round];
    if (segment >= 0) {
      turn_to(q, 1);
      send_sum(k, 0, q, !node.last_sent_on.empty());
    }
    turn_to(node.KindOf(segment), segment < 0 ? 1 : 0);
    send_sum(k, node.streams[round], node.KindOf(segment), !node.sent_on[round].empty());
    for (int late = node.base_awaited(); k == node.base_round() && late > k; --late) {
      if (waits(late)) add_in_round(late);
    }
    if (!waits(k)) add_in_round(k);
  }
  return b.Build();
}

}  // namespace brigade
