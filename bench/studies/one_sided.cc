#include "bench/studies/one_sided.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/studies/busy_target.h"
#include "bench/studies/window_contenders.h"

namespace brigade::bench {
namespace {

// Operations that a rate is measured with, and the longest.
constexpr int64_t kAtOnce = 64;
constexpr size_t kLongestAtOnceBytes = size_t{64} << 10;

Case CaseOf(const std::string& operation, int64_t doubles) {
  Case made;
  made.name = "one-sided " + operation;
  made.rows = made.ld = doubles;
  made.cols = 1;
  made.bytes = static_cast<size_t>(doubles) * sizeof(double);
  made.roots = 1;
  return made;
}

// Returns the lower bound of a put or a get of memory that both ranks map.
const char* BarePattern(bool is_put, int64_t doubles) {
  return doubles > 1 ? "memcpy" : is_put ? "store" : "load";
}
void CopyBare(double* to, const double* from, int64_t doubles) {
  if (doubles > 1) {
    std::memcpy(to, from, static_cast<size_t>(doubles) * sizeof(double));
  } else {
    *static_cast<volatile double*>(to) = *from;
  }
}

// Rank 0 does an operation `at_once` times, each on a place of its own, and then flushes.
void MeasureOperations(const WindowContenders& all, int64_t doubles, int64_t at_once) {
  const int rank = all.session->rank();
  const int64_t doubles_in_all = doubles * at_once;
  const std::vector<std::shared_ptr<OneSided>> windows =
      all.Windows(doubles_in_all, /*is_shared=*/true);
  std::vector<double> here(static_cast<size_t>(doubles_in_all));
  for (const std::string operation : {"put", "get", "add", "fetch and add"}) {
    const bool fetches = operation == "fetch and add";
    if (fetches && (doubles != 1 || at_once != 1)) continue;
    const bool is_put = operation == "put";
    const bool comes = operation == "get" || fetches;
    Case one = CaseOf(operation, doubles);
    one.hops = static_cast<int>(at_once);
    one.prepare = [&](int) {
      std::fill(here.begin(), here.end(), -1.0);
      if (!comes) Fill(ViewOf(here.data(), doubles_in_all), 0);
      for (const auto& window : windows) {
        std::fill(window->memory(), window->memory() + doubles_in_all, 0.0);
        if (comes) Fill(ViewOf(window->memory(), doubles_in_all), 0);
      }
    };
    const auto add = [&](OneSided* w, const std::string& name, const std::string& pattern,
                         const std::function<Status()>& run) {
      Subject subject;
      subject.name = name;
      subject.pattern = pattern;
      subject.run = [rank, run](int) { return rank == 0 ? run() : Status(); };
      subject.check = [&here, w, rank, doubles_in_all, comes](int) -> std::string {
        if (rank != (comes ? 0 : 1)) return "";
        return CheckSum(ViewOf(comes ? here.data() : w->memory(), doubles_in_all), 0, 1);
      };
      one.subjects.push_back(std::move(subject));
    };
    for (const auto& window : windows) {
      OneSided* const w = window.get();
      AbortUnlessOk(w->LockAll());
      const std::string how_often = at_once == 1 ? "" : " " + std::to_string(at_once) + " times";
      add(w, w->name(), operation + how_often + ", flush", [=, &here] {
        if (fetches) return w->FetchAndAdd(0.0, here.data(), 1, 0);
        for (int64_t i = 0; i < at_once; ++i) {
          double* const data = here.data() + i * doubles;
          BRIGADE_RETURN_IF_ERROR(is_put               ? w->Put(data, doubles, 1, i * doubles)
                                  : operation == "get" ? w->Get(data, doubles, 1, i * doubles)
                                                       : w->Add(data, doubles, 1, i * doubles));
        }
        return w->Flush(1);
      });
      // In the same memory, with the same data.
      double* const there = w->MemoryOf(1);
      if (there == nullptr || at_once != 1 || (!is_put && operation != "get")) continue;
      add(w, "bare memory", BarePattern(is_put, doubles), [&here, there, is_put, doubles] {
        CopyBare(is_put ? there : here.data(), is_put ? here.data() : there, doubles);
        return Status();
      });
    }
    all.session->Measure(one);
    all.EndEpochs(windows);
  }
  for (const auto& window : windows) AbortUnlessOk(window->Free());
}

// Ranks 0 and 1 put data to each other alternately, and wait for notifications.
void MeasureNotifications(const WindowContenders& all, int64_t doubles) {
  const int rank = all.session->rank();
  const int other = 1 - rank;
  const std::vector<std::shared_ptr<OneSided>> windows = all.Windows(doubles, /*is_shared=*/true);
  std::vector<double> out(static_cast<size_t>(doubles));
  std::vector<double> in(static_cast<size_t>(doubles));
  Case turns = CaseOf("put with notification", doubles);
  turns.hops = 2;
  turns.prepare = [&](int) {
    Fill(ViewOf(out.data(), doubles), rank);
    std::fill(in.begin(), in.end(), -1.0);
    for (const auto& window : windows) {
      std::fill(window->memory(), window->memory() + doubles, -1.0);
    }
  };
  const auto check = [rank, other, doubles](double* memory) {
    return rank > 1 ? std::string() : CheckSum(ViewOf(memory, doubles), other, 1);
  };
  for (const auto& window : windows) {
    OneSided* const w = window.get();
    AbortUnlessOk(w->LockAll());
    Subject subject;
    subject.name = w->name();
    subject.pattern = "put with notification";
    subject.run = [&out, w, rank, other, doubles](int) {
      if (rank > 1) return Status();
      if (rank == 1) BRIGADE_RETURN_IF_ERROR(w->NotifyWait(other));
      BRIGADE_RETURN_IF_ERROR(w->PutNotify(out.data(), doubles, other, 0));
      return rank == 0 ? w->NotifyWait(other) : Status();
    };
    subject.check = [w, check](int) { return check(w->memory()); };
    turns.subjects.push_back(std::move(subject));
  }
  if (all.session->options().HasPeer("mpi")) {
    Subject subject;
    subject.name = all.session->PeerName("mpi");
    subject.pattern = "send, receive";
    subject.run = [&all, &out, &in, rank, other](int) {
      const auto send = [&] {
        MPI_Send(out.data(), static_cast<int>(out.size()), MPI_DOUBLE, other, 0,
                 all.session->comm());
      };
      if (rank == 0) send();
      if (rank <= 1) {
        MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_DOUBLE, other, 0, all.session->comm(),
                 MPI_STATUS_IGNORE);
      }
      if (rank == 1) send();
      return Status();
    };
    subject.check = [&in, check](int) { return check(in.data()); };
    turns.subjects.push_back(std::move(subject));
  }
  all.session->Measure(turns);
  all.EndEpochs(windows);
  for (const auto& window : windows) AbortUnlessOk(window->Free());
}

}  // namespace

