// Groups that are made of the ranks of a group.

#include <algorithm>
#include <climits>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "patterns/group/group.h"
#include "patterns/group/group_bootstrap.h"

namespace brigade {
namespace {

Status MakeOf(Group* parent, const std::vector<int>& members, int rows, int cols,
              std::unique_ptr<Group>* group) {
  std::unique_ptr<Group> made;
  const Status status = GroupBootstrap::Use(parent, members, [&](Bootstrap* bootstrap) {
    return Group::Create(parent->engine(), bootstrap, rows, cols, &made);
  });
  *group = status.ok() ? std::move(made) : nullptr;
  return status;
}

// `ranks` are ranks of a group of `size`, each once, and as many as the shape wants.
Status CheckRanks(const std::vector<int>& ranks, int size, int rows, int cols) {
  if (rows > 0 && cols > size / rows) {
    return Invalid("a grid of " + std::to_string(rows) + " x " + std::to_string(cols) +
                   " has more ranks than the group, which has " + std::to_string(size));
  }
  const auto count = static_cast<int>(std::min(ranks.size(), size_t{INT_MAX}));
  if (rows < 1 || cols < 1 || rows > count / cols || rows * cols != count) {
    return Invalid("a grid of " + std::to_string(rows) + " x " + std::to_string(cols) +
                   " does not fit a list of " + std::to_string(ranks.size()) + " ranks");
  }
  std::vector<bool> listed(static_cast<size_t>(size));
  for (const int rank : ranks) {
    if (rank < 0 || rank >= size) {
      return Invalid("rank " + std::to_string(rank) +
                     " in the list of a new group: the group has " + std::to_string(size) +
                     " ranks, from 0");
    }
    if (listed[static_cast<size_t>(rank)]) {
      return Invalid("rank " + std::to_string(rank) + " is twice in the list of a new group");
    }
    listed[static_cast<size_t>(rank)] = true;
  }
  return Status();
}

// Compares the arguments of all ranks with those of rank 0. kMismatch, the same on all ranks.
Status CheckEqual(Bootstrap* bootstrap, const std::vector<int>& ranks, int rows, int cols) {
  const auto differ = [](int rank, const std::string& what, int first, int other) {
    return Status(StatusCode::kMismatch, "the ranks that make a group of a list differ in " + what +
                                             ": rank 0 has " + std::to_string(first) + ", rank " +
                                             std::to_string(rank) + " has " +
                                             std::to_string(other));
  };
  const int mine[] = {rows, cols, static_cast<int>(std::min(ranks.size(), size_t{INT_MAX}))};
  constexpr const char* kNames[] = {"rows", "columns", "the length of the list"};
  int first[3] = {};
  int other[3] = {};
  int rank = -1;
  BRIGADE_RETURN_IF_ERROR(bootstrap->FindDifference(mine, sizeof(mine), &rank, first, other));
  for (int i = 0; rank >= 0 && i < 3; ++i) {
    if (first[i] != other[i]) return differ(rank, kNames[i], first[i], other[i]);
  }
  std::vector<int> zeros(ranks.size());
  std::vector<int> theirs(ranks.size());
  BRIGADE_RETURN_IF_ERROR(bootstrap->FindDifference(ranks.data(), ranks.size() * sizeof(int), &rank,
                                                    zeros.data(), theirs.data()));
  if (rank < 0) return Status();
  const auto at = std::mismatch(zeros.begin(), zeros.end(), theirs.begin());
  return differ(rank, "place " + std::to_string(at.first - zeros.begin()) + " of the list",
                *at.first, *at.second);
}

}  // namespace

Status Group::Split(int colour, int key, std::unique_ptr<Group>* group) {
  struct Wish {
    int colour;
    int key;
  };
  const Wish mine{colour, key};
  std::vector<Wish> all(state_->members());
  const Status gathered = GroupBootstrap::Use(this, [&](Bootstrap* bootstrap) {
    return bootstrap->AllGather(&mine, sizeof(mine), all.data());
  });
  if (!gathered.ok()) {
    group->reset();
    return gathered;
  }
  std::vector<int> members;
  for (size_t r = 0; colour >= 0 && r < all.size(); ++r) {
    if (all[r].colour == colour) members.push_back(static_cast<int>(r));
  }
  std::sort(members.begin(), members.end(), [&](int a, int b) {
    return std::make_tuple(all[static_cast<size_t>(a)].key, a) <
           std::make_tuple(all[static_cast<size_t>(b)].key, b);
  });
  return MakeOf(this, members, 1, static_cast<int>(members.size()), group);
}

Status Group::FromRanks(const std::vector<int>& ranks, int rows, int cols,
                        std::unique_ptr<Group>* group) {
  Status checked = GroupBootstrap::Use(
      this, [&](Bootstrap* bootstrap) { return CheckEqual(bootstrap, ranks, rows, cols); });
  if (checked.ok()) checked = CheckRanks(ranks, ScopeSize(ChannelKind::kAll), rows, cols);
  if (!checked.ok()) {
    group->reset();
    return checked;
  }
  const bool is_member = std::find(ranks.begin(), ranks.end(), rank()) != ranks.end();
  return MakeOf(this, is_member ? ranks : std::vector<int>(), rows, cols, group);
}

Status Group::Duplicate(std::unique_ptr<Group>* group) {
  std::vector<int> ranks(state_->members());
  std::iota(ranks.begin(), ranks.end(), 0);
  return MakeOf(this, ranks, rows(), cols(), group);
}

}  // namespace brigade
