#include "blacs_shim/statistics.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

#include "membuf/version.h"
#include "nlohmann/json.hpp"
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
constexpr Element kTypes[] = {
#define BRIGADE_TYPE(letter, ctype, type) Element::type,
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
  BRIGADE_RETURN_IF_ERROR(
      MpiStatus(MPI_Ireduce(rank == 0 ? MPI_IN_PLACE : values, values, static_cast<int>(count),
                            MPI_UINT64_T, op, 0, communicator, &request),
                "MPI_Ireduce"));
  return MpiPoll(&request, "MPI_Ireduce");
}

int SizeOf(uint64_t bytes, int sizes) {
  const int bits = bytes == 0 ? 0 : 64 - __builtin_clzll(bytes);
  return std::min(bits, sizes - 1);
}

std::string NameOf(int verb, int type) {
  const bool barrier = verb == static_cast<int>(Verb::kBarrier);
  return (barrier ? std::string() : std::string(1, kTypeLetters[type])) + kVerbNames[verb];
}

// Two further columns: seconds that one rank has waited, least and most.
std::string Columns(uint64_t least_ns, uint64_t most_ns) {
  char text[64];
  std::snprintf(text, sizeof(text), " %12.6f %12.6f", least_ns * 1e-9, most_ns * 1e-9);
  return text;
}

}  // namespace

Statistics::Statistics() : sizes_(Index(kVerbs, 0, 0) * kSizes) {
  figures_.counters.resize(Index(kVerbs, 0, 0));
}

void Statistics::Add(const Routine& routine, char letter, uint64_t bytes, uint64_t elapsed_ns,
                     uint64_t wait_ns) {
  const int verb = static_cast<int>(routine.verb);
  // The integer of either width has the letter i.
  const Element in_table = routine.type == Element::kInt64 ? Element::kInt32 : routine.type;
  const int type =
      static_cast<int>(std::find(kTypes, kTypes + kTypeColumns - 1, in_table) - kTypes);
  const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  const char* column = std::strchr(kLetters, upper);  // callers pass letters already accepted
  const size_t index = Index(verb, type, static_cast<int>(column - kLetters));
  Counters& counters = figures_.counters[index];
  counters.calls += 1;
  counters.bytes += bytes;
  counters.elapsed_ns += elapsed_ns;
  counters.wait_ns += wait_ns;
  sizes_[index * kSizes + SizeOf(bytes, kSizes)] += 1;
}

void Statistics::SetMemory(const StagingStatistics& staging, const OverflowStatistics& overflow) {
  figures_.memory = {overflow.blocks, staging.high_water_bytes, overflow.high_water_bytes};
  left_.staging_bytes = staging.in_use_bytes;
  left_.overflow_bytes = overflow.in_use_bytes;
}

void Statistics::SetMpiTime(const MpiTime& time) {
  has_mpi_time_ = true;
  figures_.mpi = time;
}

void Statistics::SetAborted(size_t contexts) {
  is_aborted_ = true;
  left_.contexts = contexts;
}

Status Statistics::Figures::Reduce(MPI_Op op, MPI_Comm communicator) {
  static_assert(sizeof(Counters) == 4 * sizeof(uint64_t), "counters travel as plain numbers");
  static_assert(sizeof(Memory) == 3 * sizeof(uint64_t), "so does this");
  BRIGADE_RETURN_IF_ERROR(ReduceAtZero(&counters[0].calls, counters.size() * 4, op, communicator));
  static_assert(sizeof(MpiTime) == 2 * sizeof(uint64_t), "and this");
  BRIGADE_RETURN_IF_ERROR(ReduceAtZero(&memory.overflow_blocks, 3, op, communicator));
  return ReduceAtZero(&mpi.calls, 2, op, communicator);
}

Status Statistics::SumOver(MPI_Comm communicator) {
  least_ = figures_;
  most_ = figures_;
  BRIGADE_RETURN_IF_ERROR(figures_.Reduce(MPI_SUM, communicator));
  BRIGADE_RETURN_IF_ERROR(least_.Reduce(MPI_MIN, communicator));
  BRIGADE_RETURN_IF_ERROR(most_.Reduce(MPI_MAX, communicator));
  return ReduceAtZero(sizes_.data(), sizes_.size(), MPI_SUM, communicator);
}

