// The C interface: completion of started calls, and plans.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "brigade/calls.h"
#include "patterns/api/handles.h"
#include "patterns/api/operation_handle.h"
#include "patterns/api/statistics.h"

using brigade::CheckPointer;
using brigade::Enter;
using brigade::Status;

namespace {

// Ends a complete or pending operation, and sets it to NULL.
Status End(brigade_operation** operation, brigade_statistics* statistics) {
  return brigade::WithStatistics(statistics, [&](brigade::OperationStatistics* did) {
    const std::unique_ptr<brigade_operation> ended(std::exchange(*operation, nullptr));
    return ended == nullptr ? Status() : ended->Wait(did);
  });
}

brigade_group* GroupOf(const brigade_operation* operation) {
  return operation == nullptr ? nullptr : operation->plan->group;
}

// Returns the index of the first operation that also has a smaller index; `count` if there is none.
size_t FindDuplicate(brigade_operation* const* operations, size_t count) {
  size_t index = 0;
  while (index < count &&
         (operations[index] == nullptr || !std::exchange(operations[index]->is_listed, true))) {
    ++index;
  }
  for (size_t i = 0; i < index; ++i) {
    if (operations[i] != nullptr) operations[i]->is_listed = false;
  }
  return index;
}

// Operations of an array are waited for together, so they have one engine. Each is ended once.
Status CheckArray(brigade_operation* const* operations, size_t count) {
  if (count == 0) return Status();
  BRIGADE_RETURN_IF_ERROR(CheckPointer("operations", operations));
  const brigade_engine* engine = nullptr;
  for (size_t i = 0; i < count; ++i) {
    if (operations[i] == nullptr) continue;
    const brigade_engine* const other = GroupOf(operations[i])->engine;
    if (engine != nullptr && other != engine) {
      return brigade::Invalid("operation " + std::to_string(i) + " is of another engine");
    }
    engine = other;
  }
  const size_t duplicate = FindDuplicate(operations, count);
  if (duplicate == count) return Status();
  return brigade::Invalid("operation " + std::to_string(duplicate) + " is in the array twice");
}

bool IsComplete(const brigade_operation* operation) {
  return operation == nullptr || operation->is_complete();
}

bool HasNone(brigade_operation* const* operations, size_t count) {
  return std::all_of(operations, operations + count,
                     [](const brigade_operation* o) { return o == nullptr; });
}

// Progresses once; if `waits` and no operation is complete, until a part of one is.
void Advance(brigade_operation* const* operations, size_t count, bool waits) {
  std::vector<brigade::Operation*> pending;
  for (size_t i = 0; i < count; ++i) {
    if (operations[i] == nullptr) continue;
    operations[i]->ListPending(&pending);
    waits = waits && !operations[i]->is_complete();
  }
  if (!pending.empty()) brigade::Operation::Advance(pending, waits);
}

// Ends the complete operations. Returns the first failure.
Status EndSome(brigade_operation** operations, size_t count, size_t* indices, size_t* ended) {
  Status outcome;
  *ended = 0;
  for (size_t i = 0; i < count; ++i) {
    if (operations[i] == nullptr || !operations[i]->is_complete()) continue;
    indices[(*ended)++] = i;
    const Status status = End(&operations[i], nullptr);
    if (outcome.ok()) outcome = status;
  }
  return outcome;
}

// Blocks until all operations are complete, and ends them. Returns the first failure.
Status EndAll(brigade_operation** operations, size_t count) {
  Status outcome;
  for (size_t i = 0; i < count; ++i) {
    const Status status = End(&operations[i], nullptr);
    if (outcome.ok()) outcome = status;
  }
  return outcome;
}

// Ends the first complete operation; *index is its place, or `count`.
Status EndOne(brigade_operation** operations, size_t count, size_t* index) {
  brigade_operation** const end = operations + count;
  brigade_operation** const first = std::find_if(
      operations, end, [](const brigade_operation* o) { return o != nullptr && o->is_complete(); });
  *index = static_cast<size_t>(first - operations);
  return first == end ? Status() : End(first, nullptr);
}

}  // namespace

