// Products that cannot be: errors_cases CASE on two ranks, for the script that looks how it ends.

#include <mpi.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <vector>

extern "C" {
void blacs_get_(const int* context, const int* what, int* value);
void blacs_gridinit_(int* context, const char* order, const int* rows, const int* cols);
void blacs_gridexit_(const int* context);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
             const double* b, const int* ib, const int* jb, const int* descb, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);
}

namespace {

// Of matrices of ones, each rank having half of the columns.
class Product {
 public:
  explicit Product(int n)
      : n_(n), a_(static_cast<size_t>(n) * static_cast<size_t>(n) / 2, 1), b_(a_), c_(a_) {}

  void Compute(int context, int k, double alpha) {
    const int one = 1;
    const double beta = 0;
    const int descriptor[] = {1, context, n_, n_, n_ / 2, n_ / 2, 0, 0, n_};
    pdgemm_("N", "N", &n_, &n_, &k, &alpha, a_.data(), &one, &one, descriptor, b_.data(), &one,
            &one, descriptor, &beta, c_.data(), &one, &one, descriptor);
    for (const double value : c_) {
      if (value != k * alpha) std::fprintf(stderr, "the product is wrong\n");
    }
  }

 private:
  const int n_;
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

}  // namespace

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int minus_one = -1, zero = 0, one = 1, two = 2;
  int context = 0;
  blacs_get_(&minus_one, &zero, &context);
  blacs_gridinit_(&context, "Row", &one, &two);
  Product small(40), large(1200);
  small.Compute(context, 40, 1);
  if (std::strcmp(name, "memory") == 0) {
    if (rank == 1) ForbidMoreMemory();
    large.Compute(context, 1200, 1);
  } else if (std::strcmp(name, "one_is_small") == 0) {
    large.Compute(context, rank == 0 ? 1200 : 8, 1);
  } else if (std::strcmp(name, "one_is_missing") == 0) {
    if (rank == 0) large.Compute(context, 1200, 1);
  } else if (std::strcmp(name, "alpha") == 0) {
    small.Compute(context, 40, rank + 1);
  }
  blacs_gridexit_(&context);
  MPI_Finalize();
  std::printf("ended well\n");
  return 0;
}
