#include "li_shim/backend/checked_backend.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string_view>

namespace brigade {
namespace li {
namespace {

constexpr int kWordSlot = kProgramSlots;
constexpr int kLetterSlot = kProgramSlots + 1;

uint64_t Bit(int slot) { return uint64_t{1} << slot; }

size_t DigestOf(const void* data, size_t bytes) {
  return std::hash<std::string_view>()({static_cast<const char*>(data), bytes});
}

}  // namespace

template <typename Item>
Status CheckedBackend::Open(int slot, Boxes<Item>* boxes) {
  boxes->items.resize(2 * static_cast<size_t>(processes()));
  BRIGADE_RETURN_IF_ERROR(
      backend_->Register(slot, boxes->items.data(), boxes->items.size() * sizeof(Item)));
  return backend_->Init(slot);
}

template <typename Item, typename Mine>
Status CheckedBackend::Exchange(int slot, Boxes<Item>* boxes, const Mine& mine,
                                const Item** received) {
  const auto first = static_cast<size_t>(boxes->is_odd ? processes() : 0);
  boxes->is_odd = !boxes->is_odd;
  for (int p = 0; p < processes(); ++p) {
    BRIGADE_RETURN_IF_ERROR(backend_->Put(slot, p, &mine[static_cast<size_t>(p)],
                                          (first + static_cast<size_t>(process())) * sizeof(Item),
                                          sizeof(Item)));
  }
  BRIGADE_RETURN_IF_ERROR(backend_->Sync({slot}));
  BRIGADE_RETURN_IF_ERROR(backend_->Barrier());
  *received = &boxes->items[first];
  return Status();
}

const char* CheckedBackend::NameOf(Call call) {
  switch (call) {
    case Call::kEnd:
      return "LIEND";
    case Call::kRegister:
      return "LIREGISTER or LIOREGISTER";
    case Call::kInit:
      return "LIINIT or LIOINIT";
    case Call::kCommit:
      return "LICOMMIT or LIOCOMMIT";
    case Call::kDeregister:
      return "LIDEREGISTER or LIEND";
    case Call::kSync:
      return "LISYNC or LIOSYNC";
    case Call::kBarrier:
      return "LIBARRIER or LIOBARRIER";
  }
  return "";
}

Status CheckedBackend::Meet(Call call, uint64_t slots, int64_t number, const Word** words) {
  const std::vector<Word> mine(static_cast<size_t>(processes()), {call, slots, number});
  BRIGADE_RETURN_IF_ERROR(Exchange(kWordSlot, &words_, mine, words));
  const Word first = (*words)[0];
  const Word* const end = *words + processes();
  const Word* const other = std::find_if(*words, end, [&](const Word& word) {
    return word.call != first.call || word.slots != first.slots;
  });
  if (other == end) return Status();
  // One says it. The others wait here until that ends the program.
  if (process() != other - *words) return backend_->Barrier();
  return Invalid(std::string("process 0 calls ") + NameOf(first.call) +
                 (other->call == first.call ? " for other memory" : " instead"));
}

Status CheckedBackend::Meet(Call call, uint64_t slots, int64_t number) {
  const Word* words;
  return Meet(call, slots, number, &words);
}

Status CheckedBackend::Begin() {
  BRIGADE_RETURN_IF_ERROR(backend_->Begin());
  BRIGADE_RETURN_IF_ERROR(Open(kWordSlot, &words_));
  BRIGADE_RETURN_IF_ERROR(Open(kLetterSlot, &letters_));
  asked_.resize(static_cast<size_t>(processes()));
  registered_.resize(static_cast<size_t>(processes()));
  return backend_->Commit();
}

Status CheckedBackend::End() {
  BRIGADE_RETURN_IF_ERROR(Meet(Call::kEnd));
  BRIGADE_RETURN_IF_ERROR(backend_->Deregister(kLetterSlot));
  BRIGADE_RETURN_IF_ERROR(backend_->Deregister(kWordSlot));
  return backend_->End();
}

Status CheckedBackend::Register(int slot, void* memory, size_t bytes) {
  const Word* words;
  BRIGADE_RETURN_IF_ERROR(Meet(Call::kRegister, Bit(slot), static_cast<int64_t>(bytes), &words));
  for (size_t p = 0; p < registered_.size(); ++p) registered_[p].push_back(words[p].number);
  memory_[slot] = static_cast<std::byte*>(memory);
  return backend_->Register(slot, memory, bytes);
}

Status CheckedBackend::Init(int slot) {
  BRIGADE_RETURN_IF_ERROR(Meet(Call::kInit, Bit(slot)));
  return backend_->Init(slot);
}

Status CheckedBackend::Commit() {
  BRIGADE_RETURN_IF_ERROR(Meet(Call::kCommit));
  // Lengths may differ by process, so this is no more than suspicious.
  for (size_t p = 1; process() == 0 && p < registered_.size(); ++p) {
    const std::vector<int64_t>& theirs = registered_[p];
    if (theirs == registered_[0] ||
        !std::is_permutation(theirs.begin(), theirs.end(), registered_[0].begin())) {
      continue;
    }
    std::fprintf(stderr,
                 "brigade: LICOMMIT: process %zu has registered memory regions of the same lengths "
                 "as process 0, in another order; all must call LIREGISTER in the same order\n",
                 p);
    break;
  }
  for (std::vector<int64_t>& lengths : registered_) lengths.clear();
  return backend_->Commit();
}

Status CheckedBackend::Deregister(int slot) {
  BRIGADE_RETURN_IF_ERROR(Meet(Call::kDeregister, Bit(slot)));
  memory_[slot] = nullptr;
  return backend_->Deregister(slot);
}

void CheckedBackend::Note(int slot, int process, const void* local, size_t offset, size_t bytes,
                          bool is_put) {
  ++number_;
  if (bytes == 0) return;
  const auto here = reinterpret_cast<uintptr_t>(local);
  accesses_.push_back({here, here + bytes, !is_put, is_put, this->process(), number_});
  asked_[static_cast<size_t>(process)].push_back({slot, offset, bytes, is_put, number_});
  if (is_put) {
    sources_.push_back({slot, process, local, bytes, DigestOf(local, bytes), number_});
  }
}

Status CheckedBackend::Put(int slot, int process, const void* source, size_t offset, size_t bytes) {
  Note(slot, process, source, offset, bytes, /*is_put=*/true);
  return backend_->Put(slot, process, source, offset, bytes);
}

Status CheckedBackend::Get(int slot, int process, size_t offset, void* result, size_t bytes) {
  Note(slot, process, result, offset, bytes, /*is_put=*/false);
  return backend_->Get(slot, process, offset, result, bytes);
}

Status CheckedBackend::Sync(const std::vector<int>& slots) {
  uint64_t bits = 0;
  for (const int slot : slots) bits |= Bit(slot);
  for (const Source& source : sources_) {
    if ((bits & Bit(source.slot)) == 0 || DigestOf(source.data, source.bytes) == source.digest) {
      continue;
    }
    return Invalid("the source of a LIPUT to process " + std::to_string(source.process) +
                   ", operation " + std::to_string(source.number) + ", of " +
                   std::to_string(source.bytes) + " bytes, has changed before LISYNC");
  }
  sources_.erase(
      std::remove_if(sources_.begin(), sources_.end(),
                     [&](const Source& source) { return (bits & Bit(source.slot)) != 0; }),
      sources_.end());
  BRIGADE_RETURN_IF_ERROR(Meet(Call::kSync, bits));
  return backend_->Sync(slots);
}

Status CheckedBackend::Collect(const Word* words) {
  const Word* const last = std::max_element(
      words, words + processes(), [](const Word& a, const Word& b) { return a.number < b.number; });
  const auto most = static_cast<size_t>(last->number);
  for (size_t done = 0; done < most; done += kRecords) {
    std::vector<Letter> mine(asked_.size());
    for (size_t p = 0; p < asked_.size(); ++p) {
      const size_t begin = std::min(asked_[p].size(), done);
      std::copy_n(asked_[p].data() + begin, std::min(asked_[p].size() - begin, kRecords),
                  mine[p].records);
    }
    const Letter* letters;
    BRIGADE_RETURN_IF_ERROR(Exchange(kLetterSlot, &letters_, mine, &letters));
    for (int p = 0; p < processes(); ++p) {
      for (const Record& record : letters[p].records) {
        if (record.bytes == 0) break;
        const uintptr_t begin = reinterpret_cast<uintptr_t>(memory_[record.slot]) + record.offset;
        const bool is_put = record.is_put != 0;
        accesses_.push_back({begin, begin + record.bytes, is_put, is_put, p, record.number});
      }
    }
  }
  return Status();
}

std::string CheckedBackend::Describe(const Access& access) const {
  std::ostringstream text;
  text << (access.is_put ? "a LIPUT" : "a LIGET") << " of process " << access.process
       << ", operation " << access.number << (access.writes ? ", writes " : ", reads ")
       << access.end - access.begin << " bytes at " << reinterpret_cast<const void*>(access.begin);
  for (int slot = 0; slot < kProgramSlots; ++slot) {
    const auto memory = reinterpret_cast<uintptr_t>(memory_[slot]);
    if (memory_[slot] != nullptr && access.begin >= memory &&
        access.begin < memory + BytesOf(slot, process())) {
      text << " (offset " << access.begin - memory << " of what is registered)";
    }
  }
  return text.str();
}

Status CheckedBackend::Barrier() {
  const auto longest =
      std::max_element(asked_.begin(), asked_.end(),
                       [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const Word* words;
  BRIGADE_RETURN_IF_ERROR(Meet(Call::kBarrier, 0, static_cast<int64_t>(longest->size()), &words));
  BRIGADE_RETURN_IF_ERROR(Collect(words));
  if (const auto found = FindConflict(accesses_)) {
    return Invalid("operations touch the same bytes here in one superstep: " +
                   Describe(found->first) + "; " + Describe(found->second));
  }
  number_ = 0;
  for (std::vector<Record>& records : asked_) records.clear();
  accesses_.clear();
  return backend_->Barrier();
}

void CheckedBackend::Abort(const std::string& text) {
  backend_->Abort(text);
  std::abort();  // of a virtual function compilers do not believe it
}

}  // namespace li
}  // namespace brigade
