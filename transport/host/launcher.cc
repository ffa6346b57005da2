#include "transport/host/launcher.h"

#include <cstdlib>
#include <initializer_list>

namespace brigade {
namespace {

// The number that the first of `names` has that is set; -1 if none is, or if that is no number.
int NumberOf(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const char* const text = std::getenv(name);
    if (text == nullptr) continue;
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    return end != text && *end == '\0' && number >= 0 ? static_cast<int>(number) : -1;
  }
  return -1;
}

// srun lists the tasks of the step on each node: "4(x2),3" is 4, 4 and 3.
int TasksOfNode(const char* text, int node) {
  for (;;) {
    char* end = nullptr;
    const long tasks = std::strtol(text, &end, 10);
    if (end == text) return -1;
    long nodes = 1;
    if (end[0] == '(' && end[1] == 'x') {
      nodes = std::strtol(end + 2, &end, 10);
      if (*end == ')') ++end;
    }
    if (node < nodes) return static_cast<int>(tasks);
    node -= static_cast<int>(nodes);
    if (*end != ',') return -1;
    text = end + 1;
  }
}

}  // namespace

int JobRanks() {
  // The batch script of Slurm is a step of one task.
  const int ranks = NumberOf({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
  return ranks > 1 ? ranks : 0;
}

int JobRank() {
  if (JobRanks() == 0) return -1;
  return NumberOf({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"});
}

int LocalRanks() {
  int ranks = NumberOf({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"});
  const char* const tasks = std::getenv("SLURM_STEP_TASKS_PER_NODE");
  const int node = NumberOf({"SLURM_NODEID"});
  if (ranks < 0 && tasks != nullptr && node >= 0) ranks = TasksOfNode(tasks, node);
  return ranks < 1 ? 1 : ranks;
}

int LocalRank() {
  return NumberOf(
      {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "SLURM_LOCALID"});
}

std::string WrongLauncher(int ranks) {
  const int said = LocalRanks();
  if (ranks > 1 || said == 1) return "";
  return "the launcher has started " + std::to_string(said) +
         " processes of the job on this host, and in MPI this process is alone; so each is a job "
         "of "
         "its own: mpirun is of another MPI than the program, or srun needs another --mpi";
}

}  // namespace brigade
