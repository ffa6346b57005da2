// A BLACS program of two ranks that does one thing, named by its argument: mistakes that must end
// the job with a clear error (blacs_errors_test.sh), and ways to start and end
// (blacs_lifecycle_test.sh).

#include <mpi.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "brigade/blacs_mpi.h"
#include "test/support/counted_new.h"
#include "test/support/two_hosts.h"

extern "C" void blacs_gridinit_(int* ctxt, const char* order, const int* nprow, const int* npcol);

namespace {

int rank = -1;

// A grid of all ranks in one row.
int NewGrid() {
  int context;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 1, 2);
  return context;
}

// Two rows of two.
int NewSquare() {
  int context;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 2, 2);
  return context;
}

// Runs `mistake` on rank 1 only; rank 0 waits for a message that never comes, so that only the
// error can end the job.
void OnRankOne(const std::function<void(int context)>& mistake) {
  const int context = NewGrid();
  if (rank == 1) mistake(context);
  double value;
  Cdgerv2d(context, 1, 1, &value, 1, 0, 1 - rank);
}

void TakeTurns(int context, int turns) {
  double value = 0;
  for (int i = 0; i < turns; ++i) {
    Cdgesd2d(context, 1, 1, &value, 1, 0, 1 - rank);
    Cdgerv2d(context, 1, 1, &value, 1, 0, 1 - rank);
  }
}

// Leaves a megabyte on its way from rank 0 to rank 1, which receives only after rank 0 has returned
// from its send.
void LeaveSendPending() {
  const int context = NewGrid();
  std::vector<double> data(1 << 17, 4.25);
  const int elems = static_cast<int>(data.size());
  if (rank == 0) {
    Cdgesd2d(context, elems, 1, data.data(), elems, 0, 1);
    MPI_Send(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::vector<double> got(data.size());
    Cdgerv2d(context, elems, 1, got.data(), elems, 0, 0);
    std::printf("received %s\n", got == data ? "intact" : "DAMAGED");
  }
}

// Both ranks send each other messages that neither receives, and end.
void LeaveUnreceived(int elems, const std::function<void()>& end) {
  const int context = NewGrid();
  std::vector<double> data(static_cast<size_t>(elems), 4.25);
  Cdgesd2d(context, elems, 1, data.data(), elems, 0, 1 - rank);
  MPI_Barrier(MPI_COMM_WORLD);
  end();
}

// The most memory that this rank has had so far.
long PeakBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

// Both ranks send each other `messages` short messages before either receives one.
void Flood(int messages) {
  const int context = NewGrid();
  TakeTurns(context, 100);
  const long before = PeakBytes();
  for (int i = 0; i < messages; ++i) {
    double value = i;
    Cdgesd2d(context, 1, 1, &value, 1, 0, 1 - rank);
  }
  const long each = (PeakBytes() - before) / messages;
  std::printf("a message takes %s (%ld bytes)\n", each <= 128 ? "little" : "too much", each);
  int right = 0;
  for (int i = 0; i < messages; ++i) {
    double value = -1;
    Cdgerv2d(context, 1, 1, &value, 1, 0, 1 - rank);
    right += value == i ? 1 : 0;
  }
  std::printf("%d of %d messages are right\n", right, messages);
  Cblacs_exit(0);
}

// Several threads that live side by side call the BLACS, one after the other.
void ThreadsInTurn() {
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) std::abort();
  int size;
  Cblacs_pinfo(&rank, &size);
  int context = -1;
  std::thread([&context] { context = NewGrid(); }).join();
  std::mutex turn;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 25; ++j) {
        std::lock_guard<std::mutex> mine(turn);
        TakeTurns(context, 3);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Cblacs_exit(0);
  std::printf("done\n");
}

const std::thread::id main_thread = std::this_thread::get_id();
std::atomic<int> polls_of_main = 0;
std::atomic<int> polls_of_others = 0;

