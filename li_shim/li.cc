// The functions of <brigade/li.h>: each is the program's, or the end of it.

#include "brigade/li.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <utility>

#include "li_shim/backend/backend.h"
#include "li_shim/choice.h"
#include "li_shim/program.h"
#include "membuf/status.h"
#include "patterns/engine/out_of_memory.h"

namespace {

using brigade::Status;
using brigade::li::Program;

static_assert(MAX_LI_WINDOWS == brigade::li::kProgramSlots);

// The program of this process, made by the first call.
Program* Current(const char* call) {
  // Never destroyed: the process ends with it.
  static Program* const program = [&] {
    std::unique_ptr<brigade::li::Backend> backend;
    const Status status = brigade::li::ChooseBackend(&backend);
    if (!status.ok()) {
      std::fprintf(stderr, "brigade: %s: %s\n", call, status.message().c_str());
      std::exit(EXIT_FAILURE);
    }
    auto* const made = new Program(std::move(backend));
    made->processes();  // the first call of a BSPlib, whose own handler then runs behind ours
    std::atexit([] { Current("exit")->Leave(); });
    return made;
  }();
  return program;
}

// Makes a call of the program; `call` is its name in LI.
template <auto kCall, typename... Given>
void Do(const char* call, const Given&... given) {
  Program* const program = Current(call);
  try {
    const Status status = brigade::CatchOutOfMemory([&] { return (program->*kCall)(given...); });
    if (!status.ok()) program->Fail(call, status.message());
  } catch (const std::exception& exception) {
    program->Fail(call, exception.what());
  }
}

}  // namespace

void LIBEGIN(int processes) { Do<&Program::Begin>(__func__, processes); }

void LIEND() { Do<&Program::End>(__func__); }

void LIABORT() { Current(__func__)->Fail(__func__, "called by the program"); }

int LINPROCS() { return Current(__func__)->processes(); }

int LIPID() {
  int process = 0;
  Do<&Program::Process>(__func__, &process);
  return process;
}

void LIREGISTER(void* address, size_t bytes) { Do<&Program::Register>(__func__, address, bytes); }

void LIINIT() { Do<&Program::InitAll>(__func__); }

void LICOMMIT() { Do<&Program::Commit>(__func__); }

void LIDEREGISTER(void* address) { Do<&Program::Deregister>(__func__, address); }

void LIPUT(int pid, const void* source, const void* address, size_t offset, size_t bytes) {
  Do<&Program::Put>(__func__, pid, source, address, offset, bytes);
}

void LIGET(int pid, const void* address, size_t offset, void* result, size_t bytes) {
  Do<&Program::Get>(__func__, pid, address, offset, result, bytes);
}

void LISYNC() { Do<&Program::SyncAll>(__func__); }

void LIBARRIER() { Do<&Program::Barrier>(__func__); }

void LIOREGISTER(void* address, size_t bytes) { Do<&Program::Register>(__func__, address, bytes); }

void LIOINIT(const void* address) { Do<&Program::Init>(__func__, address); }

void LIOCOMMIT() { Do<&Program::Commit>(__func__); }

void LIOPUT(int pid, const void* source, const void* address, size_t offset, size_t bytes) {
  Do<&Program::Put>(__func__, pid, source, address, offset, bytes);
}

void LIOGET(int pid, const void* address, size_t offset, void* result, size_t bytes) {
  Do<&Program::Get>(__func__, pid, address, offset, result, bytes);
}

void LIOSYNC(const void* address) { Do<&Program::Sync>(__func__, address); }

void LIOBARRIER() { Do<&Program::Barrier>(__func__); }
