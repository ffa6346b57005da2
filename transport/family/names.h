// A library of names, to preload or to link: the first call opens the part for the program's MPI,
// and calls are forwarded to it. Included once, after the definition of BRIGADE_PART, the part's
// name.

#ifndef BRIGADE_TRANSPORT_FAMILY_NAMES_H_
#define BRIGADE_TRANSPORT_FAMILY_NAMES_H_

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "transport/family/part.h"

namespace brigade {
namespace names {

[[noreturn]] inline void GiveUp(const std::string& why) {
  std::fprintf(stderr, "brigade: libbrigade_" BRIGADE_PART ".so: %s\n", why.c_str());
  std::_Exit(EXIT_FAILURE);
}

// dlsym searches from the library of its return address: these calls must not become jumps.

// The function that this library's callers have, which the part may not see.
inline void* FindFirst(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return found;
}

// Returns whether this library has the function.
inline bool IsHere(void* function) {
  static const char here = 0;
  Dl_info of_function;
  Dl_info of_here;
  return dladdr(function, &of_function) != 0 && dladdr(&here, &of_here) != 0 &&
         of_function.dli_fbase == of_here.dli_fbase;
}

// Returns the function behind this library's, for calls that a part forwards. If this library was
// opened with RTLD_LOCAL, there is nothing behind it: returns the globally visible function then.
inline void* FindNext(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) found = FindFirst(name);
  return found != nullptr && IsHere(found) ? nullptr : found;
}

inline void Give(void* part, const char* taker, void* (*find)(const char*)) {
  auto* const take = reinterpret_cast<void (*)(void* (*find)(const char*))>(dlsym(part, taker));
  if (take != nullptr) take(find);
}

inline void* Open() {
  const Part part = OpenPart(BRIGADE_PART);
  if (part.library == nullptr) GiveUp(part.why_not);
  Give(part.library, "brigade_take_find_next", &FindNext);
  Give(part.library, "brigade_take_find_first", &FindFirst);
  return part.library;
}

// Ends the process: the program's MPI lacks a call that the MPI of the build has, or the part does.
[[noreturn]] inline void GiveUpFor(const char* name, void* part) {
  link_map* library = nullptr;
  dlinfo(part, RTLD_DI_LINKMAP, &library);
  GiveUp(std::string("there is no ") + name + " in " + library->l_name +
         ", which is of another release, or was built with an MPI that has none; build Brigade "
         "with the program's MPI, or start the program without this library");
}

// Threads may open the part at the same time: there is no lock, since code that the part loads may
// call this library.
inline void* Find(const char* name) {
  static std::atomic<void*> part{nullptr};
  if (part == nullptr) part = Open();
  void* const function = dlsym(part, name);
  if (function == nullptr) GiveUpFor(name, part);
  return function;
}

}  // namespace names
}  // namespace brigade

// Arguments and results of functions are integers or pointers, whose place in a call does not
// depend on their width: one kind of function forwards all functions with equally many arguments.
#define BRIGADE_ARGUMENTS_0(each)
#define BRIGADE_ARGUMENTS_1(each) each(a)
#define BRIGADE_ARGUMENTS_2(each) BRIGADE_ARGUMENTS_1(each), each(b)
#define BRIGADE_ARGUMENTS_3(each) BRIGADE_ARGUMENTS_2(each), each(c)
#define BRIGADE_ARGUMENTS_4(each) BRIGADE_ARGUMENTS_3(each), each(d)
#define BRIGADE_ARGUMENTS_5(each) BRIGADE_ARGUMENTS_4(each), each(e)
#define BRIGADE_ARGUMENTS_6(each) BRIGADE_ARGUMENTS_5(each), each(f)
#define BRIGADE_ARGUMENTS_7(each) BRIGADE_ARGUMENTS_6(each), each(g)
#define BRIGADE_ARGUMENTS_8(each) BRIGADE_ARGUMENTS_7(each), each(h)
#define BRIGADE_ARGUMENTS_9(each) BRIGADE_ARGUMENTS_8(each), each(i)
#define BRIGADE_ARGUMENTS_10(each) BRIGADE_ARGUMENTS_9(each), each(j)
#define BRIGADE_ARGUMENTS_11(each) BRIGADE_ARGUMENTS_10(each), each(k)
#define BRIGADE_ARGUMENTS_12(each) BRIGADE_ARGUMENTS_11(each), each(l)
#define BRIGADE_ARGUMENTS_13(each) BRIGADE_ARGUMENTS_12(each), each(m)
#define BRIGADE_ARGUMENTS_14(each) BRIGADE_ARGUMENTS_13(each), each(n)
#define BRIGADE_ARGUMENTS_15(each) BRIGADE_ARGUMENTS_14(each), each(o)
#define BRIGADE_ARGUMENTS_16(each) BRIGADE_ARGUMENTS_15(each), each(p)
#define BRIGADE_ARGUMENTS_17(each) BRIGADE_ARGUMENTS_16(each), each(q)
#define BRIGADE_ARGUMENTS_18(each) BRIGADE_ARGUMENTS_17(each), each(r)
#define BRIGADE_ARGUMENTS_19(each) BRIGADE_ARGUMENTS_18(each), each(s)
#define BRIGADE_DECLARED(name) long name
#define BRIGADE_GIVEN(name) name

// Defines a function with `arguments` arguments that returns `result`. Only its first call looks up
// the function.
#define BRIGADE_PASS(result, name, arguments)                                 \
  namespace {                                                                 \
  namespace pass_##name {                                                     \
    using Function = result(BRIGADE_ARGUMENTS_##arguments(BRIGADE_DECLARED)); \
    Function First;                                                           \
    std::atomic<Function*> function{&First};                                  \
    result First(BRIGADE_ARGUMENTS_##arguments(BRIGADE_DECLARED)) {           \
      function = reinterpret_cast<Function*>(::brigade::names::Find(#name));  \
      return function.load()(BRIGADE_ARGUMENTS_##arguments(BRIGADE_GIVEN));   \
    }                                                                         \
  }                                                                           \
  }                                                                           \
  extern "C" result name(BRIGADE_ARGUMENTS_##arguments(BRIGADE_DECLARED)) {   \
    return pass_##name::function.load(std::memory_order_acquire)(             \
        BRIGADE_ARGUMENTS_##arguments(BRIGADE_GIVEN));                        \
  }

#endif  // BRIGADE_TRANSPORT_FAMILY_NAMES_H_