void RunOneSided(Session* session) {
  if (session->ranks() < 2) {
    AbortUnlessOk(Status(StatusCode::kInvalidArgument, "one-sided needs two ranks"));
  }
  const WindowContenders all(session);
  const auto for_each_size = [&](const std::string& title, size_t longest_bytes,
                                 const auto& measure) {
    session->StartTable(title);
    for (const size_t bytes : session->options().message_bytes) {
      if (bytes > longest_bytes) continue;
      measure(std::max<int64_t>(1, static_cast<int64_t>(bytes / sizeof(double))));
    }
  };
  for_each_size("one operation of rank 0 on rank 1, and a flush", SIZE_MAX,
                [&](int64_t doubles) { MeasureOperations(all, doubles, 1); });
  for_each_size(std::to_string(kAtOnce) + " operations of rank 0 on rank 1, and a flush: each",
                kLongestAtOnceBytes,
                [&](int64_t doubles) { MeasureOperations(all, doubles, kAtOnce); });
  for_each_size("ranks 0 and 1 in turn: one way", SIZE_MAX,
                [&](int64_t doubles) { MeasureNotifications(all, doubles); });
  if (all.targets_must_call()) return;
  for_each_size("lock, put, unlock of rank 0 on rank 1", SIZE_MAX,
                [&](int64_t doubles) { MeasureBusyTarget(all, doubles); });
}

}  // namespace brigade::bench
