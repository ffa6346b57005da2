#include "blacs_shim/statistics.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

#include "transport/mpi/mpi_bootstrap.h"

namespace brigade {
namespace blacs {
namespace {

constexpr const char* kVerbNames[kVerbs] = {"gesd2d", "trsd2d", "gerv2d", "trrv2d",
                                            "gebs2d", "trbs2d", "gebr2d", "trbr2d",
                                            "gsum2d", "gamx2d", "gamn2d", "blacs_barrier"};

// A column per letter that BLACS knows.
constexpr char kLetters[] = " 123456789DFHIMST";
constexpr int kLetterColumns = sizeof(kLetters) - 1;

// X-macro order of the types; kBarrier uses the first column.
constexpr char kTypeLetters[] = {
#define BRIGADE_TYPE_LETTER(letter, ctype, type) #letter[0],
    BRIGADE_BLACS_FOR_EACH_TYPE(BRIGADE_TYPE_LETTER)
#undef BRIGADE_TYPE_LETTER
};
constexpr ElementType kTypes[] = {
#define BRIGADE_TYPE(letter, ctype, type) ElementType::type,
    BRIGADE_BLACS_FOR_EACH_TYPE(BRIGADE_TYPE)
#undef BRIGADE_TYPE
};
constexpr int kTypeColumns = sizeof(kTypeLetters);

size_t Index(int verb, int type, int letter) {
  return (static_cast<size_t>(verb) * kTypeColumns + type) * kLetterColumns + letter;
}

Status ReduceAtZero(uint64_t* values, size_t count, MPI_Op op, MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  MPI_Request request;
  MPI_Ireduce(rank == 0 ? MPI_IN_PLACE : values, values, static_cast<int>(count), MPI_UINT64_T, op,
              0, communicator, &request);
  return MpiPoll(&request, "MPI_Ireduce");
}

}  // namespace

Statistics::Statistics() : counters_(Index(kVerbs, 0, 0)) {}

void Statistics::Add(const Routine& routine, char letter, uint64_t bytes, uint64_t elapsed_ns,
                     uint64_t wait_ns) {
  const int verb = static_cast<int>(routine.verb);
  const int type =
      static_cast<int>(std::find(kTypes, kTypes + kTypeColumns - 1, routine.type) - kTypes);
  const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  const char* column = std::strchr(kLetters, upper);  // callers pass letters already accepted
  Counters& counters = counters_[Index(verb, type, static_cast<int>(column - kLetters))];
  counters.calls += 1;
  counters.bytes += bytes;
  counters.elapsed_ns += elapsed_ns;
  counters.wait_ns += wait_ns;
}

void Statistics::SetMemory(const StagingStatistics& staging, const OverflowStatistics& overflow) {
  staging_high_water_bytes_ = staging.high_water_bytes;
  overflow_high_water_bytes_ = overflow.high_water_bytes;
  overflow_blocks_ = overflow.blocks;
}

Status Statistics::SumOver(MPI_Comm communicator) {
  static_assert(sizeof(Counters) == 4 * sizeof(uint64_t), "counters travel as plain numbers");
  BRIGADE_RETURN_IF_ERROR(
      ReduceAtZero(&counters_[0].calls, counters_.size() * 4, MPI_SUM, communicator));
  BRIGADE_RETURN_IF_ERROR(ReduceAtZero(&overflow_blocks_, 1, MPI_SUM, communicator));
  BRIGADE_RETURN_IF_ERROR(ReduceAtZero(&staging_high_water_bytes_, 1, MPI_MAX, communicator));
  return ReduceAtZero(&overflow_high_water_bytes_, 1, MPI_MAX, communicator);
}

std::string Statistics::ToString(const std::string& whose) const {
  char line[160];
  std::string text = "brigade statistics " + whose + "\n";
  std::snprintf(line, sizeof(line), "brigade %-14s %3s %12s %16s %12s %12s\n", "routine", "top",
                "calls", "bytes", "time s", "waiting s");
  text += line;
  for (int verb = 0; verb < kVerbs; ++verb) {
    for (int type = 0; type < kTypeColumns; ++type) {
      for (int letter = 0; letter < kLetterColumns; ++letter) {
        const Counters& counters = counters_[Index(verb, type, letter)];
        if (counters.calls == 0) continue;
        const bool barrier = verb == static_cast<int>(Verb::kBarrier);
        const std::string name =
            (barrier ? std::string() : std::string(1, kTypeLetters[type])) + kVerbNames[verb];
        std::snprintf(line, sizeof(line), "brigade %-14s '%c' %12llu %16llu %12.6f %12.6f\n",
                      name.c_str(), kLetters[letter],
                      static_cast<unsigned long long>(counters.calls),
                      static_cast<unsigned long long>(counters.bytes), counters.elapsed_ns * 1e-9,
                      counters.wait_ns * 1e-9);
        text += line;
      }
    }
  }
  std::snprintf(line, sizeof(line),
                "brigade staging high water %llu bytes, overflow high water %llu bytes in %llu "
                "blocks\n",
                static_cast<unsigned long long>(staging_high_water_bytes_),
                static_cast<unsigned long long>(overflow_high_water_bytes_),
                static_cast<unsigned long long>(overflow_blocks_));
  return text + line;
}

}  // namespace blacs
}  // namespace brigade
