#include "transport/family/part.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <linux/membarrier.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace brigade {
namespace {

struct Family {
  const char* name;
  const char* in_files;
  const char* symbol;  // a function that its MPIs export, and no other's
  const char* files[2];
  const char* launched[3];  // variables that its launchers set, as in transport/host/launcher
};
constexpr Family kFamilies[] = {{"Open MPI",
                                 "openmpi",
                                 "ompi_mpi_finalize",
                                 {"libmpi.so.40", nullptr},
                                 {"OMPI_COMM_WORLD_SIZE", nullptr, nullptr}},
                                {"MPICH",
                                 "mpich",
                                 "MPIR_Dup_fn",
                                 {"libmpich.so.12", "libmpi.so.12"},
                                 {"MPI_LOCALNRANKS", "PALS_LOCAL_SIZE", "PMI_SIZE"}}};

// Doorbells and fences between threads need a registration with the kernel. It takes microseconds
// while a process has one thread, as where this library is loaded with the program, and over 10 ms
// once an MPI has started others. Users of a fence register again, which costs nothing then.
bool RegisterForFences() {
  struct stat threads;
  constexpr nlink_t kLinksOfOne = 3;  // ".", ".." and the thread's folder
  if (stat("/proc/self/task", &threads) != 0 || threads.st_nlink != kLinksOfOne) return false;
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  return true;
}
[[maybe_unused]] const bool kIsRegisteredForFences = RegisterForFences();

// Of the MPI in `library`, or in what it needs; null: there is none. `symbol`: where its own is.
const Family* FamilyOf(void* library, void** symbol) {
  for (const Family& family : kFamilies) {
    *symbol = dlsym(library, family.symbol);
    if (*symbol != nullptr) return &family;
  }
  return nullptr;
}

// All see the library that has this symbol, from here on: a part names no MPI, and does not see
// what its opener alone sees.
void Show(void* symbol) {
  Dl_info file;
  if (dladdr(symbol, &file) != 0) dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

// If two MPIs are loaded: the one that calls reach, by a name that tools do not replace.
const Family* FamilyOfCalls() {
  void* symbol = nullptr;
  void* const call = dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
  if (call == nullptr) return nullptr;
  Dl_info file;
  dladdr(call, &file);
  void* const library = dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  // A program that has its MPI inside is no library.
  const Family* const family = FamilyOf(library == nullptr ? RTLD_DEFAULT : library, &symbol);
  if (family != nullptr) Show(symbol);
  if (library != nullptr) dlclose(library);
  return family;
}

// One that is loaded and that not all see; now they do.
const Family* FamilyShown() {
  std::vector<std::string> loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* names) {
        static_cast<std::vector<std::string>*>(names)->emplace_back(object->dlpi_name);
        return 0;
      },
      &loaded);
  for (const std::string& name : loaded) {
    void* const library = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* symbol = nullptr;
    const Family* const family = FamilyOf(library, &symbol);
    if (family != nullptr) Show(symbol);
    dlclose(library);
    if (family != nullptr) return family;
  }
  return nullptr;
}

// The folder of the library that this is in, behind links; wherever the process is by now.
std::string OwnFolder() {
  Dl_info self;
  link_map* library = nullptr;
  dladdr1(&kFamilies, &self, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP);
  char folder[PATH_MAX] = "";
  dlinfo(library, RTLD_DI_ORIGIN, folder);
  const std::string name(library->l_name);
  std::string path = std::string(folder) + "/" + name.substr(name.find_last_of('/') + 1);
  char* const file = realpath(path.c_str(), nullptr);
  if (file != nullptr) path = file;
  std::free(file);
  return path.substr(0, path.find_last_of('/') + 1);
}

std::string PathOf(const Family& family, const char* name) {
  return OwnFolder() + "libbrigade_" + name + "_" + family.in_files + ".so.1";
}

bool IsThere(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

bool HasLaunched(const Family& family) {
  for (const char* variable : family.launched) {
    if (variable != nullptr && std::getenv(variable) != nullptr) return true;
  }
  return false;
}

// A program that makes no call of MPI itself may have none: linkers leave out what is not used. It
// gets the one for which this library has a part; of two, the one whose launcher has started the
// program. `why_not` gets what to do if there is none.
const Family* FamilyOpened(const char* name, std::string* why_not) {
  constexpr char kLink[] = "link the program with -Wl,--no-as-needed before its MPI";
  std::vector<const Family*> served;
  for (const Family& family : kFamilies) {
    if (IsThere(PathOf(family, name))) served.push_back(&family);
  }
  if (served.empty()) return nullptr;
  const Family* chosen = served.front();
  if (served.size() > 1) {
    const auto launched = std::find_if(served.begin(), served.end(),
                                       [](const Family* family) { return HasLaunched(*family); });
    if (launched == served.end()) {
      *why_not +=
          ", and the environment has no variables of a launcher of either: start the "
          "program with mpirun, or ";
      *why_not += kLink;
      return nullptr;
    }
    chosen = *launched;
  }
  for (const char* file : chosen->files) {
    if (file == nullptr) continue;
    if (dlopen(file, RTLD_NOW | RTLD_GLOBAL) != nullptr) return chosen;
    *why_not += std::string("; ") + dlerror();
  }
  *why_not += std::string("; ") + kLink + ", or add the folder of its MPI to LD_LIBRARY_PATH";
  return nullptr;
}

const Family* FamilyLoaded() {
  const Family* const family = FamilyOfCalls();
  return family != nullptr ? family : FamilyShown();
}

}  // namespace

Part OpenPart(const char* name) {
  Part part;
  const Family* family = FamilyLoaded();
  part.why_not = "the program has neither Open MPI nor MPICH loaded";
  if (family == nullptr) family = FamilyOpened(name, &part.why_not);
  if (family == nullptr) return part;
  const std::string path = PathOf(*family, name);
  if (!IsThere(path)) {
    part.why_not = std::string("this library was not built for ") + family->name +
                   ", which the program uses: there is no " + path +
                   "; start it without this library, or install what is missing";
    return part;
  }
  part.library = dlopen(path.c_str(), RTLD_NOW);
  part.why_not = part.library == nullptr ? dlerror() : "";
  return part;
}

bool MpiRuns() {
  if (FamilyLoaded() == nullptr) return false;
  // Alike in all MPIs.
  const auto says = [](const char* name) {
    auto* const asks = reinterpret_cast<int (*)(int* flag)>(dlsym(RTLD_DEFAULT, name));
    int flag = 0;
    return asks != nullptr && asks(&flag) == 0 && flag != 0;
  };
  return says("PMPI_Initialized") && !says("PMPI_Finalized");
}

void* OpenMpiPart() {
  const Family* const family = FamilyLoaded();
  if (family == nullptr) return nullptr;
  const std::string path = PathOf(*family, "mpi");
  // Found by its SONAME, wherever it lies.
  const std::string file = path.substr(path.find_last_of('/') + 1);
  void* const opened = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  return opened != nullptr ? opened : dlopen(path.c_str(), RTLD_NOW);
}

}  // namespace brigade
