#include "tools/program_libraries.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <sstream>

#include "tools/elf_names.h"

extern "C" char** environ;

namespace brigade {
namespace {

// The library of one of its symbols determines the functions that a program will call.
struct Interface {
  const char* name;
  std::array<const char*, 2> symbols;  // for programs of Fortran and of C
  const char* library;                 // libbrigade_LIBRARY.so has it; null: none of ours
  bool can_be_linked = true;           // else it is for preloading alone
};
constexpr Interface kInterfaces[] = {
    {"BLACS", {"blacs_gridinit_", "Cblacs_gridinit"}, "blacs"},
    {"products (PBLAS)", {"pdgemm_", "pdgemm_"}, "pblas"},
    {"one-sided calls", {"MPI_Win_create", "PMPI_Win_create"}, "rma", /*can_be_linked=*/false},
    {"MPI", {"MPI_Get_library_version", "PMPI_Get_library_version"}, nullptr}};
// The symbols by which transport/family distinguishes MPIs.
constexpr char kOpenMpi[] = "ompi_mpi_finalize";
constexpr char kMpich[] = "MPIR_Dup_fn";

struct File {
  std::string path;
  ElfNames names;
};

std::set<std::string> Wanted() {
  std::set<std::string> wanted = {kOpenMpi, kMpich};
  for (const Interface& interface : kInterfaces) {
    wanted.insert(interface.symbols.begin(), interface.symbols.end());
  }
  return wanted;
}

bool Has(const std::set<std::string>& names, const Interface& interface) {
  return names.count(interface.symbols[0]) > 0 || names.count(interface.symbols[1]) > 0;
}

bool IsOurs(const std::string& path) {
  return path.compare(path.find_last_of('/') + 1, 10, "libbrigade") == 0;
}

// Lists the libraries of `program` as the dynamic loader prints them. Runs neither the program nor
// its libraries.
Status ListLibraries(const std::string& program, std::string* list) {
  Dl_info loader;
  const auto base = getauxval(AT_BASE);
  int ends[2];
  if (base == 0 || dladdr(reinterpret_cast<void*>(base), &loader) == 0 ||
      pipe2(ends, O_CLOEXEC) != 0) {
    return {StatusCode::kUnavailable, "the dynamic loader cannot be run"};
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::array<std::string, 3> words = {
      loader.dli_fname, "--list",
      program.find('/') == std::string::npos ? "./" + program : program};
  std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = -1;
  const int failure =
      posix_spawn(&child, loader.dli_fname, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char part[4096];
  for (ssize_t bytes = 0; (bytes = read(ends[0], part, sizeof(part))) > 0;) {
    list->append(part, static_cast<size_t>(bytes));
  }
  close(ends[0]);
  int status = -1;
  if (failure == 0 && waitpid(child, &status, 0) == child && status == 0) return Status();
  return {StatusCode::kInvalidArgument,
          "its libraries cannot be listed: " + list->substr(0, list->find('\n'))};
}

// "NAME => PATH (ADDRESS)" or "PATH (ADDRESS)"; others are not of libraries.
std::vector<std::string> LinesOf(const std::string& list) {
  std::vector<std::string> lines;
  std::istringstream in(list);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind('\t', 0) == 0) lines.push_back(line.substr(1));
  }
  return lines;
}

// `files` in the order in which the loader looks for a function.
std::string Describe(const Interface& interface, const std::vector<File>& files) {
  const File* first = nullptr;
  const File* ours = nullptr;
  for (const File& file : files) {
    if (!Has(file.names.is_program ? file.names.defined : file.names.exported, interface)) continue;
    if (first == nullptr) first = &file;
    if (ours == nullptr && IsOurs(file.path)) ours = &file;
  }
  if (first == nullptr) return "none";
  if (first->names.is_program) return "inside the program; no library takes its place";
  if (interface.library == nullptr) {
    return first->path + (first->names.exported.count(kOpenMpi) > 0 ? ", Open MPI"
                          : first->names.exported.count(kMpich) > 0 ? ", MPICH"
                                                                    : "");
  }
  if (first == ours) return first->path + ", Brigade";
  const std::string name = std::string("brigade_") + interface.library;
  std::string text = first->path + ", not Brigade: ";
  if (ours != nullptr) text += ours->path + " comes later and is not called; ";
  if (interface.can_be_linked) text += "link -l" + name + " before it, or ";
  return text + "preload lib" + name + ".so";
}

}  // namespace

Status DescribeProgram(const std::string& program,
                       std::vector<std::pair<std::string, std::string>>* lines) {
  const std::set<std::string> wanted = Wanted();
  File itself;
  itself.path = program;
  BRIGADE_RETURN_IF_ERROR(ReadElfNames(program, wanted, &itself.names));
  std::vector<File> files;
  // A library that is opened comes after what its program has loaded.
  if (itself.names.is_program) files.push_back(itself);
  if (itself.names.needs_libraries) {
    std::string list;
    BRIGADE_RETURN_IF_ERROR(ListLibraries(program, &list));
    for (const std::string& line : LinesOf(list)) {
      const size_t arrow = line.find(" => ");
      const std::string found = arrow == std::string::npos ? line : line.substr(arrow + 4);
      const size_t address = found.rfind(" (0x");
      File file;
      file.path = found.substr(0, address);
      // The kernel's own library is no file.
      if (!ReadElfNames(file.path, wanted, &file.names).ok()) continue;
      file.names.is_program = false;  // even if it can be started, as the C library can
      files.push_back(file);
    }
  }
  if (!itself.names.is_program) files.push_back(itself);
  for (const Interface& interface : kInterfaces) {
    lines->emplace_back(interface.name, Describe(interface, files));
  }
  return Status();
}

}  // namespace brigade
