// without CALL COMMAND ARGUMENT...: runs it where the kernel refuses that system call, as the
// filters of containers do.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

constexpr struct {
  const char* name;
  uint32_t number;
} kCalls[] = {
    {"io_uring_setup", __NR_io_uring_setup},
    {"process_vm_writev", __NR_process_vm_writev},
};

bool Refuse(uint32_t number) {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& call : kCalls) {
    if (argc < 3 || std::strcmp(argv[1], call.name) != 0) continue;
    if (!Refuse(call.number)) {
      std::perror("without");
      return 2;
    }
    execvp(argv[2], argv + 2);
    std::perror(argv[2]);
    return 2;
  }
  std::fprintf(stderr, "usage: %s CALL COMMAND [ARGUMENT...]\n", argv[0]);
  return 2;
}
