#include "patterns/group/group_agreement.h"

#include <cstring>
#include <utility>

namespace brigade {

AgreedSettings::AgreedSettings(const EngineOptions& options, const std::string& transport_name,
                               int group_rows, int group_cols)
    : chunk_bytes(options.chunk_bytes),
      staging_bytes(options.staging_bytes),
      rows(static_cast<uint64_t>(group_rows)),
      cols(static_cast<uint64_t>(group_cols)),
      calibrate(static_cast<uint64_t>(options.calibrate)),
      topology_is_hint(options.topology_is_hint) {
  transport_name.copy(transport, sizeof(transport) - 1);
}

Status CheckAgreement(Bootstrap* bootstrap, const AgreedSettings& mine) {
  AgreedSettings first{};
  AgreedSettings other{};
  int rank = -1;
  BRIGADE_RETURN_IF_ERROR(bootstrap->FindDifference(&mine, sizeof(mine), &rank, &first, &other));
  if (rank < 0) return Status();
  const auto differ = [&](const std::string& what, const std::string& zeros,
                          const std::string& theirs) {
    return Status(StatusCode::kMismatch, "the ranks of a group differ in " + what +
                                             ": rank 0 has " + zeros + ", rank " +
                                             std::to_string(rank) + " has " + theirs);
  };
  if (std::strcmp(first.transport, other.transport) != 0) {
    return differ("the transport", first.transport, other.transport);
  }
  const std::pair<const char*, uint64_t AgreedSettings::*> numbers[] = {
      {"the wire format", &AgreedSettings::format},
      {"chunk bytes", &AgreedSettings::chunk_bytes},
      {"staging bytes", &AgreedSettings::staging_bytes},
      {"rows", &AgreedSettings::rows},
      {"columns", &AgreedSettings::cols},
      {"whether to measure their edges", &AgreedSettings::calibrate},
      {"whether topologies are hints", &AgreedSettings::topology_is_hint}};
  const auto* number = numbers;
  while (first.*number->second == other.*number->second) ++number;
  return differ(number->first, std::to_string(first.*number->second),
                std::to_string(other.*number->second));
}

namespace {

struct Outcome {
  int64_t code = 0;  // StatusCode
  char text[248] = {};
};
static_assert(std::has_unique_object_representations_v<Outcome>, "compared as bytes");

}  // namespace

Status AgreeOnOutcome(Bootstrap* bootstrap, const Status& mine) {
  Outcome say;
  Outcome first;
  Outcome other;
  say.code = static_cast<int64_t>(mine.code());
  mine.message().copy(say.text, sizeof(say.text) - 1);
  int rank = -1;
  const Status told = bootstrap->FindDifference(&say, sizeof(say), &rank, &first, &other);
  BRIGADE_RETURN_IF_ERROR(mine);
  BRIGADE_RETURN_IF_ERROR(told);
  if (first.code != 0) {
    rank = 0;
    other = first;
  }
  if (rank < 0) return Status();
  return Status(static_cast<StatusCode>(other.code),
                "rank " + std::to_string(rank) + " of the group: " + other.text);
}

}  // namespace brigade
