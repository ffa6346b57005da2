// Products that cannot be: errors_cases CASE on two ranks, for the script that looks how it ends.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

extern "C" {
void blacs_get_(const int* context, const int* what, int* value);
void blacs_gridinit_(int* context, const char* order, const int* rows, const int* cols);
void blacs_gridexit_(const int* context);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
             const double* b, const int* ib, const int* jb, const int* descb, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);
// In place of the PBLAS's own, which ends the job: programs may have theirs.
void PB_Cabort(int, char* routine, int info) { std::fprintf(stderr, "%s: %d\n", routine, info); }
}

namespace {

// Of matrices of ones, m x n, each rank having half of the columns.
class Product {
 public:
  Product(int m, int n)
      : m_(m), n_(n), a_(static_cast<size_t>(m) * static_cast<size_t>(n) / 2, 1), b_(a_), c_(a_) {}

  void Compute(int context, int k, double alpha) {
    Call(context, "N", context, k, alpha);
    for (const double value : c_) {
      if (value != k * alpha) std::fprintf(stderr, "the product is wrong\n");
    }
  }

  // A call that the library does not handle: with an undefined letter, or an A on no grid.
  void ComputeWrongly(int context, const char* op_a, int context_of_a) {
    Call(context, op_a, context_of_a, m_, 1);
  }

 private:
  void Call(int context, const char* op_a, int context_of_a, int k, double alpha) {
    const int one = 1;
    const double beta = 0;
    const int descriptor[] = {1, context, m_, n_, m_, n_ / 2, 0, 0, m_};
    const int of_a[] = {1, context_of_a, m_, n_, m_, n_ / 2, 0, 0, m_};
    pdgemm_(op_a, "N", &m_, &n_, &k, &alpha, a_.data(), &one, &one, of_a, b_.data(), &one, &one,
            descriptor, &beta, c_.data(), &one, &one, descriptor);
  }

  const int m_, n_;
  std::vector<double> a_, b_, c_;
};

// This process gets no memory any more, but what it has freed.
void ForbidMoreMemory() {
  long pages = 0;
  FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld", &pages) != 1) std::perror("statm");
  if (file != nullptr) std::fclose(file);
  const auto bytes = static_cast<rlim_t>(pages) * 4096 + (rlim_t{1} << 20);
  const rlimit limit{bytes, bytes};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::perror("setrlimit");
}

// This process reads no other's memory any more.
void ForbidLooks() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ESRCH),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {sizeof(program) / sizeof(program[0]), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    std::perror("seccomp");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  if (std::strcmp(name, "before_mpi") == 0) Product(40, 40).ComputeWrongly(0, "N", 0);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int minus_one = -1, zero = 0, one = 1, two = 2;
  int context = 0;
  blacs_get_(&minus_one, &zero, &context);
  blacs_gridinit_(&context, "Row", &one, &two);
  Product small(40, 40), large(1200, 1200);
  // The first product that is taken makes the multiplier.
  const bool is_taken_first = std::strncmp(name, "taken_", 6) == 0;
  (is_taken_first ? large : small).Compute(context, is_taken_first ? 1200 : 40, 1);
  if (std::strcmp(name, "memory") == 0) {
    if (rank == 1) ForbidMoreMemory();
    large.Compute(context, 1200, 1);
  } else if (std::strcmp(name, "memory_for_columns") == 0) {
    Product wide(1, 1 << 23);
    if (rank == 1) ForbidMoreMemory();
    wide.Compute(context, 1, 1);
  } else if (std::strcmp(name, "one_is_small") == 0 ||
             std::strcmp(name, "taken_one_is_small") == 0) {
    large.Compute(context, rank == 0 ? 1200 : 8, 1);
  } else if (std::strcmp(name, "one_is_missing") == 0 ||
             std::strcmp(name, "taken_one_is_missing") == 0) {
    if (rank == 0) large.Compute(context, 1200, 1);
  } else if (std::strcmp(name, "one_has_no_letter") == 0) {
    if (rank == 1) large.ComputeWrongly(context, "X", context);
    large.Compute(context, 1200, 1);
  } else if (std::strcmp(name, "one_has_no_grid") == 0) {
    if (rank == 1) large.ComputeWrongly(context, "N", minus_one);
    large.Compute(context, 1200, 1);
  } else if (std::strcmp(name, "taken_one_has_ended") == 0) {
    if (rank == 0) large.Compute(context, 1200, 1);
    if (rank == 1) blacs_gridexit_(&context);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (std::strcmp(name, "one_is_late") == 0) {
    if (rank == 1) std::this_thread::sleep_for(std::chrono::seconds(4));
    large.Compute(context, 1200, 1);
    // All messages on the program's communicator have been received.
    const int of_context = 10;
    int communicator = 0;
    int is_left = 0;
    blacs_get_(&context, &of_context, &communicator);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_Comm_f2c(communicator), &is_left,
               MPI_STATUS_IGNORE);
    if (is_left != 0) std::fprintf(stderr, "a message is left over\n");
  } else if (std::strcmp(name, "taken_looks_fail") == 0) {
    if (rank == 0) ForbidLooks();
    if (rank == 1) pause();  // rank 0 looks for it
    large.Compute(context, 1200, 1);
  } else if (std::strcmp(name, "alpha") == 0) {
    small.Compute(context, 40, rank + 1);
  }
  blacs_gridexit_(&context);
  MPI_Finalize();
  std::printf("ended well\n");
  return 0;
}