int brigade_test(brigade_operation* operation) {
  int done = 1;
  (void)Enter(GroupOf(operation), [&] {
    done = operation == nullptr || operation->Test() ? 1 : 0;
    return Status();
  });
  return done;
}

brigade_status brigade_wait(brigade_operation* operation, brigade_statistics* statistics) {
  return Enter(GroupOf(operation), [&] { return End(&operation, statistics); });
}

brigade_status brigade_wait_all(brigade_operation** operations, size_t count) {
  return Enter(nullptr, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckArray(operations, count));
    return EndAll(operations, count);
  });
}

brigade_status brigade_wait_any(brigade_operation** operations, size_t count, size_t* index) {
  return Enter(nullptr, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("index", index));
    BRIGADE_RETURN_IF_ERROR(CheckArray(operations, count));
    for (;;) {
      Advance(operations, count, /*waits=*/true);
      const Status status = EndOne(operations, count, index);
      if (*index < count || HasNone(operations, count)) return status;
    }
  });
}

brigade_status brigade_wait_some(brigade_operation** operations, size_t count, size_t* indices,
                                 size_t* ended) {
  return Enter(nullptr, [&]() -> Status {
    if (count > 0) BRIGADE_RETURN_IF_ERROR(CheckPointer("indices", indices));
    BRIGADE_RETURN_IF_ERROR(CheckPointer("ended", ended));
    BRIGADE_RETURN_IF_ERROR(CheckArray(operations, count));
    for (;;) {
      Advance(operations, count, /*waits=*/true);
      const Status status = EndSome(operations, count, indices, ended);
      if (*ended > 0 || HasNone(operations, count)) return status;
    }
  });
}

brigade_status brigade_test_all(brigade_operation** operations, size_t count, int* done) {
  return Enter(nullptr, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("done", done));
    BRIGADE_RETURN_IF_ERROR(CheckArray(operations, count));
    Advance(operations, count, /*waits=*/false);
    const bool all = std::all_of(operations, operations + count, &IsComplete);
    *done = all ? 1 : 0;
    return all ? EndAll(operations, count) : Status();
  });
}

brigade_status brigade_test_any(brigade_operation** operations, size_t count, size_t* index,
                                int* done) {
  return Enter(nullptr, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("index", index));
    BRIGADE_RETURN_IF_ERROR(CheckPointer("done", done));
    BRIGADE_RETURN_IF_ERROR(CheckArray(operations, count));
    Advance(operations, count, /*waits=*/false);
    const Status status = EndOne(operations, count, index);
    *done = *index < count || HasNone(operations, count) ? 1 : 0;
    return status;
  });
}

brigade_status brigade_test_some(brigade_operation** operations, size_t count, size_t* indices,
                                 size_t* ended) {
  return Enter(nullptr, [&]() -> Status {
    if (count > 0) BRIGADE_RETURN_IF_ERROR(CheckPointer("indices", indices));
    BRIGADE_RETURN_IF_ERROR(CheckPointer("ended", ended));
    BRIGADE_RETURN_IF_ERROR(CheckArray(operations, count));
    Advance(operations, count, /*waits=*/false);
    return EndSome(operations, count, indices, ended);
  });
}

// --- plans ---

brigade_status brigade_plan_run(brigade_plan* plan, brigade_statistics* statistics) {
  return Enter(plan == nullptr ? nullptr : plan->group, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("plan", plan));
    return brigade::WithStatistics(
        statistics, [&](brigade::OperationStatistics* did) { return plan->Run(did); });
  });
}

brigade_status brigade_plan_start(brigade_plan* plan, brigade_operation** operation) {
  return Enter(plan == nullptr ? nullptr : plan->group, [&] {
    return brigade::MakeObject("operation", operation, [&](brigade_operation* started) -> Status {
      BRIGADE_RETURN_IF_ERROR(CheckPointer("plan", plan));
      started->plan = plan;
      return started->Start();
    });
  });
}

void brigade_plan_destroy(brigade_plan* plan) { delete plan; }
