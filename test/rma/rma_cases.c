/* An MPI program that knows nothing of us. Its output must be the same with and without the
   library. It checks results that MPI defines itself. Argument: the case. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "test/rma/check.h"

static int size, left, right;

static void print(const char* what, const double* values, int count) {
  char line[2000];
  int length = snprintf(line, sizeof(line), "%s on %d:", what, rank);
  for (int i = 0; i < count; ++i) {
    length += snprintf(line + length, sizeof(line) - length, " %g", values[i]);
  }
  puts(line);
}

/* Columns go right, rows come from the left, all add into rank 0. */
static void fence(void) {
  enum { kSide = 6 };
  double matrix[kSide * kSide], row[kSide], column_out[kSide], sums[kSide] = {0};
  for (int i = 0; i < kSide * kSide; ++i) matrix[i] = 1000 * rank + i;
  for (int i = 0; i < kSide; ++i) column_out[i] = -100 * rank - i;
  MPI_Datatype column;
  MPI_Type_vector(kSide, 1, kSide, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Win of_matrix, of_sums;
  MPI_Win_create(matrix, sizeof(matrix), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &of_matrix);
  MPI_Win_create(rank == 0 ? sums : NULL, rank == 0 ? sizeof(sums) : 0, 1, MPI_INFO_NULL,
                 MPI_COMM_WORLD, &of_sums);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, of_matrix);
  MPI_Put(column_out, kSide, MPI_DOUBLE, right, 3, 1, column, of_matrix);
  MPI_Put(column_out, kSide, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, column, of_matrix);
  MPI_Win_fence(0, of_matrix);
  MPI_Get(row, kSide, MPI_DOUBLE, left, kSide, kSide, MPI_DOUBLE, of_matrix);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, of_matrix);
  MPI_Type_free(&column);
  MPI_Win_fence(0, of_sums);
  MPI_Accumulate(column_out, kSide, MPI_DOUBLE, 0, 0, kSide, MPI_DOUBLE, MPI_SUM, of_sums);
  MPI_Win_fence(0, of_sums);
  print("matrix", matrix, kSide * kSide);
  print("row", row, kSide);
  print("sums", sums, kSide);
  MPI_Win_free(&of_matrix);
  MPI_Win_free(&of_sums);
  CHECK(of_matrix == MPI_WIN_NULL);
}

/* Post, start, complete, wait: to both neighbours. */
static void post(void) {
  double* inbox;
  MPI_Win win;
  MPI_Group all, neighbours;
  MPI_Win_allocate(2 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &inbox, &win);
  inbox[0] = inbox[1] = -1;
  MPI_Win_get_group(win, &all);
  const int both[] = {left, right};
  MPI_Group_incl(all, left == right ? 1 : 2, both, &neighbours);
  MPI_Group_free(&all);
  for (int turn = 0; turn < 20; ++turn) {
    const double value = 100 * turn + rank;
    MPI_Win_post(neighbours, 0, win);
    MPI_Win_start(neighbours, 0, win);
    MPI_Put(&value, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, win);
    MPI_Put(&value, 1, MPI_DOUBLE, left, 1, 1, MPI_DOUBLE, win);
    MPI_Win_complete(win);
    if (turn % 2 == 0) {
      MPI_Win_wait(win);
    } else {
      for (int over = 0; !over;) MPI_Win_test(win, &over);
    }
    CHECK(inbox[0] == 100 * turn + left);
    CHECK(inbox[1] == 100 * turn + right);
  }
  print("inbox", inbox, 2);
  MPI_Group_free(&neighbours);
  MPI_Win_free(&win);
}

/* Counters under all kinds of locks. */
static void lock(void) {
  enum { kTurns = 50 };
  int* counts;
  MPI_Win win;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &counts, &win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  memset(counts, 0, 4 * sizeof(int));
  MPI_Win_unlock(rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < kTurns; ++turn) {
    const int target = turn % size;
    int count = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Get(&count, 1, MPI_INT, target, 0, 1, MPI_INT, win);
    MPI_Win_flush(target, win);
    ++count;
    MPI_Put(&count, 1, MPI_INT, target, 0, 1, MPI_INT, win);
    MPI_Win_flush_local(target, win);
    MPI_Win_unlock(target, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  const int one = 1, three = 3;
  for (int turn = 0; turn < kTurns; ++turn) {
    int before = -1;
    MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 1, MPI_SUM, win);
    MPI_Win_flush(0, win);
    CHECK(before >= turn && before < size * kTurns);
    MPI_Accumulate(&three, 1, MPI_INT, right, 2, 1, MPI_INT, MPI_SUM, win);
    for (int free = 0, mine = rank + 1, seen = -1; seen != free;) { /* a spin lock */
      MPI_Compare_and_swap(&mine, &free, &seen, MPI_INT, 0, 3, win);
      MPI_Win_flush_local_all(win);
      MPI_Win_flush(0, win);
    }
    const int nobody = 0;
    MPI_Accumulate(&nobody, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush_all(win);
  }
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  int seen[4];
  MPI_Get_accumulate(NULL, 0, MPI_INT, seen, 4, MPI_INT, right, 0, 4, MPI_INT, MPI_NO_OP, win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  int sum = 0;
  MPI_Allreduce(counts, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * kTurns);
  CHECK(right != 0 || seen[1] == size * kTurns);
  CHECK(seen[2] == 3 * kTurns && seen[3] == 0);
  print("counts", (double[]){counts[0], counts[1], counts[2], counts[3]}, 4);
  MPI_Win_free(&win);
}

/* Ranks wait for their left one within locks that are not checked, as OpenCoarrays waits for
 * events. */
static void unchecked(void) {
  volatile int* posted;
  int twice = 2;
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &posted, &win);
  posted[0] = posted[1] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < 2; ++turn) {
    if (turn == 0) {
      MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    } else {
      MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK, win);
    }
    if (rank == turn) { /* has nobody to wait for */
      MPI_Put(&twice, 1, MPI_INT, rank, 1, 1, MPI_INT, win);
    } else {
      while (posted[0] == turn) MPI_Win_sync(win);
    }
    if (turn == 0) {
      MPI_Win_unlock_all(win);
    } else {
      MPI_Win_unlock(rank, win);
    }
    const int one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  print("posted", (double[]){posted[0], posted[1]}, 2);
  MPI_Win_free(&win);
}

/* Ranks do nothing but synchronise with what rank 0 puts. */
static void synced(void) {
  volatile int* flag;
  const int one = 1;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &win);
  *flag = 0;
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (int r = 1; rank == 0 && r < size; ++r) {
    MPI_Win_lock(MPI_LOCK_SHARED, r, 0, win);
    MPI_Put(&one, 1, MPI_INT, r, 0, 1, MPI_INT, win);
    MPI_Win_unlock(r, win);
  }
  while (rank != 0 && *flag == 0) MPI_Win_sync(win);
  MPI_Win_free(&win);
}

