// GroupTable: the groups of an endpoint, by the ids that its caller knows them by.

#ifndef BRIGADE_TRANSPORT_CORE_GROUP_TABLE_H_
#define BRIGADE_TRANSPORT_CORE_GROUP_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "transport/channel.h"

namespace brigade {

// A group is open from Add to Close, and then stays until Erase, for pending operations.
template <typename Group>
class GroupTable {
 public:
  // Adds a group, and returns its id. Recent ids are not reused, so that calls with the id of an
  // erased group are detected.
  GroupId Add(std::unique_ptr<Group> group) {
    const auto is_free = [](const Entry& entry) { return entry.group == nullptr; };
    auto entry = std::find_if(entries_.begin(), entries_.end(), is_free);
    if (entry == entries_.end()) {
      BRIGADE_CHECK_LT(entries_.size(), kMostGroups);
      entry = entries_.insert(entry, Entry{static_cast<GroupId>(entries_.size())});
    }
    entry->group = std::move(group);
    entry->open = true;
    return entry->id;
  }

  // REQUIRES, here and below: the group is open; otherwise the caller has a bug.
  Group& At(GroupId id) const {
    const size_t place = PlaceOf(id);
    BRIGADE_CHECK_LT(place, entries_.size());
    const Entry& entry = entries_[place];
    BRIGADE_CHECK(entry.open && entry.id == id);
    return *entry.group;
  }
  void Close(GroupId id) {
    (void)At(id);
    entries_[PlaceOf(id)].open = false;
  }
  // REQUIRES: the group is in the table, open or not.
  void Erase(GroupId id) {
    Entry& entry = entries_[PlaceOf(id)];
    BRIGADE_CHECK(entry.group != nullptr && entry.id == id);
    entry.open = false;
    entry.id = static_cast<GroupId>((static_cast<uint32_t>(id) + kMostGroups) & INT32_MAX);
    entry.group.reset();
  }

  // Calls visit(id, group) for all, those that are closed included. `visit` may erase its group.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (size_t place = 0; place < entries_.size(); ++place) {
      const Entry& entry = entries_[place];
      if (entry.group != nullptr) visit(entry.id, entry.group.get());
    }
  }

 private:
  // An id is a place here, and above that the number of groups that had it before.
  static constexpr uint32_t kMostGroups = 1 << 20;
  static size_t PlaceOf(GroupId id) { return static_cast<uint32_t>(id) % kMostGroups; }

  struct Entry {
    GroupId id;  // of the group here, or of the next to come here
    bool open = false;
    std::unique_ptr<Group> group{};
  };
  std::vector<Entry> entries_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CORE_GROUP_TABLE_H_
