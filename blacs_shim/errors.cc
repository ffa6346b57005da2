#include "blacs_shim/errors.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>

#include "transport/mpi/mpi_environment.h"

namespace brigade {
namespace blacs {
namespace {

// One write per message: several ranks share a terminal. Allocates nothing: no memory may be left.
void Print(const char* kind, const Origin& origin, const char* format, va_list arguments) {
  char text[4096];
  std::vsnprintf(text, sizeof(text), format, arguments);
  std::fprintf(stderr, "BLACS %s '%s: %s'\nfrom {%d,%d}, pnum=%d, Contxt=%d, in routine '%s'.\n\n",
               kind, origin.routine, text, origin.row, origin.col, origin.pnum, origin.context,
               origin.routine);
  std::fflush(stderr);
}

std::atomic<void (*)()> before_end{nullptr};

[[noreturn]] void EndJob(int code) {
  if (auto* const function = before_end.exchange(nullptr)) function();
  EndMpiJob(code);
}

}  // namespace

void Fail(const Origin& origin, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Print("ERROR", origin, format, arguments);
  va_end(arguments);
  EndJob(1);
}

void Warn(const Origin& origin, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Print("WARNING", origin, format, arguments);
  va_end(arguments);
}

void SetBeforeEnd(void (*function)()) { before_end = function; }

void AbortForCaller(const Origin& origin, int code) {
  std::fprintf(stderr,
               "{%d,%d}, pnum=%d, Contxt=%d, killed other procs, exiting with error #%d.\n\n",
               origin.row, origin.col, origin.pnum, origin.context, code);
  std::fflush(stderr);
  EndJob(code);
}

}  // namespace blacs
}  // namespace brigade