std::string Statistics::ToString(const std::string& whose) const {
  char line[160];
  std::string text = "brigade statistics " + whose + "\n";
  const bool summed = !most_.counters.empty();
  std::snprintf(line, sizeof(line), "brigade %-14s %3s %12s %16s %12s %12s%s\n", "routine", "top",
                "calls", "bytes", "time s", "waiting s",
                summed ? "        least         most" : "");
  text += line;
  for (int verb = 0; verb < kVerbs; ++verb) {
    for (int type = 0; type < kTypeColumns; ++type) {
      for (int letter = 0; letter < kLetterColumns; ++letter) {
        const size_t index = Index(verb, type, letter);
        const Counters& counters = figures_.counters[index];
        if (counters.calls == 0) continue;
        std::snprintf(
            line, sizeof(line), "brigade %-14s '%c' %12llu %16llu %12.6f %12.6f%s\n",
            NameOf(verb, type).c_str(), kLetters[letter],
            static_cast<unsigned long long>(counters.calls),
            static_cast<unsigned long long>(counters.bytes), counters.elapsed_ns * 1e-9,
            counters.wait_ns * 1e-9,
            summed ? Columns(least_.counters[index].wait_ns, most_.counters[index].wait_ns).c_str()
                   : "");
        text += line;
      }
    }
  }
  // The highest of any rank.
  const Memory& high = summed ? most_.memory : figures_.memory;
  std::snprintf(line, sizeof(line),
                "brigade staging high water %llu bytes, overflow high water %llu bytes in %llu "
                "blocks\n",
                static_cast<unsigned long long>(high.staging_high_water_bytes),
                static_cast<unsigned long long>(high.overflow_high_water_bytes),
                static_cast<unsigned long long>(figures_.memory.overflow_blocks));
  text += line;
  if (has_mpi_time_) {
    std::snprintf(line, sizeof(line), "brigade inside MPI %.6f s in %llu calls of its own\n",
                  figures_.mpi.ns * 1e-9, static_cast<unsigned long long>(figures_.mpi.calls));
    text += line;
  }
  if (is_aborted_) {
    std::snprintf(line, sizeof(line),
                  "brigade left %llu contexts, %llu bytes of staging memory and %llu of overflow "
                  "memory in use\n",
                  static_cast<unsigned long long>(left_.contexts),
                  static_cast<unsigned long long>(left_.staging_bytes),
                  static_cast<unsigned long long>(left_.overflow_bytes));
    text += line;
  }
  return text;
}

std::string Statistics::ToJson(int rank, int ranks) const {
  using Json = nlohmann::ordered_json;
  const bool summed = rank < 0;
  const auto counted = [](const Counters& counters) -> Json {
    return {{"calls", counters.calls},
            {"bytes", counters.bytes},
            {"seconds", counters.elapsed_ns * 1e-9},
            {"waiting_seconds", counters.wait_ns * 1e-9}};
  };
  const auto remembered = [](const Memory& memory) -> Json {
    return {{"staging_high_water_bytes", memory.staging_high_water_bytes},
            {"overflow_high_water_bytes", memory.overflow_high_water_bytes},
            {"overflow_blocks", memory.overflow_blocks}};
  };
  Json json;
  json["brigade"] = BRIGADE_VERSION;
  json["ranks"] = ranks;
  if (!summed) json["rank"] = rank;
  if (is_aborted_) {
    json["aborted"] = true;
    json["left"] = {{"contexts", left_.contexts},
                    {"staging_bytes", left_.staging_bytes},
                    {"overflow_bytes", left_.overflow_bytes}};
  }
  json["routines"] = Json::array();
  for (size_t index = 0; index < figures_.counters.size(); ++index) {
    if (figures_.counters[index].calls == 0) continue;
    const auto letter = static_cast<int>(index % kLetterColumns);
    const auto type = static_cast<int>(index / kLetterColumns % kTypeColumns);
    const auto verb = static_cast<int>(index / kLetterColumns / kTypeColumns);
    Json row = {{"routine", NameOf(verb, type)}, {"topology", std::string(1, kLetters[letter])}};
    row.update(counted(figures_.counters[index]));
    if (summed) {
      row["least_of_a_rank"] = counted(least_.counters[index]);
      row["most_of_a_rank"] = counted(most_.counters[index]);
    }
    row["sizes"] = Json::array();
    for (int size = 0; size < kSizes; ++size) {
      const uint64_t calls = sizes_[index * kSizes + size];
      if (calls == 0) continue;
      const uint64_t from = size == 0 ? 0 : uint64_t{1} << (size - 1);
      row["sizes"].push_back({{"from_bytes", from}, {"calls", calls}});
    }
    json["routines"].push_back(row);
  }
  if (summed) {
    json["memory"]["least_of_a_rank"] = remembered(least_.memory);
    json["memory"]["most_of_a_rank"] = remembered(most_.memory);
  } else {
    json["memory"] = remembered(figures_.memory);
  }
  if (has_mpi_time_) {
    const auto timed = [](const MpiTime& time) -> Json {
      return {{"calls", time.calls}, {"seconds", time.ns * 1e-9}};
    };
    json["mpi"] = timed(figures_.mpi);
    if (summed) {
      json["mpi"]["least_of_a_rank"] = timed(least_.mpi);
      json["mpi"]["most_of_a_rank"] = timed(most_.mpi);
    }
  }
  return json.dump(2) + "\n";
}

}  // namespace blacs
}  // namespace brigade
