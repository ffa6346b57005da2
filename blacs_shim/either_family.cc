// The BLACS for programs of either family of MPIs. All that it has is the names: at the first call
// it opens the BLACS that was built for the family of the program's MPI, in brigade/<family>/
// beside it, and passes calls on.

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

#ifdef BRIGADE_BLACS_ILP64
constexpr char kLibrary[] = "libbrigade_blacs64.so.0";
#else
constexpr char kLibrary[] = "libbrigade_blacs.so.0";
#endif

struct Family {
  const char* name;
  const char* symbol;  // that its MPIs export, and no other's
};
constexpr Family kFamilies[] = {{"openmpi", "ompi_mpi_comm_world"}, {"mpich", "MPIR_Dup_fn"}};

// Finds the family's symbol behind `library`.
const Family* FamilyOf(void* library, void** symbol) {
  for (const Family& family : kFamilies) {
    *symbol = dlsym(library, family.symbol);
    if (*symbol != nullptr) return &family;
  }
  return nullptr;
}

// The BLACS of ours name no MPI that they need, for vendors' files have names of their own; they
// find what all see.
void ShowToAll(void* symbol) {
  Dl_info mpi;
  dladdr(symbol, &mpi);
  dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

// The family of the MPI that the program's own calls reach; else of one that is loaded but hidden,
// as in Python, which is hidden no longer. Null: there is none.
const Family* FamilyHere() {
  void* symbol = nullptr;
  if (const Family* family = FamilyOf(RTLD_DEFAULT, &symbol)) return family;
  std::vector<std::string> loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* names) {
        static_cast<std::vector<std::string>*>(names)->emplace_back(object->dlpi_name);
        return 0;
      },
      &loaded);
  for (const std::string& name : loaded) {
    void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    const Family* family = FamilyOf(library, &symbol);
    if (family != nullptr) ShowToAll(symbol);
    dlclose(library);
    if (family != nullptr) return family;
  }
  return nullptr;
}

[[noreturn]] void GiveUp(const std::string& why) {
  std::fprintf(stderr, "brigade: %s: %s\n", kLibrary, why.c_str());
  std::_Exit(EXIT_FAILURE);
}

void* Open() {
  const Family* family = FamilyHere();
  if (family == nullptr) GiveUp("the program has neither Open MPI nor MPICH loaded");
  Dl_info self;
  dladdr(&kFamilies, &self);
  const std::string path(self.dli_fname);
  const std::string beside =
      path.substr(0, path.find_last_of('/') + 1) + "brigade/" + family->name + "/" + kLibrary;
  void* library = dlopen(beside.c_str(), RTLD_NOW);
  if (library == nullptr) GiveUp(dlerror());
  return library;
}

void* Find(const char* name) {
  static void* const library = Open();
  void* function = dlsym(library, name);
  if (function == nullptr) GiveUp(dlerror());
  return function;
}

}  // namespace

// No routine has more than twelve arguments, but for lengths of strings that nobody reads. Each is
// an integer or a pointer, which has the same place in a call whatever its width, so one kind of
// function passes all of them on; what the caller did not give is read, and not used.
#define BRIGADE_TWELVE(each)                                                                \
  each(a), each(b), each(c), each(d), each(e), each(f), each(g), each(h), each(i), each(j), \
      each(k), each(l)
#define BRIGADE_DECLARED(name) long name
#define BRIGADE_GIVEN(name) name
#define BRIGADE_PASS(result, name)                                            \
  extern "C" result name(BRIGADE_TWELVE(BRIGADE_DECLARED)) {                  \
    using Function = result (*)(BRIGADE_TWELVE(BRIGADE_DECLARED));            \
    static const Function function = reinterpret_cast<Function>(Find(#name)); \
    return function(BRIGADE_TWELVE(BRIGADE_GIVEN));                           \
  }
#define BRIGADE_BOTH(result, name) \
  BRIGADE_PASS(result, C##name)    \
  BRIGADE_PASS(result, name##_)

#define BRIGADE_OF_TYPE(t)      \
  BRIGADE_BOTH(long, t##gesd2d) \
  BRIGADE_BOTH(long, t##trsd2d) \
  BRIGADE_BOTH(long, t##gerv2d) \
  BRIGADE_BOTH(long, t##trrv2d) \
  BRIGADE_BOTH(long, t##gebs2d) \
  BRIGADE_BOTH(long, t##trbs2d) \
  BRIGADE_BOTH(long, t##gebr2d) \
  BRIGADE_BOTH(long, t##trbr2d) \
  BRIGADE_BOTH(long, t##gsum2d) \
  BRIGADE_BOTH(long, t##gamx2d) \
  BRIGADE_BOTH(long, t##gamn2d)
BRIGADE_OF_TYPE(i)
BRIGADE_OF_TYPE(s)
BRIGADE_OF_TYPE(d)
BRIGADE_OF_TYPE(c)
BRIGADE_OF_TYPE(z)

BRIGADE_BOTH(long, blacs_pinfo)
BRIGADE_BOTH(long, blacs_setup)
BRIGADE_BOTH(long, blacs_get)
BRIGADE_BOTH(long, blacs_set)
BRIGADE_BOTH(long, blacs_gridinit)
BRIGADE_BOTH(long, blacs_gridmap)
BRIGADE_BOTH(long, blacs_gridexit)
BRIGADE_BOTH(long, blacs_gridinfo)
BRIGADE_BOTH(long, blacs_pnum)
BRIGADE_BOTH(long, blacs_pcoord)
BRIGADE_BOTH(long, blacs_barrier)
BRIGADE_BOTH(long, blacs_freebuff)
BRIGADE_BOTH(long, blacs_abort)
BRIGADE_BOTH(long, blacs_exit)
BRIGADE_BOTH(long, sys2blacs_handle)
BRIGADE_BOTH(long, blacs2sys_handle)
BRIGADE_BOTH(long, free_blacs_system_handle)
BRIGADE_BOTH(long, ksendid)
BRIGADE_BOTH(long, krecvid)
BRIGADE_BOTH(long, kbsid)
BRIGADE_BOTH(long, kbrid)
BRIGADE_BOTH(double, dcputime00)
BRIGADE_BOTH(double, dwalltime00)
