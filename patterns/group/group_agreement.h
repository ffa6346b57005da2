// Group agreement: the settings that must be equal on all members of a group. How long segments are
// follows from them and from the transport that the group gets.

#ifndef BRIGADE_PATTERNS_GROUP_GROUP_AGREEMENT_H_
#define BRIGADE_PATTERNS_GROUP_GROUP_AGREEMENT_H_

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "membuf/status.h"
#include "patterns/engine/engine_options.h"
#include "transport/bootstrap.h"

namespace brigade {

struct AgreedSettings {
  AgreedSettings(const EngineOptions& options, const std::string& transport_name, int rows,
                 int cols);

  // Compared as bytes.
  struct Numbers {
    uint64_t format = 9;  // of what is on the wire; a change of WireHeader is a new one
    uint64_t chunk_bytes = 0;
    uint64_t staging_bytes = 0;
    uint64_t rows = 0;
    uint64_t cols = 0;
    uint64_t calibrate = 0;
    uint64_t topology_is_hint = 0;
    uint64_t transport_length = 0;
    std::array<char, 24> transport_begin = {};  // mostly all of it, and no second look is needed
  };
  Numbers numbers;
  std::string transport;
};
static_assert(std::has_unique_object_representations_v<AgreedSettings::Numbers>);

// Collective over the members of `bootstrap`. kMismatch, the same on all of them, if their settings
// differ: it names the first setting that does, rank 0's and the first other rank's values.
Status CheckAgreement(Bootstrap* bootstrap, const AgreedSettings& mine);

// Collective over the members of `bootstrap`: OK if `mine` is on all of them. Otherwise a failure
// on all: one's own, or that of the first rank that has one, which it names.
Status AgreeOnOutcome(Bootstrap* bootstrap, const Status& mine);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_GROUP_AGREEMENT_H_
