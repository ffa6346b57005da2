// The functions of <brigade/li.h>: each is the program's, or the end of it.

#include "brigade/li.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "li_shim/backend/backend.h"
#include "li_shim/choice.h"
#include "li_shim/program.h"
#include "membuf/status.h"

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
    return new Program(std::move(backend));
  }();
  return program;
}

template <typename Part>
void Do(const char* call, const Part& part) {
  Program* const program = Current(call);
  const Status status = part(program);
  if (!status.ok()) program->Fail(call, status.message());
}

void Put(const char* call, int pid, const void* source, const void* address, size_t offset,
         size_t bytes) {
  Do(call, [&](Program* program) { return program->Put(pid, source, address, offset, bytes); });
}

void Get(const char* call, int pid, const void* address, size_t offset, void* result,
         size_t bytes) {
  Do(call, [&](Program* program) { return program->Get(pid, address, offset, result, bytes); });
}

void Register(const char* call, void* address, size_t bytes) {
  Do(call, [&](Program* program) { return program->Register(address, bytes); });
}

void Commit(const char* call) {
  Do(call, [](Program* program) { return program->Commit(); });
}

void Barrier(const char* call) {
  Do(call, [](Program* program) { return program->Barrier(); });
}

}  // namespace

void LIBEGIN(int processes) {
  Do(__func__, [&](Program* program) { return program->Begin(processes); });
  std::atexit([] { Current("exit")->Leave(); });
}

void LIEND() {
  Do(__func__, [](Program* program) { return program->End(); });
}

void LIABORT() { Current(__func__)->Fail(__func__, "called by the program"); }

int LINPROCS() { return Current(__func__)->processes(); }

int LIPID() {
  int process = 0;
  Do(__func__, [&](Program* program) { return program->Process(&process); });
  return process;
}

void LIREGISTER(void* address, size_t bytes) { Register(__func__, address, bytes); }

void LIINIT() {
  Do(__func__, [](Program* program) { return program->Init(); });
}

void LICOMMIT() { Commit(__func__); }

void LIDEREGISTER(void* address) {
  Do(__func__, [&](Program* program) { return program->Deregister(address); });
}

void LIPUT(int pid, const void* source, const void* address, size_t offset, size_t bytes) {
  Put(__func__, pid, source, address, offset, bytes);
}

void LIGET(int pid, const void* address, size_t offset, void* result, size_t bytes) {
  Get(__func__, pid, address, offset, result, bytes);
}

void LISYNC() {
  Do(__func__, [](Program* program) { return program->Sync(); });
}

void LIBARRIER() { Barrier(__func__); }

void LIOREGISTER(void* address, size_t bytes) { Register(__func__, address, bytes); }

void LIOINIT(const void* address) {
  Do(__func__, [&](Program* program) { return program->Init(address); });
}

void LIOCOMMIT() { Commit(__func__); }

void LIOPUT(int pid, const void* source, const void* address, size_t offset, size_t bytes) {
  Put(__func__, pid, source, address, offset, bytes);
}

void LIOGET(int pid, const void* address, size_t offset, void* result, size_t bytes) {
  Get(__func__, pid, address, offset, result, bytes);
}

void LIOSYNC(const void* address) {
  Do(__func__, [&](Program* program) { return program->Sync(address); });
}

void LIOBARRIER() { Barrier(__func__); }