// Waits for messages that are late, on the main thread and on another one. Polls count on rank 0.
void WaitOnBothThreads() {
  const int context = NewGrid();
  const auto wait = [context] {
    double value = 0;
    for (int i = 0; i < 20; ++i) {
      if (rank == 0) Cdgesd2d(context, 1, 1, &value, 1, 0, 1);
      Cdgerv2d(context, 1, 1, &value, 1, 0, 1 - rank);
      if (rank == 0) continue;
      usleep(10000);
      Cdgesd2d(context, 1, 1, &value, 1, 0, 0);
    }
  };
  polls_of_main = 0;
  wait();
  const bool is_polled = polls_of_main > 0;
  std::thread(wait).join();
  if (rank == 0) {
    std::printf("MPI is %spolled by the main thread, %d times by others\n", is_polled ? "" : "not ",
                polls_of_others.load());
  }
  Cblacs_exit(0);
}

// A grid of these ranks and as many that they start.
void Spawn() {
  MPI_Comm between;
  MPI_Comm_get_parent(&between);
  const bool spawned = between != MPI_COMM_NULL;
  if (!spawned) {
    char name[] = "spawn";
    char* arguments[] = {name, nullptr};
    std::array<char, 4096> program = {};  // by mpirun, so not as /proc/self/exe
    if (readlink("/proc/self/exe", program.data(), program.size() - 1) < 0) std::abort();
    MPI_Comm_spawn(program.data(), arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                   MPI_ERRCODES_IGNORE);
  }
  MPI_Comm all;
  MPI_Intercomm_merge(between, spawned ? 1 : 0, &all);
  int context = Csys2blacs_handle(all);
  Cblacs_gridinit(&context, "Row", 2, 2);
  int place = 0;
  MPI_Comm_rank(all, &place);
  double sum = place;
  Cdgsum2d(context, "All", " ", 1, 1, &sum, 1, -1, -1);
  if (!spawned) std::printf("the sum is %g\n", sum);
  Cblacs_gridexit(context);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&between);
  Cblacs_exit(0);
}

void ManyContexts(int contexts) {
  std::vector<int> all;
  for (int i = 0; i < contexts; ++i) all.push_back(NewGrid());
  for (size_t i = 0; i < all.size(); i += 499) TakeTurns(all[i], 2);
  TakeTurns(all.back(), 2);
  std::printf("the last is %d\n", all.back());
  Cblacs_exit(0);
}

void SetDeleteCallback(MPI_Comm comm, MPI_Comm_delete_attr_function* callback, void* state) {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, callback, &keyval, nullptr);
  MPI_Comm_set_attr(comm, keyval, state);
  MPI_Comm_free_keyval(&keyval);
}

MPI_Comm CommunicatorOf(int context) {
  int handle = -1;
  Cblacs_get(context, 10, &handle);
  return Cblacs2sys_handle(handle);
}

int LookForOwnGrid(MPI_Comm, int, void* context, void*) {
  const std::unique_ptr<int> own(static_cast<int*>(context));
  int rows, cols, row, col;
  Cblacs_gridinfo(*own, &rows, &cols, &row, &col);
  if (rows == -1) std::printf("a grid that ends is no context\n");
  return MPI_SUCCESS;
}

// Also makes a grid, which blacs_exit ends.
int EndContext(MPI_Comm, int, void* context, void*) {
  Cblacs_gridexit(*static_cast<int*>(context));
  std::printf("another grid ends\n");
  const int made = NewGrid();
  SetDeleteCallback(CommunicatorOf(made), LookForOwnGrid, new int(made));
  return MPI_SUCCESS;
}

int UseNewGrid(MPI_Comm, int, void*, void*) {
  const int context = NewGrid();
  TakeTurns(context, 2);
  Cblacs_gridexit(context);
  Cblacs_exit(1);
  std::printf("a new grid is used\n");
  return MPI_SUCCESS;
}

// Delete callbacks call the BLACS inside blacs_gridexit and blacs_exit: on the communicator of a
// grid, and on MPI_COMM_SELF.
void CallFromCallbacks() {
  SetDeleteCallback(MPI_COMM_SELF, UseNewGrid, nullptr);
  for (const bool exits : {false, true}) {
    const int context = NewGrid();
    int other = NewGrid();
    SetDeleteCallback(CommunicatorOf(context), EndContext, &other);
    if (exits) {
      Cblacs_exit(0);
    } else {
      Cblacs_gridexit(context);
    }
  }
}

