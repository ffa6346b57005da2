// BlacsLibrary: one implementation of the BLACS, loaded at run time beside others.
//
// The library is opened with RTLD_LOCAL, so two implementations (and the ScaLAPACK one of them may
// be part of) never see each other's symbols. They share the MPI library and nothing else.

#ifndef BRIGADE_TEST_BLACS_BLACS_LIBRARY_H_
#define BRIGADE_TEST_BLACS_BLACS_LIBRARY_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "membuf/check.h"
#include "membuf/status.h"

namespace brigade {

// Selects one of the two public names of a routine.
enum class Entry { kC, kFortran };

class BlacsLibrary {
 public:
  // Loads the file at `path` and finds all 156 public symbols in it. Fails with kUnavailable,
  // naming the file that does not load or the symbols that are missing. The library stays loaded
  // for ever: MPI may hold pointers into it.
  Status Load(const std::string& path);

  // Calls `routine`, named without decoration ("dgesd2d", "blacs_get"), through one of its entry
  // points. Arguments are those of the C form: int by value, pointers, and std::string_view for the
  // character arguments (which need not be NUL-terminated). The Fortran form gets the address of
  // every integer and the lengths of the strings after the last argument.
  template <typename R = void, typename... Args>
  R Call(Entry entry, const std::string& routine, Args... args) const {
    auto found = routines_.find(routine);
    BRIGADE_CHECK(found != routines_.end());
    if (entry == Entry::kC) {
      return reinterpret_cast<R (*)(decltype(ByValue(args))...)>(found->second.c)(ByValue(args)...);
    }
    // No routine has more than four strings. Trailing arguments a callee does not have are harmless
    // in a calling convention where the caller cleans up.
    std::array<size_t, 4> lengths = {};
    size_t strings = 0;
    (AppendLength(args, &lengths, &strings), ...);
    return reinterpret_cast<R (*)(decltype(ByReference(args))..., size_t, size_t, size_t, size_t)>(
        found->second.fortran)(ByReference(args)..., lengths[0], lengths[1], lengths[2],
                               lengths[3]);
  }

 private:
  struct Symbols {
    void* c = nullptr;
    void* fortran = nullptr;
  };

  template <typename T>
  static T ByValue(const T& argument) {
    return argument;
  }
  static const char* ByValue(std::string_view argument) { return argument.data(); }

  static int* ByReference(int& argument) { return &argument; }
  template <typename T>
  static T* ByReference(T* argument) {
    return argument;
  }
  static const char* ByReference(std::string_view argument) { return argument.data(); }

  template <typename T>
  static void AppendLength(const T&, std::array<size_t, 4>*, size_t*) {}
  static void AppendLength(std::string_view argument, std::array<size_t, 4>* lengths,
                           size_t* strings) {
    (*lengths)[(*strings)++] = argument.size();
  }

  std::unordered_map<std::string, Symbols> routines_;
};

}  // namespace brigade

#endif  // BRIGADE_TEST_BLACS_BLACS_LIBRARY_H_
