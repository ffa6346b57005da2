#include "bsp_shim/registrations.h"

#include <algorithm>

namespace brigade {
namespace bsp {
namespace {

const char* NameOf(const RegistrationCall& call) {
  return call.is_push != 0 ? "bsp_push_reg" : "bsp_pop_reg";
}

}  // namespace

int Registrations::TakeSlot() {
  if (free_slots_.empty()) {
    slots_.emplace_back();
    return static_cast<int>(slots_.size()) - 1;
  }
  const int slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

Status Registrations::Push(const void* address, int bytes) {
  if (address == nullptr && bytes > 0) return Invalid(std::to_string(bytes) + " bytes at NULL");
  const int slot = TakeSlot();
  // The program writes there through its own pointers, too.
  slots_[static_cast<size_t>(slot)].address =
      const_cast<std::byte*>(static_cast<const std::byte*>(address));
  pushed_.push_back(slot);
  calls_.push_back({1, address == nullptr ? RegistrationCall::kNull : bytes});
  if (address != nullptr) by_address_[address].push_back({slot, false, false});
  return Status();
}

Status Registrations::Pop(const void* address) {
  if (address == nullptr) {
    calls_.push_back({0, RegistrationCall::kNull});
    return Status();
  }
  const auto found = by_address_.find(address);
  if (found != by_address_.end()) {
    std::vector<Entry>& entries = found->second;
    const auto newest = std::find_if(entries.rbegin(), entries.rend(),
                                     [](const Entry& entry) { return !entry.is_popped; });
    if (newest != entries.rend()) {
      newest->is_popped = true;
      calls_.push_back({0, newest->slot});
      return Status();
    }
  }
  return Invalid(MemoryAt(address) + " is not registered on this process");
}

int Registrations::Find(const void* address) const {
  if (address == last_) return last_slot_;
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) return kNone;
  const std::vector<Entry>& entries = found->second;
  const auto newest = std::find_if(entries.rbegin(), entries.rend(),
                                   [](const Entry& entry) { return entry.is_in_effect; });
  if (newest == entries.rend()) return kNone;
  last_ = address;
  return last_slot_ = newest->slot;
}

Status Registrations::Agree(const std::vector<RegistrationCalls>& all, size_t c, int* slot,
                            int* who) const {
  const auto says = [c](const RegistrationCalls& calls) { return calls.first[c].value; };
  const auto knows = std::find_if(all.begin(), all.end(), [&](const RegistrationCalls& calls) {
    return says(calls) != RegistrationCall::kNull;
  });
  if (knows == all.end()) {
    const auto newest = std::find_if(in_effect_.rbegin(), in_effect_.rend(), [&](int candidate) {
      const std::vector<int64_t>& bytes = at(candidate).bytes_of;
      return std::all_of(bytes.begin(), bytes.end(),
                         [](int64_t of_one) { return of_one == RegistrationCall::kNull; });
    });
    if (newest == in_effect_.rend()) {
      *who = 0;
      return Invalid("NULL on all processes, and nothing is registered that is NULL on all");
    }
    *slot = *newest;
    return Status();
  }
  *slot = static_cast<int>(says(*knows));
  for (size_t p = 0; p < all.size(); ++p) {
    const bool agrees = says(all[p]) == RegistrationCall::kNull
                            ? at(*slot).bytes_of[p] == RegistrationCall::kNull
                            : says(all[p]) == *slot;
    if (agrees) continue;
    *who = static_cast<int>(std::max(p, static_cast<size_t>(knows - all.begin())));
    return Invalid("call " + std::to_string(c + 1) +
                   " of bsp_push_reg and bsp_pop_reg in this superstep pops another registration "
                   "than on process " +
                   std::to_string(p == static_cast<size_t>(*who) ? knows - all.begin()
                                                                 : static_cast<ptrdiff_t>(p)));
  }
  return Status();
}

Status Registrations::Apply(const std::vector<RegistrationCalls>& all, int* who,
                            const char** what) {
  last_ = nullptr;
  last_slot_ = kNone;
  const RegistrationCalls& first = all.front();
  for (size_t p = 1; p < all.size(); ++p) {
    *who = static_cast<int>(p);
    const size_t both = std::min(first.count, all[p].count);
    for (size_t c = 0; c < both; ++c) {
      *what = NameOf(all[p].first[c]);
      if (all[p].first[c].is_push == first.first[c].is_push) continue;
      return Invalid("call " + std::to_string(c + 1) +
                     " of bsp_push_reg and bsp_pop_reg in this superstep is " + *what +
                     " here, and " + NameOf(first.first[c]) + " on process 0");
    }
    if (first.count == all[p].count) continue;
    *what = NameOf((first.count > both ? first : all[p]).first[both]);
    return Invalid(std::to_string(all[p].count) +
                   " calls of bsp_push_reg and bsp_pop_reg in this superstep, and " +
                   std::to_string(first.count) + " on process 0");
  }
  std::vector<int> popped;
  auto pushed = pushed_.begin();
  for (size_t c = 0; c < first.count; ++c) {
    *what = NameOf(first.first[c]);
    if (first.first[c].is_push != 0) {
      std::vector<int64_t>& bytes = slots_[static_cast<size_t>(*pushed)].bytes_of;
      bytes.clear();
      for (const RegistrationCalls& calls : all) bytes.push_back(calls.first[c].value);
      in_effect_.push_back(*pushed++);
      continue;
    }
    int slot = kNone;
    BRIGADE_RETURN_IF_ERROR(Agree(all, c, &slot, who));
    in_effect_.erase(std::find(in_effect_.rbegin(), in_effect_.rend(), slot).base() - 1);
    popped.push_back(slot);
  }
  for (const int slot : pushed_) {
    const void* const address = at(slot).address;
    if (address == nullptr) continue;
    for (Entry& entry : by_address_[address]) entry.is_in_effect = true;
  }
  for (const int slot : popped) Free(slot);
  pushed_.clear();
  calls_.clear();
  return Status();
}

void Registrations::Free(int slot) {
  free_slots_.push_back(slot);
  const auto found = by_address_.find(at(slot).address);
  if (found == by_address_.end()) return;  // NULL on this process
  std::vector<Entry>& entries = found->second;
  entries.erase(std::find_if(entries.begin(), entries.end(),
                             [slot](const Entry& entry) { return entry.slot == slot; }));
  if (entries.empty()) by_address_.erase(found);
}

}  // namespace bsp
}  // namespace brigade