// The result that MPI's own function returns from now on.
int answer_of_create = MPI_SUCCESS;

using Cases = std::map<std::string, std::function<void()>>;

// NOLINTNEXTLINE(readability-function-size): a table
const Cases& AllCases() {
  static double a[16] = {};
  static int places[16] = {};
  static const Cases cases = {
      // Mistakes.
      {"scope_broadcast",
       [] { OnRankOne([](int ctxt) { Cdgebs2d(ctxt, "X", " ", 1, 1, a, 1); }); }},
      {"scope_combine",
       [] { OnRankOne([](int ctxt) { Csgsum2d(ctxt, "q", " ", 1, 1, (float*)a, 1, 0, 0); }); }},
      {"topology_broadcast",
       [] { OnRankOne([](int ctxt) { Cztrbr2d(ctxt, "A", "Z", "U", "N", 1, 1, a, 1, 0, 0); }); }},
      {"topology_combine",
       [] {
         OnRankOne(
             [](int ctxt) { Cigamx2d(ctxt, "A", "0", 1, 1, places, 1, places, places, 1, 0, 0); });
       }},
      {"scope_empty",
       [] { OnRankOne([](int ctxt) { Cdgsum2d(ctxt, "", " ", 1, 1, a, 1, 0, 0); }); }},
      {"topology_empty",
       [] { OnRankOne([](int ctxt) { Cdgsum2d(ctxt, "A", "", 1, 1, a, 1, 0, 0); }); }},
      {"destination", [] { OnRankOne([](int ctxt) { Cdgesd2d(ctxt, 1, 1, a, 1, 5, 0); }); }},
      {"source", [] { OnRankOne([](int ctxt) { Cdtrrv2d(ctxt, "U", "N", 1, 1, a, 1, 0, -3); }); }},
      {"broadcast_source",
       [] { OnRankOne([](int ctxt) { Cdgebr2d(ctxt, "Row", " ", 1, 1, a, 1, 0, 2); }); }},
      {"broadcast_own_source",
       [] { OnRankOne([](int ctxt) { Cdgebr2d(ctxt, "Row", " ", 1, 1, a, 1, 0, 1); }); }},
      {"combine_destination",
       [] { OnRankOne([](int ctxt) { Cdgsum2d(ctxt, "All", " ", 1, 1, a, 1, 7, 0); }); }},
      {"negative_m", [] { OnRankOne([](int ctxt) { Cdgesd2d(ctxt, -4, 1, a, 1, 0, 0); }); }},
      {"negative_n",
       [] { OnRankOne([](int ctxt) { Cdgsum2d(ctxt, "All", " ", 1, -6, a, 1, 0, 0); }); }},
      {"freed_context",
       [] {
         OnRankOne([](int ctxt) {
           Cblacs_gridexit(ctxt);
           Cdgesd2d(ctxt, 1, 1, a, 1, 0, 0);
         });
       }},
      {"no_context", [] { OnRankOne([](int) { Cblacs_barrier(77, "All"); }); }},
      {"exit_twice",
       [] {
         OnRankOne([](int ctxt) {
           Cblacs_gridexit(ctxt);
           Cblacs_gridexit(ctxt);
         });
       }},
      {"pnum_no_context", [] { OnRankOne([](int) { Cblacs_pnum(-1, 0, 0); }); }},
      {"get_no_context",
       [] {
         OnRankOne([](int) {
           int handle;
           Cblacs_get(3, 10, &handle);
         });
       }},
      {"long_message",
       [] {
         const int context = NewGrid();
         if (rank == 0) Cdgesd2d(context, 10, 1, a, 10, 0, 1);
         if (rank == 1) Cdgerv2d(context, 5, 1, a, 5, 0, 0);
         Cblacs_barrier(context, "All");
       }},
      {"broadcast_sizes",
       [] {
         const int context = NewGrid();
         if (rank == 0) Cdgebs2d(context, "All", " ", 9, 1, a, 9);
         if (rank == 1) Cdgebr2d(context, "All", " ", 4, 1, a, 4, 0, 0);
         Cblacs_barrier(context, "All");
       }},
      {"combine_sizes",
       [] {
         const int context = NewGrid();
         Cdgsum2d(context, "All", " ", 3 + rank, 1, a, 5, -1, -1);
         Cblacs_barrier(context, "All");
       }},
      {"combine_kinds",
       [] {
         const int context = NewGrid();
         if (rank == 0) Cdgsum2d(context, "All", " ", 2, 1, a, 2, -1, -1);
         if (rank == 1) Cdgamx2d(context, "All", " ", 2, 1, a, 2, nullptr, nullptr, -1, -1, -1);
         Cblacs_barrier(context, "All");
       }},
      // On four ranks. Ranks that return from the broadcast end.
      {"another_root",
       [] {
         const int context = NewSquare();
         if (rank == 0) Cdgebs2d(context, "All", "F", 1, 1, a, 1);
         if (rank != 0) {
           Cdgebr2d(context, "All", "F", 1, 1, a, 1, 0, rank == 3 ? 1 : 0);
         }
         Cblacs_gridexit(context);
         Cblacs_exit(0);
       }},
      // Ranks 2 and 3 take each other for the source.
      {"no_root",
       [] {
         const int context = NewSquare();
         Cdgebr2d(context, "All", " ", 1, 1, a, 1, 1, rank == 3 ? 0 : 1);
       }},
      {"another_scope",
       [] {
         const int context = NewSquare();
         Cblacs_barrier(context, rank == 3 ? "Row" : "All");
       }},
      {"barrier_among_sums",
       [] {
         const int context = NewSquare();
         if (rank == 3) Cblacs_barrier(context, "All");
         if (rank != 3) Cdgsum2d(context, "All", " ", 1, 1, a, 1, -1, -1);
         Cblacs_barrier(context, "All");
       }},
      {"winners_null",
       [] {
         OnRankOne(
             [](int ctxt) { Cdgamx2d(ctxt, "All", " ", 1, 1, a, 1, places, nullptr, 1, -1, -1); });
       }},
      {"winners_memory",
       [] {
         OnRankOne([](int ctxt) {
           constexpr int kHuge = 1 << 25;
           Cdgamn2d(ctxt, "All", " ", kHuge, kHuge, a, kHuge, places, places, kHuge, 0, 0);
         });
       }},
      {"plan_memory",
       [] {
         OnRankOne([](int ctxt) {
           no_memory_is_left = true;
           Cdgebs2d(ctxt, "All", " ", 1, 1, a, 1);
         });
       }},
      {"grid", [] { NewGrid(); }},  // with bad settings
      {"grid_too_large",
       [] {
         int context = 0;
         Cblacs_gridinit(&context, "R", 2, 3);
       }},
      {"grid_empty",
       [] {
         int context = 0;
         Cblacs_gridinit(&context, "R", 0, 1);
       }},
      {"map_twice",
       [] {
         const int map[] = {1, 1};
         int context = 0;
         Cblacs_gridmap(&context, map, 1, 1, 2);
       }},
      {"map_outside",
       [] {
         const int map[] = {0, 9};
         int context = 0;
         Cblacs_gridmap(&context, map, 1, 1, 2);
       }},
      {"map_ld",
       [] {
         const int map[] = {0, 1};
         int context = 0;
         Cblacs_gridmap(&context, map, 0, 1, 2);
       }},
      {"handle_c",
       [] {
         int context = 55;
         Cblacs_gridinit(&context, "R", 1, 2);
       }},
      {"handle_fortran",
       [] {
         int context = 5555;
         const int one = 1, two = 2;
         blacs_gridinit_(&context, "R", &one, &two);
       }},
      {"handle_back", [] { Cblacs2sys_handle(99); }},
      {"handle_null", [] { Csys2blacs_handle(MPI_COMM_NULL); }},
      {"two_threads",
       [] {
         OnRankOne([](int ctxt) {
           std::thread other([ctxt] { Cdgerv2d(ctxt, 1, 1, a, 1, 0, 0); });
           for (;;) {
             Cblacs_freebuff(ctxt, 0);
             std::this_thread::yield();
           }
         });
       }},
      {"after_finalize",
       [] {
         NewGrid();
         MPI_Finalize();
         NewGrid();
       }},
      {"abort", [] { OnRankOne([](int ctxt) { Cblacs_abort(ctxt, 42); }); }},
      {"abort_no_context", [] { OnRankOne([](int) { Cblacs_abort(-1, 43); }); }},

      // Lives.
      {"blacs_exit",
       [] {
         LeaveSendPending();
         Cblacs_exit(0);
         int finalized = 0;
         MPI_Finalized(&finalized);
         std::printf("finalized %d\n", finalized);
       }},
      {"mpi_finalize",
       [] {
         LeaveSendPending();
         MPI_Finalize();
       }},
      {"exit_after_finalize",
       [] {
         NewGrid();
         MPI_Finalize();
         Cblacs_exit(0);
         std::printf("done\n");
       }},
      {"exit_only",
       [] {
         MPI_Init(nullptr, nullptr);
         Cblacs_exit(0);
         int finalized = 0;
         MPI_Finalized(&finalized);
         std::printf("finalized %d\n", finalized);
       }},
      {"again",
       [] {
         for (int life = 0; life < 3; ++life) {
           LeaveSendPending();
           Cblacs_exit(1);
         }
         Cblacs_exit(0);
       }},
      {"callbacks", CallFromCallbacks},
      {"exit_unreceived", [] { LeaveUnreceived(16, [] { Cblacs_exit(0); }); }},
      {"exit_unreceived_long", [] { LeaveUnreceived(1 << 17, [] { Cblacs_exit(0); }); }},
      {"exit_unreceived_one",
       [] {
         const int context = NewGrid();
         std::vector<double> data(1 << 17);
         if (rank == 0) Cdgesd2d(context, 1 << 17, 1, data.data(), 1 << 17, 0, 1);
         MPI_Barrier(MPI_COMM_WORLD);
         Cblacs_exit(0);
       }},
      {"exit_unreceived_again",
       [] {
         for (int elems : {1, 16, 1 << 17}) LeaveUnreceived(elems, [] { Cblacs_exit(1); });
         LeaveSendPending();
         Cblacs_exit(0);
       }},
      {"finalize_unreceived", [] { LeaveUnreceived(16, [] { MPI_Finalize(); }); }},
      {"finalize_unreceived_long", [] { LeaveUnreceived(1 << 17, [] { MPI_Finalize(); }); }},
      {"flood", [] { Flood(1200000); }},
      {"flood_longest", [] { Flood(10000000); }},
      {"free_handle_warns",
       [] {
         NewGrid();
         Cfree_blacs_system_handle(66);
         Cfree_blacs_system_handle(0);
         Cblacs_exit(0);
         std::printf("done\n");
       }},
      // A child that leaves by exit() runs whatever its parent registered.
      {"fork",
       [] {
         TakeTurns(NewGrid(), 3);
         const pid_t child = fork();
         if (child == 0) {
           std::exit(0);
         }
         int status = -1;
         waitpid(child, &status, 0);
         std::printf("child %d\n", status);
         Cblacs_exit(0);
       }},
      // Rank 1 dies, or stops for a while, in the middle.
      {"dying_peer",
       [] {
         const int context = NewGrid();
         TakeTurns(context, 5);
         if (rank == 1) raise(SIGKILL);
         TakeTurns(context, 5);
       }},
      {"stopped_peer",
       [] {
         const int context = NewGrid();
         TakeTurns(context, 5);
         if (rank == 1) {
           if (fork() == 0) {
             sleep(3);
             kill(getppid(), SIGCONT);
             _exit(0);
           }
           raise(SIGSTOP);
         }
         TakeTurns(context, 5);
         Cblacs_exit(0);
         std::printf("done\n");
       }},
      {"turns",
       [] {
         TakeTurns(NewGrid(), 5);
         Cblacs_exit(0);
       }},
      // One of each, and rank 0 waits for rank 1 (blacs_trace_test.py knows the details).
      {"trace",
       [] {
         const int context = NewGrid();
         double panel[128 * 2] = {};
         if (rank == 1) {
           usleep(200000);
           Cdgebs2d(context, "All", "I", 100, 2, panel, 128);
         } else {
           Cdgebr2d(context, "All", "I", 100, 2, panel, 128, 0, 1);
         }
         Cdgsum2d(context, "Row", " ", 1, 1, a, 1, -1, -1);
         Cblacs_barrier(context, "All");
         static double data[1 << 17];
         // One segment; one and a header ahead; many.
         for (const int n : {3, 2000, 1 << 17}) {
           if (rank == 1) Cdgesd2d(context, n, 1, data, n, 0, 0);
           if (rank == 0) Cdgerv2d(context, n, 1, data, n, 0, 1);
         }
         Cdgebs2d(context, "Column", " ", 1, 1, a, 1);  // nobody else is in it
         Cblacs_exit(0);
       }},
      {"without_rank_zero",
       [] {
         const int map[] = {1};
         int context;
         Cblacs_get(-1, 0, &context);
         Cblacs_gridmap(&context, map, 1, 1, 1);
         Cblacs_exit(0);
       }},
      {"threads_in_turn", ThreadsInTurn},
      {"wait_on_both_threads", WaitOnBothThreads},
      {"spawn", Spawn},
      {"many_contexts", [] { ManyContexts(5000); }},
      // The parent's errors come back to us, and ours end the job.
      {"errors_return",
       [] {
         MPI_Comm parent;
         MPI_Comm_dup(MPI_COMM_WORLD, &parent);
         MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
         int context = Csys2blacs_handle(parent);
         Cblacs_gridinit(&context, "Row", 1, 2);
         TakeTurns(context, 5);
         std::printf("done\n");
         std::fflush(stdout);
         MPI_Barrier(parent);
         answer_of_create = MPI_ERR_INTERN;
         context = Csys2blacs_handle(parent);
         Cblacs_gridinit(&context, "Row", 1, 2);
       }},
      // The MPI must make the grid's communicator without messages that the receive would take.
      {"receive_from_any",
       [] {
         int result = 7;
         MPI_Request request = MPI_REQUEST_NULL;
         if (rank == 0) {
           MPI_Irecv(&result, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
         }
         int context;
         Cblacs_get(-1, 0, &context);
         Cblacs_gridinit(&context, "Row", 1, 2);
         TakeTurns(context, 5);
         if (rank == 1) MPI_Send(&result, 1, MPI_INT, 0, /*tag=*/5, MPI_COMM_WORLD);
         MPI_Status status;
         MPI_Wait(&request, &status);
         if (rank == 0) std::printf("received %d with tag %d\n", result, status.MPI_TAG);
         std::fflush(stdout);
         Cblacs_exit(0);
       }},
      // No grid ever has all ranks: there is no sum.
      {"lonely",
       [] {
         const int map[] = {rank};
         int context;
         Cblacs_get(-1, 0, &context);
         Cblacs_gridmap(&context, map, 1, 1, 1);
         Cdgesd2d(context, 1, 1, a, 1, 0, 0);
         Cdgerv2d(context, 1, 1, a, 1, 0, 0);
         Cdgebs2d(context, "All", "I", 1, 1, a, 1);
         Cdgsum2d(context, "Row", " ", 1, 1, a, 1, -1, -1);
         Cdgamx2d(context, "Column", " ", 1, 1, a, 1, places, places, 1, 0, 0);
         Cblacs_barrier(context, "All");
         Cblacs_exit(0);
       }},
  };
  return cases;
}

}  // namespace

extern "C" int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* created) {
  if (answer_of_create != MPI_SUCCESS) return answer_of_create;
  return PMPI_Comm_create(comm, group, created);
}

// Waits poll MPI by it.
extern "C" int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  ++(std::this_thread::get_id() == main_thread ? polls_of_main : polls_of_others);
  return PMPI_Test(request, flag, status);
}

int main(int argc, char** argv) {
  const auto found = argc == 2 ? AllCases().find(argv[1]) : AllCases().end();
  if (found == AllCases().end()) {
    std::fprintf(stderr, "usage: %s CASE\n", argv[0]);
    return 2;
  }
  // These initialise MPI themselves, or not at all.
  if (std::strcmp(argv[1], "exit_only") != 0 && std::strcmp(argv[1], "threads_in_turn") != 0) {
    // First, since a process stays where the library has found it.
    if (!brigade::MoveToTwoHostsIfAsked()) std::abort();
    int size;
    Cblacs_pinfo(&rank, &size);
  }
  found->second();
  return 0;
}