/* Nested datatypes on both sides, and pairs with gaps. */
static void types(void) {
  struct Mixed {
    char name[5];
    double values[3];
    short tail;
  } records[8], copied[8];
  memset(records, 0, sizeof(records));
  memset(copied, 0, sizeof(copied));
  for (int i = 0; i < 8; ++i) {
    snprintf(records[i].name, sizeof(records[i].name), "%d.%d", rank, i);
    for (int k = 0; k < 3; ++k) records[i].values[k] = 100 * rank + 10 * i + k;
    records[i].tail = (short)(7 * rank + i);
  }
  MPI_Datatype made, record, some;
  MPI_Type_create_struct(3, (int[]){5, 3, 1},
                         (MPI_Aint[]){offsetof(struct Mixed, name), offsetof(struct Mixed, values),
                                      offsetof(struct Mixed, tail)},
                         (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, &made);
  MPI_Type_create_resized(made, 0, sizeof(struct Mixed), &record);
  MPI_Type_indexed(3, (int[]){1, 2, 1}, (int[]){0, 3, 7}, record, &some);
  MPI_Type_commit(&record);
  MPI_Type_commit(&some);
  MPI_Win win;
  MPI_Win_create(records, sizeof(records), sizeof(records[0]), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Get(copied, 4, record, right, 0, 1, some, win);
  MPI_Get(&copied[4], 1, record, left, 5, 1, record, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < 5; ++i) {
    printf("record %d on %d: %s %g %g %g %d\n", i, rank, copied[i].name, copied[i].values[0],
           copied[i].values[1], copied[i].values[2], copied[i].tail);
  }
  MPI_Type_free(&made);
  MPI_Type_free(&record);
  MPI_Type_free(&some);
  MPI_Win_free(&win);
}

/* Calls that MPI does not define and MPI libraries accept. */
static void beyond(void) {
  const signed char minus[3] = {-2, -2, -2};
  const float one = 1;
  union {
    signed char signs[3];
    float number;
  } memory[2] = {{{1, 1, 1}}, {{0}}};
  MPI_Win win;
  MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Accumulate(&minus[0], 1, MPI_CHAR, right, 0, 1, MPI_CHAR, MPI_SUM, win);
  MPI_Accumulate(&minus[1], 1, MPI_CHAR, right, 1, 1, MPI_CHAR, MPI_MAX, win);
  MPI_Accumulate(&minus[2], 1, MPI_CHARACTER, right, 2, 1, MPI_CHARACTER, MPI_BAND, win);
  MPI_Accumulate(&one, 4, MPI_BYTE, right, 4, 1, MPI_FLOAT, MPI_REPLACE, win);
  MPI_Win_fence(0, win);
  print("beyond",
        (double[]){memory[0].signs[0], memory[0].signs[1], memory[0].signs[2], memory[1].number},
        4);
  MPI_Win_free(&win);
}

/* One piece of rank 0 that all work on, and parts of each that the others see and work on. */
static void shared(void) {
  int* mine;
  MPI_Win win;
  MPI_Win_allocate_shared(rank == 0 ? size * sizeof(int) : 0, sizeof(int), MPI_INFO_NULL,
                          MPI_COMM_WORLD, &mine, &win);
  MPI_Aint bytes;
  int unit, *all;
  MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &all);
  CHECK(bytes == (MPI_Aint)(size * sizeof(int)) && unit == sizeof(int));
  MPI_Win_fence(0, win);
  all[rank] = 10 + rank;
  MPI_Win_fence(0, win);
  for (int r = 0; r < size; ++r) CHECK(all[r] == 10 + r);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  for (int scattered = 0; scattered < 2; ++scattered) {
    MPI_Win_allocate_shared((1 + rank) * sizeof(int), sizeof(int), scattered ? info : MPI_INFO_NULL,
                            MPI_COMM_WORLD, &mine, &win);
    int* theirs;
    MPI_Win_shared_query(win, right, &bytes, &unit, &theirs);
    MPI_Win_lock_all(0, win);
    *mine = 20 + rank;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    CHECK(*theirs == 20 + right && bytes >= (MPI_Aint)((1 + right) * sizeof(int)));
    if (!scattered && rank < size - 1) CHECK(theirs == mine + 1 + rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const int one = 1;
    MPI_Accumulate(&one, 1, MPI_INT, left, left, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(left, win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(mine[rank] == (rank == 0 ? 21 : 1));
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
  }
  MPI_Info_free(&info);
}

static int deleted;
static int on_delete(MPI_Win win, int keyval, void* value, void* extra) {
  (void)keyval;
  (void)extra;
  int* unit;
  int flag;
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
  CHECK(flag && *unit == 4);
  deleted += *(int*)value;
  return MPI_SUCCESS;
}

/* Properties of a window besides its data. */
static void attributes(void) {
  int memory[8], value = 5, flag, keyval, length, *number;
  void* found;
  MPI_Aint* bytes;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm reversed;
  MPI_Win win;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Win_create(memory, sizeof(memory), 4, MPI_INFO_NULL, reversed, &win);
  MPI_Win_get_attr(win, MPI_WIN_BASE, &found, &flag);
  CHECK(flag && found == memory);
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag);
  CHECK(flag && *bytes == sizeof(memory));
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &number, &flag);
  CHECK(flag && *number == MPI_WIN_FLAVOR_CREATE);
  MPI_Win_get_attr(win, MPI_WIN_MODEL, &number, &flag);
  CHECK(flag && *number == MPI_WIN_UNIFIED);
  MPI_Win_set_name(win, "halo");
  MPI_Win_get_name(win, name, &length);
  CHECK(strcmp(name, "halo") == 0);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, NULL);
  MPI_Win_get_attr(win, keyval, &found, &flag);
  CHECK(!flag);
  MPI_Win_set_attr(win, keyval, &value);
  MPI_Win_get_attr(win, keyval, &found, &flag);
  CHECK(flag && found == &value);
  MPI_Group group, world;
  int place, in_world;
  MPI_Win_get_group(win, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_rank(group, &place);
  MPI_Group_translate_ranks(group, 1, &place, world, &in_world);
  CHECK(place == size - 1 - rank && in_world == rank);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Win_fence(0, win);
  MPI_Put(&rank, 1, MPI_INT, 0, place, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  for (int r = 0; place == 0 && r < size; ++r) CHECK(memory[r] == size - 1 - r);
  MPI_Win_free(&win);
  CHECK(deleted == value);
  MPI_Win_free_keyval(&keyval);
  MPI_Comm_free(&reversed);
}

/* A window that is cached on its communicator, and freed with it. */
static int free_cached(MPI_Comm comm, int keyval, void* win, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  return MPI_Win_free(win);
}

static void cached(void) {
  int *memory, keyval;
  MPI_Comm comm;
  MPI_Win win;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_cached, &keyval, NULL);
  MPI_Comm_set_attr(comm, keyval, &win);
  MPI_Comm_free_keyval(&keyval);
  MPI_Win_fence(0, win);
  MPI_Put(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK(*memory == left);
  MPI_Comm_free(&comm);
  CHECK(win == MPI_WIN_NULL);
}

/* Two windows at a time, which Open MPI may back by files of one name. */
static void halves(void) {
  MPI_Comm half;
  MPI_Win win;
  int* mine;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, half, &mine, &win);
  MPI_Win_fence(0, win);
  if (rank < 2) MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  if (rank < 2) CHECK(*mine == rank);
  MPI_Win_free(&win);
  MPI_Comm_free(&half);
}

static int handled;
static void on_error(MPI_Win* win, int* error, ...) {
  (void)win;
  handled = class_of(*error);
}

/* Mistakes, by MPI's classes. */
static void errors(void) {
  int memory[4] = {0}, value = 1;
  MPI_Win win;
  MPI_Errhandler handler;
  MPI_Group group;
  MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  CHECK(class_of(MPI_Put(&value, 1, MPI_INT, size, 0, 1, MPI_INT, win)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Put(&value, 1, MPI_INT, -7, 0, 1, MPI_INT, win)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Get(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_Put(&value, 1, MPI_INT, 0, -1, 1, MPI_INT, win)) == MPI_ERR_DISP);
  CHECK(class_of(MPI_Put(&value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win)) == MPI_ERR_TYPE);
  CHECK(class_of(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win)) ==
        MPI_ERR_OP);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  CHECK(class_of(MPI_Win_unlock(0, win)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_complete(win)) == MPI_ERR_RMA_SYNC);
  CHECK(class_of(MPI_Win_lock(12345, 0, 0, win)) == MPI_ERR_LOCKTYPE);
  CHECK(class_of(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win)) == MPI_ERR_RANK);
  MPI_Win_create_errhandler(on_error, &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Errhandler_free(&handler);
  MPI_Win_unlock(0, win);
  CHECK(handled == MPI_ERR_RMA_SYNC);
  MPI_Win_get_group(win, &group);
  MPI_Win_free(&win);
  MPI_Group_free(&group);
}

/* Beyond the window, which some MPIs do not look for. */
static void out_of_range(void) {
  int memory[4] = {0}, value[5] = {0};
  MPI_Win win;
  MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  CHECK(class_of(MPI_Put(value, 1, MPI_INT, right, 4, 1, MPI_INT, win)) == MPI_ERR_RMA_RANGE);
  CHECK(class_of(MPI_Put(value, 5, MPI_INT, right, 0, 5, MPI_INT, win)) == MPI_ERR_RMA_RANGE);
  CHECK(class_of(MPI_Put(value, 1, MPI_INT, right, 0, 2, MPI_INT, win)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_Accumulate(value, 1, MPI_INT, 0, 0, 1, MPI_FLOAT, MPI_SUM, win)) ==
        MPI_ERR_TYPE);
  CHECK(class_of(MPI_Accumulate(value, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win)) ==
        MPI_ERR_OP);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  CHECK(class_of(MPI_Put(value, 1, MPI_INT, right, 0, 1, MPI_INT, win)) == MPI_ERR_RMA_SYNC);
  MPI_Win_free(&win);
}

/* Pairs with a gap in each. */
static void pairs(void) {
  struct {
    short value;
    int place;
  } best[2] = {{-1, -1}, {-1, -1}}, mine[2] = {{(short)(rank % 2), 9 - rank}, {5, rank}};
  MPI_Win win;
  MPI_Win_create(best, sizeof(best), sizeof(best[0]), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Accumulate(mine, 2, MPI_SHORT_INT, 0, 0, 2, MPI_SHORT_INT, MPI_MAXLOC, win);
  MPI_Win_fence(0, win);
  if (rank == 0) CHECK(best[0].value == 1 && best[0].place == 9 - (size - 1 - size % 2));
  if (rank == 0) CHECK(best[1].value == 5 && best[1].place == 0);
  MPI_Win_free(&win);
}

static void fatal(void) {
  int memory = 0;
  MPI_Win win;
  MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  if (rank == 1) MPI_Put(&memory, 1, MPI_INT, 0, 77, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
}

/* Two ranks put to the same bytes in one epoch, and the owner gets some beside them. */
static void conflict(void) {
  int memory[3] = {0}, value = rank, got;
  MPI_Win win;
  MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
  MPI_Get(&got, 1, MPI_INT, 0, 2, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* Requests of both kinds in one array. */
static void requests(void) {
  enum { kCount = 4000 };
  static double mine[kCount], got[kCount], sum[2];
  int from_left = -1;
  MPI_Win win;
  for (int i = 0; i < kCount; ++i) mine[i] = rank + 0.001 * i;
  MPI_Win_create(mine, sizeof(mine), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  MPI_Request all[4];
  MPI_Irecv(&from_left, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &all[0]);
  MPI_Rget(got, kCount, MPI_DOUBLE, right, 0, kCount, MPI_DOUBLE, win, &all[1]);
  MPI_Isend(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &all[2]);
  MPI_Rget(sum, 2, MPI_DOUBLE, left, 7, 2, MPI_DOUBLE, win, &all[3]);
  MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
  CHECK(from_left == left && got[kCount - 1] == right + 0.001 * (kCount - 1));
  print("got", sum, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request one;
  MPI_Rput(got, 1, MPI_DOUBLE, right, 5, 1, MPI_DOUBLE, win, &one);
  MPI_Wait(&one, MPI_STATUS_IGNORE);
  const double two = 2;
  double before = -1;
  MPI_Raccumulate(&two, 1, MPI_DOUBLE, right, 6, 1, MPI_DOUBLE, MPI_PROD, win, &one);
  for (int over = 0; !over;) MPI_Test(&one, &over, MPI_STATUS_IGNORE);
  MPI_Win_flush_all(win);
  MPI_Rget_accumulate(&two, 1, MPI_DOUBLE, &before, 1, MPI_DOUBLE, right, 6, 1, MPI_DOUBLE, MPI_SUM,
                      win, &one);
  MPI_Wait(&one, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  print("mine and before", (double[]){mine[5], mine[6], before}, 3);
  MPI_Win_free(&win);
}

/* Whether the requests of an array are over, by one way of asking or another. */
static int are_over(int variant, int count, MPI_Request* all) {
  int over = 0, index = 0, done = 0, indices[8];
  switch (variant) {
    case 0:
      MPI_Waitall(count, all, MPI_STATUSES_IGNORE);
      return 1;
    case 1:
      for (int i = 0; i < count; ++i) MPI_Waitany(count, all, &index, MPI_STATUS_IGNORE);
      return 1;
    case 2:
      MPI_Waitsome(count, all, &done, indices, MPI_STATUSES_IGNORE);
      return done == MPI_UNDEFINED;
    case 3:
      MPI_Testall(count, all, &over, MPI_STATUSES_IGNORE);
      return over;
    case 4:
      MPI_Testany(count, all, &index, &over, MPI_STATUS_IGNORE);
      return over && index == MPI_UNDEFINED;
    case 5:
      MPI_Testsome(count, all, &done, indices, MPI_STATUSES_IGNORE);
      return done == MPI_UNDEFINED;
    case 6:
      for (int i = 0; i < count; ++i) {
        for (over = 0; !over;) MPI_Request_get_status(all[i], &over, MPI_STATUS_IGNORE);
        MPI_Wait(&all[i], MPI_STATUS_IGNORE);
      }
      return 1;
    default:
      for (int i = 0; i < count; ++i) {
        for (over = 0; !over;) MPI_Test(&all[i], &over, MPI_STATUS_IGNORE);
      }
      return 1;
  }
}

/* Each rank gets from its neighbour before that one may call anything: a wait in MPI_Rget would
   last for ever where targets have to call. */
static void overlap(void) {
  enum { kCount = 20000 };
  double* const mine = malloc((2 * kCount + 1) * sizeof(double));
  double* const got = malloc(kCount * sizeof(double));
  MPI_Win win;
  MPI_Win_create(mine, (2 * kCount + 1) * sizeof(double), sizeof(double), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  for (int variant = 0; variant < 8; ++variant) {
    for (int i = 0; i < kCount; ++i) mine[i] = rank + variant + 0.25 * i, mine[kCount + i] = 1;
    const int go = variant;
    int told = -1;
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    if (rank > 0) MPI_Recv(&told, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request all[4];
    MPI_Irecv(&told, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &all[0]);
    MPI_Rget(got, kCount, MPI_DOUBLE, right, 0, kCount, MPI_DOUBLE, win, &all[1]);
    MPI_Raccumulate(mine, kCount, MPI_DOUBLE, right, kCount, kCount, MPI_DOUBLE, MPI_SUM, win,
                    &all[2]);
    MPI_Isend(&go, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &all[3]);
    /* Its data are there at the latest when the lock is given back. */
    MPI_Request freed;
    MPI_Rput(&mine[3], 1, MPI_DOUBLE, right, 2 * kCount, 1, MPI_DOUBLE, win, &freed);
    MPI_Request_free(&freed);
    if (rank + 1 < size) MPI_Send(&go, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    while (!are_over(variant, 4, all)) continue;
    for (int i = 0; i < 4; ++i) CHECK(all[i] == MPI_REQUEST_NULL);
    CHECK(told == variant && got[0] == right + variant &&
          got[kCount - 1] == right + variant + 0.25 * (kCount - 1));
    MPI_Win_unlock_all(win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(mine[kCount + 1] == 1 + left + variant + 0.25 &&
          mine[2 * kCount] == left + variant + 0.75);
  }
  print("last", &mine[2 * kCount - 1], 2);
  MPI_Win_free(&win);
  free(mine);
  free(got);
}

/* Attaches 3 and 2 values, and returns where the right neighbour's are. */
static void attach(MPI_Win win, double* first, double* second, MPI_Aint theirs[2]) {
  MPI_Aint mine[2];
  CHECK(MPI_Win_attach(win, first, 3 * sizeof(double)) == MPI_SUCCESS);
  CHECK(MPI_Win_attach(win, second, 2 * sizeof(double)) == MPI_SUCCESS);
  MPI_Get_address(first, &mine[0]);
  MPI_Get_address(second, &mine[1]);
  MPI_Sendrecv(mine, 2, MPI_AINT, left, 0, theirs, 2, MPI_AINT, right, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

/* Memory that is attached, and whose addresses are sent by messages. */
static void dynamic(void) {
  double first[3] = {rank, 0, 0}, second[2] = {0, 10 + rank};
  MPI_Aint theirs[2];
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  attach(win, first, second, theirs);
  int *flavor, *unit, found;
  void* base = first;
  MPI_Aint* bytes;
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &found);
  CHECK(found && *flavor == MPI_WIN_FLAVOR_DYNAMIC);
  MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &found);
  CHECK(found && base == MPI_BOTTOM);
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &found);
  CHECK(found && *bytes == 0);
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &found);
  CHECK(found && *unit == 1);
  const double value = 100 + rank, one = 1;
  double got = -1, before = -1;
  MPI_Win_lock_all(0, win);
  MPI_Put(&value, 1, MPI_DOUBLE, right, theirs[0] + 8, 1, MPI_DOUBLE, win);
  MPI_Accumulate(&one, 1, MPI_DOUBLE, right, theirs[0] + 16, 1, MPI_DOUBLE, MPI_SUM, win);
  MPI_Get(&got, 1, MPI_DOUBLE, right, theirs[1] + 8, 1, MPI_DOUBLE, win);
  MPI_Fetch_and_op(&one, &before, MPI_DOUBLE, right, theirs[1], MPI_SUM, win);
  MPI_Win_flush(right, win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(got == 10 + right && before == 0);
  CHECK(first[1] == 100 + left && first[2] == 1 && second[0] == 1);
  print("attached", first, 3);
  CHECK(MPI_Win_detach(win, first) == MPI_SUCCESS);
  CHECK(MPI_Win_detach(win, second) == MPI_SUCCESS);
  MPI_Win_free(&win);
}

/* Addresses in datatypes, on both sides, behind MPI_BOTTOM. */
static void bottom(void) {
  double first[3] = {0, 1, 0}, second[2] = {0, 2};
  const double apart[3] = {7, 8, 9};
  double both[2] = {0, 0};
  MPI_Aint theirs[2], from[2];
  MPI_Datatype there, mine_apart;
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  attach(win, first, second, theirs);
  MPI_Get_address(&apart[0], &from[0]);
  MPI_Get_address(&apart[2], &from[1]);
  MPI_Type_create_hindexed_block(2, 1, from, MPI_DOUBLE, &mine_apart);
  const MPI_Aint places[2] = {theirs[1] + 8, theirs[0]};
  MPI_Type_create_hindexed_block(2, 1, places, MPI_DOUBLE, &there);
  MPI_Type_commit(&mine_apart);
  MPI_Type_commit(&there);
  const MPI_Aint here = (MPI_Aint)MPI_BOTTOM;
  MPI_Win_lock_all(0, win);
  CHECK(MPI_Put(MPI_BOTTOM, 1, mine_apart, right, here, 1, there, win) == MPI_SUCCESS);
  MPI_Win_flush(right, win);
  CHECK(MPI_Get(both, 2, MPI_DOUBLE, right, here, 1, there, win) == MPI_SUCCESS);
  MPI_Win_unlock_all(win);
  CHECK(both[0] == 7 && both[1] == 9);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(first[0] == 9 && first[1] == 1 && second[1] == 7);
  MPI_Type_free(&mine_apart);
  MPI_Type_free(&there);
  MPI_Win_free(&win);
}

/* Accesses to unattached memory. */
static void unattached(void) {
  double memory[2] = {1, 2}, value = 3;
  MPI_Aint mine, theirs;
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Get_address(memory, &mine);
  MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &theirs, 1, MPI_AINT, right, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(class_of(MPI_Win_detach(win, memory)) == MPI_ERR_RMA_ATTACH);
  CHECK(MPI_Win_attach(win, memory, sizeof(double)) == MPI_SUCCESS);
  CHECK(class_of(MPI_Win_attach(win, memory, 1)) == MPI_ERR_RMA_ATTACH);
  CHECK(MPI_Win_attach(win, NULL, 0) == MPI_SUCCESS);
  CHECK(MPI_Win_detach(win, NULL) == MPI_SUCCESS);
  CHECK(class_of(MPI_Win_detach(win, NULL)) == MPI_ERR_RMA_ATTACH);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
  CHECK(class_of(MPI_Put(&value, 1, MPI_DOUBLE, right, theirs + 8, 1, MPI_DOUBLE, win)) ==
        MPI_ERR_RMA_RANGE);
  CHECK(MPI_Put(&value, 1, MPI_DOUBLE, right, theirs, 1, MPI_DOUBLE, win) == MPI_SUCCESS);
  MPI_Win_unlock(right, win);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(memory[0] == 3 && memory[1] == 2);
  MPI_Win_free(&win);
  MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Win_attach(win, &value, 8)) == MPI_ERR_RMA_FLAVOR);
  MPI_Win_free(&win);
}

/* Memory that MPI has allocated: windows of parts of it, and of what has been freed meanwhile. */
static void allocated(void) {
  enum { kCount = 5000 };
  double *all, *other, *nothing;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#ifdef OPEN_MPI /* MPICH says that it has so much. */
  CHECK(class_of(MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &all)) == MPI_ERR_NO_MEM);
#endif
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(MPI_Alloc_mem(kCount * sizeof(double), MPI_INFO_NULL, &all) == MPI_SUCCESS);
    CHECK(MPI_Alloc_mem(kCount * sizeof(double), MPI_INFO_NULL, &other) == MPI_SUCCESS);
    CHECK(MPI_Alloc_mem(0, MPI_INFO_NULL, &nothing) == MPI_SUCCESS);
    for (int i = 0; i < kCount; ++i) all[i] = other[i] = -1 - rank;
    double* const part = all + 7 + rank;
    MPI_Win win, beside;
    MPI_Win_create(part, (kCount - 10 - rank) * sizeof(double), sizeof(double), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    MPI_Win_create(other, kCount * sizeof(double), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &beside);
    MPI_Win_fence(0, win);
    MPI_Win_fence(0, beside);
    const double values[2] = {10 * turn + rank, 0.5};
    double got = 0;
    MPI_Put(values, 2, MPI_DOUBLE, right, 3, 2, MPI_DOUBLE, win);
    MPI_Accumulate(values, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Get(&got, 1, MPI_DOUBLE, left, (kCount - 1) * sizeof(double), 1, MPI_DOUBLE, beside);
    MPI_Win_fence(0, win);
    MPI_Win_fence(0, beside);
    CHECK(part[3] == 10 * turn + left && part[4] == 0.5 && part[2] == -1 - rank);
    CHECK(got == -1 - left && part[0] == -1 - rank + 10 * turn + left);
    print("part", part, 6);
    MPI_Win_free(&win);
    MPI_Win_free(&beside);
    CHECK(MPI_Free_mem(all) == MPI_SUCCESS);
    CHECK(MPI_Free_mem(other) == MPI_SUCCESS);
    CHECK(MPI_Free_mem(nothing) == MPI_SUCCESS);
  }
}

/* The same where the kernel reads and writes no memory of others: it is mapped. */
static void mapped(void) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog filter = {sizeof(rules) / sizeof(rules[0]), rules};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
  allocated();
}

static void check_level(int wanted) {
  int level;
  MPI_Query_thread(&level);
  CHECK(level == wanted);
}

enum { kLocked, kPosted, kFenced, kWindows = kFenced + 2, kAdded = 100 };
static MPI_Win of_threads[kWindows];
static MPI_Group right_alone;

static void add_and_flush(void) {
  const int one = 1;
  for (int i = 0; i < kAdded; ++i) {
    MPI_Accumulate(&one, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, of_threads[kLocked]);
    MPI_Win_flush(right, of_threads[kLocked]);
  }
}

/* Waits for what the other threads do. */
static void* waiting_thread(void* nothing) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, of_threads[kLocked]);
  const int one = 1, value = 10 + rank;
  MPI_Accumulate(&one, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, of_threads[kLocked]);
  MPI_Win_unlock(right, of_threads[kLocked]);
  MPI_Win_start(right_alone, 0, of_threads[kPosted]);
  MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, of_threads[kPosted]);
  MPI_Win_complete(of_threads[kPosted]);
  MPI_Win_fence(0, of_threads[kFenced + rank % 2]);
  return nothing;
}

static void* adding_thread(void* nothing) {
  add_and_flush();
  return nothing;
}

/* One thread of each rank waits. Another thread, of this or another rank, ends the wait a little
 * later. */
static void threads(void) {
  const struct timespec later = {0, 50000000};
  int* memory[kWindows];
  pthread_t other;
  MPI_Group all, left_alone;
  check_level(MPI_THREAD_MULTIPLE);
  for (int i = 0; i < kWindows; ++i) {
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory[i], &of_threads[i]);
    *memory[i] = 0;
  }
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &right, &right_alone);
  MPI_Group_incl(all, 1, &left, &left_alone);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, of_threads[kLocked]);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(pthread_create(&other, NULL, waiting_thread, NULL) == 0);
  nanosleep(&later, NULL);
  MPI_Win_unlock(rank, of_threads[kLocked]);
  nanosleep(&later, NULL);
  MPI_Win_post(left_alone, 0, of_threads[kPosted]);
  MPI_Win_wait(of_threads[kPosted]);
  CHECK(*memory[kPosted] == 10 + left);
  nanosleep(&later, NULL);
  MPI_Win_fence(0, of_threads[kFenced + (rank + 1) % 2]);
  pthread_join(other, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(*memory[kLocked] == 1);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_lock_all(0, of_threads[kLocked]);
  CHECK(pthread_create(&other, NULL, adding_thread, NULL) == 0);
  add_and_flush();
  pthread_join(other, NULL);
  MPI_Win_unlock_all(of_threads[kLocked]);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(*memory[kLocked] == 1 + 2 * kAdded);
  for (int i = 0; i < kWindows; ++i) MPI_Win_free(&of_threads[i]);
  MPI_Group_free(&all);
  MPI_Group_free(&left_alone);
  MPI_Group_free(&right_alone);
}

enum { kMakers = 3 };
static MPI_Comm of_makers[kMakers];

static void make_window(MPI_Comm comm, int value) {
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, comm, &memory, &win);
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK(*memory == value);
  MPI_Win_free(&win);
}

static void* making_thread(void* number) {
  const int n = *(int*)number;
  for (int i = 0; i < 20; ++i) {
    const struct timespec pause = {0, 100000 * ((n + rank + i) % 3)};
    nanosleep(&pause, NULL);
    make_window(of_makers[n], 100 * n + i);
  }
  return NULL;
}

/* Threads that make windows of their own at the same time, in any order on each rank. And one rank
 * comes to make a window only after messages of another thread of those who have come. */
static void makers(void) {
  const struct timespec later = {0, 50000000};
  int numbers[kMakers], got = 0;
  pthread_t threads[kMakers];
  MPI_Request request;
  check_level(MPI_THREAD_MULTIPLE);
  for (int i = 0; i < kMakers; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &of_makers[i]);
  for (int i = 0; i < kMakers; ++i) {
    numbers[i] = i;
    CHECK(pthread_create(&threads[i], NULL, making_thread, &numbers[i]) == 0);
  }
  for (int i = 0; i < kMakers; ++i) pthread_join(threads[i], NULL);

  if (rank != 1) CHECK(pthread_create(&threads[0], NULL, making_thread, &numbers[0]) == 0);
  if (rank == 0) nanosleep(&later, NULL);
  for (int i = 0; i < 3 && rank < 2; ++i) {
    for (int turn = 0; turn < 2; ++turn) {
      if (rank == turn) MPI_Isend(&i, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
      if (rank != turn) MPI_Irecv(&got, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(got == i);
  }
  if (rank == 1) making_thread(&numbers[0]);
  if (rank != 1) pthread_join(threads[0], NULL);
  for (int i = 0; i < kMakers; ++i) MPI_Comm_free(&of_makers[i]);
}

enum { kTypers = 4, kTypes = 32 };
static MPI_Win typed;

static void* typing_thread(void* first) {
  for (int round = 0; round < 2000; ++round) {
    MPI_Datatype types[kTypes];
    for (int i = 0; i < kTypes; ++i) {
      const int values[4] = {round, 0, round, round};
      MPI_Type_vector(2, 1, 2 + i % 2, MPI_INT, &types[i]);
      MPI_Type_commit(&types[i]);
      MPI_Put(values, 1, types[i], rank, *(int*)first, 1, types[i], typed);
    }
    for (int i = 0; i < kTypes; ++i) MPI_Type_free(&types[i]);
  }
  return NULL;
}

/* Threads that free datatypes while others work with theirs. */
static void typers(void) {
  int *memory, first[kTypers];
  pthread_t threads[kTypers];
  check_level(MPI_THREAD_MULTIPLE);
  MPI_Win_allocate(4 * kTypers * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                   &typed);
  MPI_Win_lock_all(0, typed);
  for (int i = 0; i < kTypers; ++i) {
    first[i] = 4 * i;
    CHECK(pthread_create(&threads[i], NULL, typing_thread, &first[i]) == 0);
  }
  for (int i = 0; i < kTypers; ++i) pthread_join(threads[i], NULL);
  MPI_Win_unlock_all(typed);
  for (int i = 0; i < kTypers; ++i) CHECK(memory[4 * i] == 1999 && memory[4 * i + 3] == 1999);
  MPI_Win_free(&typed);
}

static MPI_Win beside;

static void* putting_beside(void* value) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, beside);
  MPI_Put(value, 1, MPI_INT, right, 0, 1, MPI_INT, beside);
  MPI_Win_unlock(right, beside);
  return NULL;
}

static int on_delete_with_thread(MPI_Win win, int keyval, void* value, void* extra) {
  pthread_t other;
  CHECK(pthread_create(&other, NULL, putting_beside, value) == 0);
  pthread_join(other, NULL);
  return on_delete(win, keyval, value, extra);
}

static void on_error_with_thread(MPI_Win* win, int* error, ...) {
  int value = 20 + rank;
  pthread_t other;
  CHECK(pthread_create(&other, NULL, putting_beside, &value) == 0);
  pthread_join(other, NULL);
  on_error(win, error);
}

/* Error handlers, and callbacks of a window that is freed, wait for a thread that works with
   another one. */
static void callbacks(void) {
  int *memory, *unused, value = 10 + rank, keyval;
  MPI_Win win;
  MPI_Errhandler handler;
  check_level(MPI_THREAD_MULTIPLE);
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &beside);
  MPI_Win_allocate(sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &unused, &win);
  MPI_Win_create_errhandler(on_error_with_thread, &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Errhandler_free(&handler);
  MPI_Win_unlock(0, win);
  CHECK(handled == MPI_ERR_RMA_SYNC);
  MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win);
  CHECK(handled == MPI_ERR_COUNT);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(*memory == 20 + left);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete_with_thread, &keyval, NULL);
  MPI_Win_set_attr(win, keyval, &value);
  MPI_Win_free(&win);
  CHECK(deleted == value);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(*memory == 10 + left);
  MPI_Win_free_keyval(&keyval);
  MPI_Win_free(&beside);
}

/* Computes in a second thread while the main thread, which alone calls MPI, is within calls. */
static void* computing_thread(void* values) {
  for (int i = 0; i < kAdded; ++i) ((double*)values)[i] += rank + i;
  return NULL;
}

static void funneled(void) {
  double values[kAdded] = {0}, *memory;
  pthread_t other;
  MPI_Win win;
  check_level(MPI_THREAD_FUNNELED);
  MPI_Win_allocate(sizeof(values), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_fence(0, win);
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(pthread_create(&other, NULL, computing_thread, values) == 0);
    MPI_Win_fence(0, win);
    pthread_join(other, NULL);
    MPI_Put(values, kAdded, MPI_DOUBLE, right, 0, kAdded, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    CHECK(pthread_create(&other, NULL, computing_thread, memory) == 0);
    pthread_join(other, NULL);
    print("funneled", memory, kAdded);
  }
  MPI_Win_free(&win);
}

/* Threads take turns: each is within calls alone, and an epoch that one begins another ends. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void* adding_in_turn(void* win) {
  const int one = 1;
  for (int i = 0; i < kAdded; ++i) {
    pthread_mutex_lock(&one_at_a_time);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, *(MPI_Win*)win);
    MPI_Accumulate(&one, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, *(MPI_Win*)win);
    MPI_Win_unlock(right, *(MPI_Win*)win);
    pthread_mutex_unlock(&one_at_a_time);
  }
  return NULL;
}

static void* putting_thread(void* win) {
  const int value = 10 + rank;
  MPI_Win_start(right_alone, 0, *(MPI_Win*)win);
  MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, *(MPI_Win*)win);
  MPI_Win_complete(*(MPI_Win*)win);
  MPI_Win_wait(*(MPI_Win*)win);
  MPI_Win_fence(0, *(MPI_Win*)win);
  MPI_Accumulate(&value, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, *(MPI_Win*)win);
  return NULL;
}

static void serialized(void) {
  int* memory;
  pthread_t other;
  MPI_Win win;
  MPI_Group all, left_alone;
  check_level(MPI_THREAD_SERIALIZED);
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(pthread_create(&other, NULL, adding_in_turn, &win) == 0);
  adding_in_turn(&win);
  pthread_join(other, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(*memory == 2 * kAdded);

  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &right, &right_alone);
  MPI_Group_incl(all, 1, &left, &left_alone);
  MPI_Win_post(left_alone, 0, win);
  CHECK(pthread_create(&other, NULL, putting_thread, &win) == 0);
  pthread_join(other, NULL);
  MPI_Win_fence(0, win);
  CHECK(*memory == 2 * (10 + left));
  MPI_Group_free(&all);
  MPI_Group_free(&left_alone);
  MPI_Group_free(&right_alone);
  MPI_Win_free(&win);
}

/* Rank 0 computes, without a call, until the others have reached its memory. */
static void computing(void) {
  double memory = 0;
  MPI_Win win;
  MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    while (*(volatile double*)&memory != size - 1) continue;
  } else {
    const double one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Win_free(&win);
}

/* A window of a communicator on which a collective call of the program is pending, and which the
   program frees before the window. */
static void pending(void) {
  int mine = rank, sum = -1, memory = -1;
  MPI_Comm comm;
  MPI_Request request;
  MPI_Win win;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, comm, &win);
  MPI_Comm_free(&comm);
  MPI_Win_fence(0, win);
  MPI_Put(&mine, 1, MPI_INT, right, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(memory == left && sum == size * (size - 1) / 2);
  MPI_Win_free(&win);
}

/* A window that is never freed, and one of a single rank. */
static void forgotten(void) {
  int memory = 0, mine = 3;
  MPI_Win win, alone;
  MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  int* own;
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_SELF, &own, &alone);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, alone);
  MPI_Put(&mine, 1, MPI_INT, 0, 0, 1, MPI_INT, alone);
  MPI_Win_unlock(0, alone);
  CHECK(*own == 3);
  MPI_Win_free(&alone);
}

/* Two windows that are never freed, with delete callbacks that use them: one rank holds a lock of
   the first when MPI ends. */
static void held(void) {
  static int memory[2];
  int keyval;
  MPI_Win wins[2];
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, NULL);
  for (int i = 0; i < 2; ++i) {
    MPI_Win_create(&memory[i], sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[i]);
    MPI_Win_set_attr(wins[i], keyval, &memory[i]);
  }
  if (rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, right, 0, wins[0]);
}

