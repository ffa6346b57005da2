#include "bsp_shim/superstep.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "bsp_shim/rules.h"

namespace brigade {
namespace bsp {
namespace {

static_assert(rules::kBspFirstPacketBytes >= sizeof(PacketHeader));

// Parts to each other process that leave before one of its own has come: as much as TCP takes in
// without a grant.
constexpr size_t kPartsAhead = 2;

bool HaveCredits(const Group& group) {
  return group.capabilities().tuning.lazy_credit_bytes != SIZE_MAX;
}

// Where there are credits, the most for whose receive buffer a receiver sends none by itself; the
// message has a header, too.
size_t FirstBytes(const Group& group) {
  if (!HaveCredits(group)) return rules::kBspFirstPacketBytes;
  return group.capabilities().tuning.lazy_credit_bytes - sizeof(PacketHeader);
}

// Returns the part of a packet that begins at byte `at`, of `most` bytes at most.
Pairs::Message PartOf(const Packet& packet, size_t at, size_t most) {
  const size_t bytes = packet.header()->bytes;
  if (bytes <= at) return {nullptr, 0};
  return {packet.data() + at, std::min(bytes - at, most)};
}

std::byte* At(const Registrations& registrations, const Record& record) {
  return registrations.at(record.slot).address + record.offset;
}

}  // namespace

Superstep::Superstep(Group* group, size_t direct_bytes)
    : pairs_(group),
      direct_bytes_(direct_bytes),
      in_parts_(HaveCredits(*group)),
      first_bytes_(FirstBytes(*group)) {
  const auto all = static_cast<size_t>(pairs_.processes());
  for (std::vector<Packet>* packets : {&leaving_, &arrived_, &before_}) packets->resize(all);
  for (Pairs::Messages* messages : {&direct_puts_, &direct_gets_}) messages->resize(all);
  for (std::vector<Bytes>* answers : {&answers_, &answered_}) answers->resize(all);
}

void Superstep::Put(const Place& there, const void* source, size_t bytes) {
  leaving(there.process).Add({Record::Kind::kPut, there.slot, there.offset, bytes});
  leaving(there.process).AddData(source, bytes);
}

void Superstep::Get(const Place& there, void* result, size_t bytes) {
  has_asked_ = true;
  leaving(there.process).Add({Record::Kind::kGet, there.slot, there.offset, bytes});
  wanted_.push_back({there.process, static_cast<std::byte*>(result), bytes});
}

void Superstep::DirectPut(const Place& there, const void* source, size_t bytes) {
  if (bytes <= direct_bytes_) return Put(there, source, bytes);
  has_asked_ = true;
  leaving(there.process).Add({Record::Kind::kDirectPut, there.slot, there.offset, bytes});
  // Casts const away: a message also describes gets. A put only reads its source.
  auto* const data = const_cast<std::byte*>(static_cast<const std::byte*>(source));
  direct_puts_[static_cast<size_t>(there.process)].push_back({data, bytes});
}

void Superstep::DirectGet(const Place& there, void* result, size_t bytes) {
  if (bytes <= direct_bytes_) return Get(there, result, bytes);
  has_asked_ = true;
  leaving(there.process).Add({Record::Kind::kDirectGet, there.slot, there.offset, bytes});
  direct_gets_[static_cast<size_t>(there.process)].push_back(
      {static_cast<std::byte*>(result), bytes});
}

void Superstep::Send(int process, const void* tag, size_t tag_bytes, const void* data,
                     size_t bytes) {
  leaving(process).Add({Record::Kind::kMessage, /*slot=*/-1, /*offset=*/0, bytes});
  leaving(process).AddData(tag, tag_bytes);
  leaving(process).AddData(data, bytes);
}

Status Superstep::Meet(const PacketHeader& said, size_t tag_bytes,
                       const Registrations& registrations) {
  tag_bytes_ = tag_bytes;
  std::swap(arrived_, before_);
  const int all = pairs_.processes();
  const auto each = [&](int distance) {
    return static_cast<size_t>((pairs_.process() + distance) % all);
  };
  for (Packet& packet : leaving_) packet.Finish(said, registrations.calls());
  for (size_t part = 0; part < (in_parts_ ? kPartsAhead : 1); ++part) {
    BRIGADE_RETURN_IF_ERROR(SendParts(part * first_bytes_));
  }
  std::swap(leaving_[each(0)], arrived_[each(0)]);
  for (int distance = 1; distance < all; ++distance) {
    const size_t source = each(all - distance);
    Packet& packet = arrived_[source];
    packet.Clear();
    BRIGADE_RETURN_IF_ERROR(
        pairs_.Receive(static_cast<int>(source), {packet.Land(first_bytes_), first_bytes_}));
    packet.Land(std::max<size_t>(packet.header()->bytes, first_bytes_));
  }
  BRIGADE_RETURN_IF_ERROR(in_parts_ ? ExchangeParts() : ExchangeRests());
  for (Packet& packet : leaving_) packet.Clear();
  return Status();
}

Status Superstep::SendParts(size_t at) {
  for (int distance = 1; distance < pairs_.processes(); ++distance) {
    const int target = (pairs_.process() + distance) % pairs_.processes();
    const Pairs::Message part = PartOf(leaving(target), at, first_bytes_);
    if (part.bytes > 0) BRIGADE_RETURN_IF_ERROR(pairs_.Send(target, part));
  }
  return Status();
}

// A part of each packet is received from all before the next one is, so that all links are busy
// until all is done.
Status Superstep::ExchangeParts() {
  const int all = pairs_.processes();
  size_t most = 0;
  for (int p = 0; p < all; ++p) {
    if (p == pairs_.process()) continue;
    most = std::max({most, leaving(p).header()->bytes, arrived(p).header()->bytes});
  }
  for (size_t at = first_bytes_; at < most; at += first_bytes_) {
    BRIGADE_RETURN_IF_ERROR(SendParts(at + (kPartsAhead - 1) * first_bytes_));
    for (int distance = 1; distance < all; ++distance) {
      const int source = (pairs_.process() + all - distance) % all;
      const Pairs::Message part = PartOf(arrived(source), at, first_bytes_);
      if (part.bytes > 0) BRIGADE_RETURN_IF_ERROR(pairs_.Receive(source, part));
    }
  }
  return Status();
}

// In the order of Pairs::Exchange. There is none in most supersteps, and nothing to allocate then.
Status Superstep::ExchangeRests() {
  const int all = pairs_.processes();
  for (int distance = 1; distance < all; ++distance) {
    const int target = (pairs_.process() + distance) % all;
    const int source = (pairs_.process() + all - distance) % all;
    const Pairs::Message sent = PartOf(leaving(target), first_bytes_, SIZE_MAX);
    const Pairs::Message received = PartOf(arrived(source), first_bytes_, SIZE_MAX);
    std::unique_ptr<Operation> sending;
    if (sent.bytes > 0) BRIGADE_RETURN_IF_ERROR(pairs_.StartSend(target, sent, &sending));
    if (received.bytes > 0) BRIGADE_RETURN_IF_ERROR(pairs_.Receive(source, received));
    if (sending != nullptr) BRIGADE_RETURN_IF_ERROR(sending->Wait());
  }
  return Status();
}

std::vector<RegistrationCalls> Superstep::RegistrationCallsOfAll() const {
  std::vector<RegistrationCalls> all;
  for (const Packet& packet : arrived_) {
    all.push_back({packet.registrations(), packet.header()->registrations});
  }
  return all;
}

Status Superstep::ExchangeAnswers(const Registrations& registrations) {
  Pairs::Messages to(arrived_.size());
  Pairs::Messages from(arrived_.size());
  Pairs::Messages direct(arrived_.size());
  for (size_t p = 0; p < arrived_.size(); ++p) {
    answers_[p].Clear();
    answered_[p].Clear();
    if (arrived_[p].header()->asks == 0) continue;
    arrived_[p].ForEach(tag_bytes_, [&](const Record& record, const std::byte*) {
      if (record.kind == Record::Kind::kGet) {
        std::memcpy(answers_[p].Extend(record.bytes), At(registrations, record), record.bytes);
      } else if (record.kind == Record::Kind::kDirectGet) {
        direct[p].push_back({At(registrations, record), record.bytes});
      }
    });
  }
  std::vector<size_t> wanted_of(arrived_.size());
  for (const Wanted& wanted : wanted_)
    wanted_of[static_cast<size_t>(wanted.process)] += wanted.bytes;
  for (size_t p = 0; p < arrived_.size(); ++p) {
    if (is_mine(p)) {
      std::swap(answers_[p], answered_[p]);
      for (size_t i = 0; i < direct[p].size(); ++i) {
        std::memmove(direct_gets_[p][i].data, direct[p][i].data, direct[p][i].bytes);
      }
      continue;
    }
    if (answers_[p].size() > 0) to[p].push_back({answers_[p].data(), answers_[p].size()});
    to[p].insert(to[p].end(), direct[p].begin(), direct[p].end());
    answered_[p].Resize(wanted_of[p]);
    if (wanted_of[p] > 0) from[p].push_back({answered_[p].data(), wanted_of[p]});
    from[p].insert(from[p].end(), direct_gets_[p].begin(), direct_gets_[p].end());
  }
  return pairs_.Exchange(to, from);
}

Status Superstep::DoAsked(const Registrations& registrations) {
  Pairs::Messages from(arrived_.size());
  for (size_t p = 0; p < arrived_.size(); ++p) {
    if (arrived_[p].header()->asks == 0) continue;
    arrived_[p].ForEach(tag_bytes_, [&](const Record& record, const std::byte*) {
      if (record.kind != Record::Kind::kDirectPut) return;
      from[p].push_back({At(registrations, record), record.bytes});
      if (!is_mine(p)) return;
      std::memmove(from[p].back().data, direct_puts_[p][from[p].size() - 1].data, record.bytes);
    });
  }
  BRIGADE_RETURN_IF_ERROR(pairs_.Exchange(direct_puts_, from));
  BRIGADE_RETURN_IF_ERROR(ExchangeAnswers(registrations));

  std::vector<size_t> written(arrived_.size());
  for (const Wanted& wanted : wanted_) {
    const auto p = static_cast<size_t>(wanted.process);
    std::memcpy(wanted.result, answered_[p].data() + written[p], wanted.bytes);
    written[p] += wanted.bytes;
  }
  wanted_.clear();
  for (Pairs::Messages* asked : {&direct_puts_, &direct_gets_}) {
    for (std::vector<Pairs::Message>& of_one : *asked) of_one.clear();
  }
  has_asked_ = false;
  return Status();
}

Status Superstep::Complete(const Registrations& registrations, std::vector<Message>* messages) {
  if (has_asked_ || std::any_of(arrived_.begin(), arrived_.end(),
                                [](const Packet& packet) { return packet.header()->asks > 0; })) {
    BRIGADE_RETURN_IF_ERROR(DoAsked(registrations));
  }
  messages->clear();
  for (const Packet& packet : arrived_) {
    packet.ForEach(tag_bytes_, [&](const Record& record, std::byte* data) {
      if (record.kind == Record::Kind::kPut) {
        std::memcpy(At(registrations, record), data, record.bytes);
      } else if (record.kind == Record::Kind::kMessage) {
        messages->push_back({data, data + Aligned(tag_bytes_), record.bytes});
      }
    });
  }
  return Status();
}

}  // namespace bsp
}  // namespace brigade
