// The functions of <brigade/bsp.h>: each is the program's, or the end of it.

#include "brigade/bsp.h"

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

#include "bsp_shim/program.h"
#include "membuf/status.h"
#include "patterns/engine/out_of_memory.h"

namespace {

using brigade::Status;
using brigade::StatusCode;
using brigade::bsp::Program;
using Buffering = Program::Buffering;

// The program of this process, made by the first call.
Program* Current() {
  static Program* const program = [] {
    auto* const made = new Program;
    // Never destroyed: the process ends with it.
    std::atexit([] { Current()->Leave(); });
    return made;
  }();
  return program;
}

// Makes a call of the program; `call` is its name in BSPlib.
template <auto kCall, typename... Given>
void Do(const char* call, const Given&... given) {
  Program* const program = Current();
  try {
    const Status status = brigade::CatchOutOfMemory([&] { return (program->*kCall)(given...); });
    if (status.ok()) return;
    // Whoever is lost may have said why, and ends the job.
    if (status.code() == StatusCode::kPeerLost)
      std::this_thread::sleep_for(std::chrono::seconds(1));
    program->Fail(call, status.message());
  } catch (const std::exception& exception) {
    program->Fail(call, exception.what());
  }
}

}  // namespace

void bsp_init(void (*start)(void), int, char**) { Do<&Program::Init>(__func__, start); }

void bsp_begin(int most_processes) { Do<&Program::Begin>(__func__, most_processes); }

void bsp_end() { Do<&Program::End>(__func__); }

void bsp_abort(const char* format, ...) {
  va_list values;
  va_start(values, format);
  va_list again;
  va_copy(again, values);
  // Negative if the locale cannot represent an argument.
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string text = length < 0 ? format : std::string(static_cast<size_t>(length), '\0');
  if (length > 0) std::vsnprintf(text.data(), text.size() + 1, format, values);
  va_end(values);
  while (!text.empty() && text.back() == '\n') text.pop_back();  // one is added
  Current()->Abort(text);
}

int bsp_nprocs() { return Current()->processes(); }

int bsp_pid() {
  int process = 0;
  Do<&Program::Process>(__func__, &process);
  return process;
}

double bsp_time() {
  double seconds = 0;
  Do<&Program::Time>(__func__, &seconds);
  return seconds;
}

void bsp_sync() { Do<&Program::Sync>(__func__); }

void bsp_push_reg(const void* address, int bytes) { Do<&Program::Push>(__func__, address, bytes); }

void bsp_pop_reg(const void* address) { Do<&Program::Pop>(__func__, address); }

void bsp_put(int pid, const void* source, void* address, int offset, int bytes) {
  Do<&Program::Put>(__func__, Buffering::kBuffered, pid, source, address, offset, bytes);
}

void bsp_hpput(int pid, const void* source, void* address, int offset, int bytes) {
  Do<&Program::Put>(__func__, Buffering::kUnbuffered, pid, source, address, offset, bytes);
}

void bsp_get(int pid, const void* address, int offset, void* result, int bytes) {
  Do<&Program::Get>(__func__, Buffering::kBuffered, pid, address, offset, result, bytes);
}

void bsp_hpget(int pid, const void* address, int offset, void* result, int bytes) {
  Do<&Program::Get>(__func__, Buffering::kUnbuffered, pid, address, offset, result, bytes);
}

void bsp_set_tagsize(int* bytes) { Do<&Program::SetTagSize>(__func__, bytes); }

void bsp_send(int pid, const void* tag, const void* payload, int bytes) {
  Do<&Program::Send>(__func__, pid, tag, payload, bytes);
}

void bsp_qsize(int* count, int* bytes) { Do<&Program::CountMessages>(__func__, count, bytes); }

void bsp_get_tag(int* status, void* tag) { Do<&Program::GetTag>(__func__, status, tag); }

void bsp_move(void* payload, int most_bytes) { Do<&Program::Move>(__func__, payload, most_bytes); }

int bsp_hpmove(void** tag, void** payload) {
  int bytes = 0;
  Do<&Program::MoveDirectly>(__func__, tag, payload, &bytes);
  return bytes;
}
