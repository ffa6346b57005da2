#include "patterns/group/group_agreement.h"

#include <algorithm>

namespace brigade {

AgreedSettings::AgreedSettings(const EngineOptions& options, const std::string& transport_name,
                               int rows, int cols)
    : transport(transport_name) {
  numbers.chunk_bytes = options.chunk_bytes;
  numbers.staging_bytes = options.staging_bytes;
  numbers.rows = static_cast<uint64_t>(rows);
  numbers.cols = static_cast<uint64_t>(cols);
  numbers.calibrate = static_cast<uint64_t>(options.calibrate);
  numbers.topology_is_hint = options.topology_is_hint;
  numbers.transport_length = transport.size();
  transport.copy(numbers.transport_begin.data(), numbers.transport_begin.size());
}

Status CheckAgreement(Bootstrap* bootstrap, const AgreedSettings& mine) {
  using Numbers = AgreedSettings::Numbers;
  Numbers first;
  Numbers other;
  int rank = -1;
  BRIGADE_RETURN_IF_ERROR(
      bootstrap->FindDifference(&mine.numbers, sizeof(Numbers), &rank, &first, &other));
  const auto differ = [&](const std::string& what, const std::string& zeros,
                          const std::string& theirs) {
    return Status(StatusCode::kMismatch, "the ranks of a group differ in " + what +
                                             ": rank 0 has " + zeros + ", rank " +
                                             std::to_string(rank) + " has " + theirs);
  };
  const bool begins_differ =
      first.format == other.format && (first.transport_length != other.transport_length ||
                                       first.transport_begin != other.transport_begin);
  // All ranks compare the whole names, or none does.
  if (rank < 0 ? first.transport_length > first.transport_begin.size() : begins_differ) {
    std::string name = mine.transport;
    name.resize(std::max(first.transport_length, other.transport_length));
    std::string zeros(name.size(), 0);
    std::string theirs = zeros;
    BRIGADE_RETURN_IF_ERROR(
        bootstrap->FindDifference(name.data(), name.size(), &rank, zeros.data(), theirs.data()));
    if (rank >= 0) {
      return differ("the transport (BRIGADE_TRANSPORT)", zeros.c_str(), theirs.c_str());
    }
  }
  if (rank < 0) return Status();
  // In the order of EngineOptions::Calibrate.
  constexpr const char* kCalibrate[] = {"0", "1", "always"};
  constexpr const char* kTopology[] = {"strict", "hint"};
  const struct {
    const char* what;
    uint64_t Numbers::*number;
    const char* const* values;  // null: it is a number
  } named[] = {
      {"the wire format (start all ranks with one version of Brigade)", &Numbers::format, nullptr},
      {"chunk bytes (BRIGADE_CHUNK_BYTES)", &Numbers::chunk_bytes, nullptr},
      {"staging bytes (BRIGADE_STAGING_BYTES)", &Numbers::staging_bytes, nullptr},
      {"rows", &Numbers::rows, nullptr},
      {"columns", &Numbers::cols, nullptr},
      {"calibration (BRIGADE_CALIBRATE)", &Numbers::calibrate, kCalibrate},
      {"topologies (BRIGADE_TOPOLOGY)", &Numbers::topology_is_hint, kTopology}};
  const auto* one = named;
  while (first.*one->number == other.*one->number) ++one;
  const auto value = [&](const Numbers& numbers) {
    const uint64_t number = numbers.*one->number;
    return one->values == nullptr ? std::to_string(number) : std::string(one->values[number]);
  };
  return differ(one->what, value(first), value(other));
}

Status AgreeOnOutcome(Bootstrap* bootstrap, const Status& mine) {
  Status verdict;
  const Status gathered = GatherOutcome(bootstrap, mine, &verdict);
  BRIGADE_RETURN_IF_ERROR(mine);
  BRIGADE_RETURN_IF_ERROR(gathered);
  return verdict;
}

}  // namespace brigade