/* All keep a window locked until MPI ends. The last rank uses it when the others are there. */
static void locked(void) {
  int *memory, mine = rank, old = -1;
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memory[0] = memory[1] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  MPI_Put(&mine, 1, MPI_INT, right, 0, 1, MPI_INT, win);
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank < size - 1) return;
  usleep(200000);
  MPI_Fetch_and_op(&mine, &old, MPI_INT, 0, 1, MPI_SUM, win);
  MPI_Win_flush(0, win);
  MPI_Win_sync(win);
  CHECK(memory[0] == left && old == 0);
}

static const struct {
  const char* name;
  void (*run)(void);
} kCases[] = {{"fence", fence},         {"post", post},
              {"lock", lock},           {"types", types},
              {"shared", shared},       {"attributes", attributes},
              {"cached", cached},       {"errors", errors},
              {"fatal", fatal},         {"requests", requests},
              {"overlap", overlap},     {"allocated", allocated},
              {"mapped", mapped},       {"pending", pending},
              {"threads", threads},     {"funneled", funneled},
              {"computing", computing}, {"serialized", serialized},
              {"forgotten", forgotten}, {"held", held},
              {"locked", locked},       {"out_of_range", out_of_range},
              {"pairs", pairs},         {"halves", halves},
              {"unchecked", unchecked}, {"synced", synced},
              {"dynamic", dynamic},     {"unattached", unattached},
              {"bottom", bottom},       {"conflict", conflict},
              {"typers", typers},       {"makers", makers},
              {"callbacks", callbacks}, {"beyond", beyond}};

int main(int argc, char** argv) {
  CHECK(argc == 2);
  int level = MPI_THREAD_SINGLE;
  for (const char *name[] = {"threads", "typers", "makers", "callbacks", NULL}, **n = name;
       *n != NULL; ++n) {
    if (strcmp(argv[1], *n) == 0) level = MPI_THREAD_MULTIPLE;
  }
  if (strcmp(argv[1], "funneled") == 0) level = MPI_THREAD_FUNNELED;
  if (strcmp(argv[1], "serialized") == 0) level = MPI_THREAD_SERIALIZED;
  MPI_Init_thread(&argc, &argv, level, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); ++i) {
    if (strcmp(argv[1], kCases[i].name) != 0) continue;
    kCases[i].run();
    MPI_Finalize();
    return 0;
  }
  fprintf(stderr, "there is no case %s\n", argv[1]);
  return 2;
}
