// Put, get and accumulate in memory of this process and of another, against what they mean byte by
// byte.

#include "windows/memory/target_memory.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "membuf/accumulate.h"
#include "transport/host_memory/shared_segment.h"
#include "windows/layout/random_layout.h"
#include "windows/layout/typed_layout.h"
#include "windows/memory/exposed_memory.h"

namespace brigade {
namespace {

constexpr int kMembers = 3;
constexpr int64_t kBytes = 2 * kRoom;

std::byte* NewPages(size_t bytes) {
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(pages, MAP_FAILED);
  return static_cast<std::byte*>(pages);
}

std::unique_ptr<ExposedMemory> Expose(WindowMemory kind, std::byte* memory, size_t bytes) {
  std::unique_ptr<ExposedMemory> exposed;
  const Status status = ExposedMemory::Create(kind, memory, bytes, 1, kMembers, &exposed);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return exposed;
}

// A process that exposes memory, does `work`, and lives until it is ended.
class Owner {
 public:
  Owner(WindowMemory kind, std::byte* memory, size_t bytes,
        const std::function<void(ExposedMemory*)>& work = {}) {
    int attributes[2];
    int end[2];
    EXPECT_EQ(pipe(attributes), 0);
    EXPECT_EQ(pipe(end), 0);
    process_ = fork();
    if (process_ == 0) {
      close(end[1]);
      const std::unique_ptr<ExposedMemory> exposed = Expose(kind, memory, bytes);
      bool ok = write(attributes[1], &exposed->attributes(), sizeof(MemberAttributes)) ==
                sizeof(MemberAttributes);
      if (work) work(exposed.get());
      char nothing;
      ok = read(end[0], &nothing, 1) == 0 && ok;
      _exit(ok ? 0 : 1);
    }
    EXPECT_EQ(read(attributes[0], &attributes_, sizeof(attributes_)),
              static_cast<ssize_t>(sizeof(attributes_)));
    for (const int fd : {attributes[0], attributes[1], end[0]}) close(fd);
    end_ = end[1];
  }
  ~Owner() { End(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  const MemberAttributes& attributes() const { return attributes_; }
  // It is done with its work.
  void End() {
    if (end_ < 0) return;
    close(end_);
    end_ = -1;
    int status = -1;
    EXPECT_EQ(waitpid(process_, &status, 0), process_);
    EXPECT_EQ(status, 0);
  }
  // Leaves a zombie until `Bury`.
  void Kill() {
    kill(process_, SIGKILL);
    siginfo_t info;
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOWAIT), 0);
    close(end_);
    end_ = -1;
  }
  void Bury() { EXPECT_EQ(waitpid(process_, nullptr, 0), process_); }

 private:
  pid_t process_;
  int end_;
  MemberAttributes attributes_;
};

std::unique_ptr<TargetMemory> Open(const MemberAttributes& target) {
  return TargetMemory::Open(target, Host::Here(), kMembers);
}

// Whether this process may read and write the memory of those it made.
bool KernelWayIsAllowed() {
  static const bool allowed = [] {
    int probe = 0;
    const pid_t child = fork();
    if (child == 0) _exit(pause());
    iovec range{&probe, sizeof(probe)};
    const bool is_refused =
        process_vm_readv(child, &range, 1, &range, 1, 0) < 0 && (errno == EPERM || errno == ENOSYS);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return !is_refused;
  }();
  return allowed;
}

#define SKIP_UNLESS_ALLOWED() \
  if (!KernelWayIsAllowed()) GTEST_SKIP() << "process_vm_readv is not allowed here"

struct Access {
  const char* name;
  bool is_own;
  WindowMemory kind;
};

void PrintTo(const Access& access, std::ostream* out) { *out << access.name; }

// Memory of kBytes zeros, reached in one of the ways.
class AccessTest : public ::testing::TestWithParam<Access> {
 protected:
  void SetUp() override {
    const Access& access = GetParam();
    const bool by_kernel = !access.is_own && access.kind == WindowMemory::kPrivate;
    if (by_kernel) SKIP_UNLESS_ALLOWED();
    std::byte* const memory = NewPages(kBytes);
    if (access.is_own) {
      exposed_ = Expose(access.kind, memory, kBytes);
      target_ = Open(exposed_->attributes());
    } else {
      owner_ = std::make_unique<Owner>(access.kind, memory, kBytes);
      target_ = Open(owner_->attributes());
    }
    ASSERT_NE(target_, nullptr);
    EXPECT_EQ(target_->mapped() == nullptr, by_kernel);
    if (exposed_ != nullptr) {
      EXPECT_EQ(target_->mapped(), exposed_->base());
    }
  }

  std::vector<std::byte> Contents() {
    std::vector<std::byte> contents(kBytes);
    LayoutCursor from(&all_, 1);
    LayoutCursor to(&all_, 1);
    EXPECT_TRUE(target_->Get(&from, 0, kBytes, &to, contents.data()).ok());
    return contents;
  }
  void SetContents(const std::vector<std::byte>& contents) {
    LayoutCursor from(&all_, 1);
    LayoutCursor to(&all_, 1);
    EXPECT_TRUE(target_->Put(&from, contents.data(), kBytes, &to, 0).ok());
  }

  const TypedLayout all_ = TypedLayout::Run(Element::kByte, kBytes);
  std::unique_ptr<ExposedMemory> exposed_;
  std::unique_ptr<Owner> owner_;
  std::unique_ptr<TargetMemory> target_;
};

INSTANTIATE_TEST_SUITE_P(Memory, AccessTest,
                         ::testing::Values(Access{"OwnShared", true, WindowMemory::kShared},
                                           Access{"OwnPrivate", true, WindowMemory::kPrivate},
                                           Access{"OthersShared", false, WindowMemory::kShared},
                                           Access{"OthersPrivate", false, WindowMemory::kPrivate}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(AccessTest, Put) {
  std::vector<std::byte> expected(kBytes);
  ForMany([&](Random* random) {
    const ListedLayout from = random->Layout(4);
    const ListedLayout to = random->Layout(4);
    const int64_t bytes = std::min(from.layout.size(), to.layout.size());
    const std::vector<std::byte> memory = random->Bytes(kBytes);
    for (int64_t i = 0; i < bytes; ++i) {
      expected[kRoom + to.offsets[i]] = memory[kRoom + from.offsets[i]];
    }
    LayoutCursor source(&from.layout, 1);
    LayoutCursor target(&to.layout, 1);
    const std::byte* const origin = memory.data() + kRoom;
    const int64_t first = random->AtMost(bytes);
    ASSERT_TRUE(target_->Put(&source, origin, first, &target, kRoom).ok());
    EXPECT_EQ(target.position(), first);
    ASSERT_TRUE(target_->Put(&source, origin, bytes - first, &target, kRoom).ok());
    EXPECT_EQ(source.position(), bytes);
    ASSERT_EQ(Contents(), expected);
  });
}

TEST_P(AccessTest, Get) {
  Random once(1);
  const std::vector<std::byte> memory = once.Bytes(kBytes);
  SetContents(memory);
  ForMany([&](Random* random) {
    const ListedLayout from = random->Layout(4);
    const ListedLayout to = random->Layout(4);
    const int64_t bytes = std::min(from.layout.size(), to.layout.size());
    std::vector<std::byte> expected(kBytes);
    std::vector<std::byte> actual(kBytes);
    for (int64_t i = 0; i < bytes; ++i) {
      expected[kRoom + to.offsets[i]] = memory[kRoom + from.offsets[i]];
    }
    LayoutCursor source(&from.layout, 1);
    LayoutCursor target(&to.layout, 1);
    const int64_t first = random->AtMost(bytes);
    ASSERT_TRUE(target_->Get(&source, kRoom, first, &target, actual.data() + kRoom).ok());
    ASSERT_TRUE(target_->Get(&source, kRoom, bytes - first, &target, actual.data() + kRoom).ok());
    EXPECT_EQ(source.position(), bytes);
    ASSERT_EQ(actual, expected);
  });
}

// More runs than one system call takes, which begin and end at different places on either side.
TEST_P(AccessTest, ManyRuns) {
  TypedLayout one;
  TypedLayout other;
  const auto run = [](int64_t bytes) { return TypedLayout::Run(Element::kByte, bytes); };
  ASSERT_TRUE(TypedLayout::Repeat(5000, 7, run(3), &one).ok());
  ASSERT_TRUE(TypedLayout::Repeat(3000, 12, run(5), &other).ok());
  Random random(1);
  const std::vector<std::byte> memory = random.Bytes(kBytes);
  LayoutCursor there(&one, 1);
  LayoutCursor here(&other, 1);
  ASSERT_TRUE(target_->Put(&here, memory.data(), 15000, &there, 1).ok());
  std::vector<std::byte> expected(kBytes);
  for (int64_t i = 0; i < 15000; ++i) expected[1 + i / 3 * 7 + i % 3] = memory[i / 5 * 12 + i % 5];
  EXPECT_EQ(Contents(), expected);
  std::vector<std::byte> back(kBytes);
  there.Seek(0);
  here.Seek(0);
  ASSERT_TRUE(target_->Get(&there, 1, 15000, &here, back.data()).ok());
  for (int64_t i = 0; i < 15000; ++i) {
    ASSERT_EQ(back[i / 5 * 12 + i % 5], memory[i / 5 * 12 + i % 5]);
  }
}

TEST_P(AccessTest, Accumulate) {
  Random once(1);
  std::vector<std::byte> expected = once.Bytes(kBytes);
  SetContents(expected);
  ForMany([&](Random* random) {
    const std::pair<CombineOp, Element> kinds[] = {
        {CombineOp::kSum, Element::kUint32},  {CombineOp::kMinLocation, Element::kShortAndInt},
        {CombineOp::kSum, Element::kDouble},  {CombineOp::kReplace, Element::kMixed},
        {CombineOp::kNoOp, Element::kMixed},  {CombineOp::kMaxLocation, Element::kDoubleAndInt},
        {CombineOp::kBitXor, Element::kByte},
    };
    const auto [op, element] = kinds[random->AtMost(6)];
    const ListedLayout from = random->Pieces(300);
    const ListedLayout to = random->Pieces(300);
    const int64_t unit = element == Element::kMixed ? 1 : ElementBytes(element);
    const int64_t bytes = std::min(from.layout.size(), to.layout.size()) / unit * unit;
    const std::vector<std::byte> memory = random->Bytes(kBytes);
    const int64_t at = random->AtMost(1000);
    std::vector<std::byte> operand(bytes);
    std::vector<std::byte> old(bytes);
    for (int64_t i = 0; i < bytes; ++i) {
      operand[i] = memory[from.offsets[i]];
      old[i] = expected[at + to.offsets[i]];
    }
    std::vector<std::byte> combined = old;
    if (op == CombineOp::kReplace) combined = operand;
    if (element != Element::kMixed) {
      Accumulate(op, element, bytes / unit, combined.data(), operand.data());
    }
    for (int64_t i = 0; i < bytes; ++i) expected[at + to.offsets[i]] = combined[i];
    LayoutCursor source(&from.layout, 1);
    LayoutCursor target(&to.layout, 1);
    std::vector<std::byte> fetched(bytes);
    const bool fetches = random->AtMost(1) == 0;
    const bool no_op = op == CombineOp::kNoOp;
    ASSERT_TRUE(target_
                    ->Accumulate(op, element, no_op ? nullptr : &source,
                                 no_op ? nullptr : memory.data(), bytes, &target, at,
                                 fetches ? fetched.data() : nullptr)
                    .ok());
    ASSERT_EQ(fetched, fetches ? old : std::vector<std::byte>(bytes));
    EXPECT_EQ(target.position(), bytes);
    EXPECT_EQ(source.position(), no_op ? 0 : bytes);
    ASSERT_EQ(Contents(), expected);
  });
}

TEST_P(AccessTest, ThePageIsTheOwners) {
  const MemberPage page = target_->page();
  EXPECT_TRUE(page.combining().TryLock(2));
  bool granted = false;
  EXPECT_TRUE(page.locks().Request(1, LockKind::kExclusive, false, &granted).ok());
  page.notified(2).fetch_add(1);
  const auto again = Open(exposed_ != nullptr ? exposed_->attributes() : owner_->attributes());
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->page().combining().holder(), 2);
  EXPECT_TRUE(again->page().locks().Holds(1));
  EXPECT_EQ(again->page().notified(2).load(), 1U);
}

// Each adds to the same number, the owner and this process.
void AddOften(const TargetMemory& target, int rank) {
  const TypedLayout number = TypedLayout::Run(Element::kInt64, 1);
  const int64_t one = 1;
  for (int i = 0; i < 10000; ++i) {
    while (!target.page().combining().TryLock(rank)) sched_yield();
    if (i % 64 == 0) sched_yield();  // so that the other comes meanwhile
    LayoutCursor from(&number, 1);
    LayoutCursor to(&number, 1);
    EXPECT_TRUE(target
                    .Accumulate(CombineOp::kSum, Element::kInt64, &from,
                                reinterpret_cast<const std::byte*>(&one), 8, &to, 8, nullptr)
                    .ok());
    target.page().combining().Unlock();
  }
}

TEST(TargetMemoryTest, AccumulatesOfTwoProcessesAreAtomic) {
  for (const WindowMemory kind : {WindowMemory::kShared, WindowMemory::kPrivate}) {
    if (kind == WindowMemory::kPrivate) SKIP_UNLESS_ALLOWED();
    std::byte* const memory = NewPages(4096);
    Owner owner(kind, memory, 4096, [](ExposedMemory* exposed) {
      AddOften(*Open(exposed->attributes()), 0);
      exposed->page().notified(0).fetch_add(1, std::memory_order_release);
    });
    const auto target = Open(owner.attributes());
    ASSERT_NE(target, nullptr);
    AddOften(*target, 1);
    while (target->page().notified(0).load(std::memory_order_acquire) == 0) sched_yield();
    const TypedLayout number = TypedLayout::Run(Element::kInt64, 1);
    LayoutCursor from(&number, 1);
    LayoutCursor to(&number, 1);
    int64_t sum = 0;
    ASSERT_TRUE(target->Get(&from, 8, 8, &to, reinterpret_cast<std::byte*>(&sum)).ok());
    EXPECT_EQ(sum, 20000);
  }
}

// The kernel moves 2 GiB at most in one call.
TEST(TargetMemoryTest, ACopyContinuesAfterAPartialSystemCall) {
  SKIP_UNLESS_ALLOWED();
  constexpr int64_t kRun = 4 << 20;
  std::byte* const memory = NewPages(kRun + 8);
  const Owner owner(WindowMemory::kPrivate, memory, kRun + 8);
  const auto target = Open(owner.attributes());
  ASSERT_NE(target, nullptr);
  // The same run again and again, and something behind it.
  TypedLayout often;
  TypedLayout layout;
  ASSERT_TRUE(TypedLayout::Repeat(520, 0, TypedLayout::Run(Element::kByte, kRun), &often).ok());
  const TypedLayout last = TypedLayout::Run(Element::kByte, 8);
  ASSERT_TRUE(TypedLayout::List({{0, &often}, {kRun, &last}}, &layout).ok());
  std::memcpy(memory + kRun, "the last", 8);
  LayoutCursor from(&layout, 1);
  LayoutCursor to(&layout, 1);
  ASSERT_TRUE(target->Put(&from, memory, layout.size(), &to, 0).ok());
  EXPECT_EQ(to.position(), layout.size());
  char text[9] = "";
  LayoutCursor there(&last, 1);
  LayoutCursor here(&last, 1);
  ASSERT_TRUE(target->Get(&there, kRun, 8, &here, reinterpret_cast<std::byte*>(text)).ok());
  EXPECT_STREQ(text, "the last");
}

Status PutAndGet(const TargetMemory& target, int64_t bytes) {
  std::vector<std::byte> memory(bytes);
  const TypedLayout layout = TypedLayout::Run(Element::kByte, bytes);
  LayoutCursor from(&layout, 1);
  LayoutCursor to(&layout, 1);
  const Status status = target.Get(&from, 0, bytes, &to, memory.data());
  from.Seek(0);
  to.Seek(0);
  EXPECT_EQ(target.Put(&from, memory.data(), bytes, &to, 0).code(), status.code());
  to.Seek(0);
  from.Seek(0);
  EXPECT_EQ(
      target
          .Accumulate(CombineOp::kSum, Element::kInt8, &from, memory.data(), bytes, &to, 0, nullptr)
          .code(),
      status.code());
  return status;
}

TEST(TargetMemoryTest, MemoryOfADeadProcessIsNotReached) {
  SKIP_UNLESS_ALLOWED();
  Owner owner(WindowMemory::kPrivate, NewPages(kBytes), kBytes);
  const auto target = Open(owner.attributes());
  ASSERT_NE(target, nullptr);
  EXPECT_TRUE(PutAndGet(*target, kBytes).ok());
  owner.Kill();
  const Status status = PutAndGet(*target, kBytes);
  EXPECT_EQ(status.code(), StatusCode::kPeerLost) << status.ToString();
  EXPECT_EQ(Open(owner.attributes()), nullptr);
  owner.Bury();
  EXPECT_EQ(PutAndGet(*target, kBytes).code(), StatusCode::kPeerLost);
  EXPECT_EQ(Open(owner.attributes()), nullptr);
  // The shared page stays: the holder of a lock can still be read.
  EXPECT_EQ(target->page().combining().holder(), -1);
}

TEST(TargetMemoryTest, InaccessibleMemoryIsAnError) {
  SKIP_UNLESS_ALLOWED();
  std::byte* const memory = NewPages(2 * 4096);
  // Not munmap: a sanitizer's own memory would take the place.
  ASSERT_EQ(mprotect(memory + 4096, 4096, PROT_NONE), 0);
  const Owner owner(WindowMemory::kPrivate, memory, 2 * 4096);
  const auto target = Open(owner.attributes());
  ASSERT_NE(target, nullptr);
  const Status status = PutAndGet(*target, 2 * 4096);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find("Bad address"), std::string::npos) << status.ToString();
  EXPECT_TRUE(PutAndGet(*target, 4096).ok());
}

TEST(TargetMemoryTest, WrongAttributesAreNotOpened) {
  for (const WindowMemory kind : {WindowMemory::kShared, WindowMemory::kPrivate}) {
    const Owner owner(kind, NewPages(4096), 4096);
    const auto opened = [&](const auto& change) {
      MemberAttributes changed = owner.attributes();
      change(&changed);
      return Open(changed) != nullptr;
    };
    EXPECT_FALSE(opened([](auto* target) { ++target->host.network_namespace; }));
    EXPECT_FALSE(opened([](auto* target) { ++target->segment.token[0]; }));
    EXPECT_FALSE(opened([](auto* target) { target->segment.process = 0; }));
    EXPECT_FALSE(opened([](auto* target) { target->page_offset = uint64_t{1} << 40; }));
    EXPECT_FALSE(opened([](auto* target) { target->page_offset += 4; }));
    if (kind == WindowMemory::kShared) {
      EXPECT_FALSE(opened([](auto* target) { target->memory_offset = uint64_t{1} << 40; }));
      EXPECT_FALSE(opened([](auto* target) { target->bytes = UINT64_MAX; }));
    } else {
      EXPECT_FALSE(opened([](auto* target) { target->readable = 8; }));
    }
  }
}

TEST(TargetMemoryTest, DisplacementsAreAddressesForAWholeProcess) {
  SKIP_UNLESS_ALLOWED();
  std::byte* const memory = NewPages(4096);
  memory[5] = std::byte{42};
  const Owner owner(WindowMemory::kProcess, nullptr, 0);  // a copy of this process
  const auto target = Open(owner.attributes());
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(target->mapped(), nullptr);
  memory[5] = std::byte{0};
  const TypedLayout& layout = TypedLayout::One(Element::kByte);
  LayoutCursor from(&layout, 1);
  LayoutCursor to(&layout, 1);
  const uint64_t offset = reinterpret_cast<uint64_t>(memory + 5) - kProcessAddress;
  std::byte got{};
  EXPECT_TRUE(target->Get(&from, static_cast<int64_t>(offset), 1, &to, &got).ok());
  EXPECT_EQ(got, std::byte{42});

  const auto own = Expose(WindowMemory::kProcess, nullptr, 0);
  const auto seen = Open(own->attributes());
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->mapped() + offset, memory + 5);
}

TEST(TargetMemoryTest, MemoryInASegmentOfItsOwnerIsMapped) {
  std::shared_ptr<SharedSegment> segment;
  ASSERT_TRUE(SharedSegment::Create(&segment).ok());
  uint64_t offset = 0;
  ASSERT_TRUE(segment->Allocate(8192, &offset).ok());
  std::byte* const memory = segment->base() + offset + 1000;
  std::unique_ptr<ExposedMemory> exposed;
  ASSERT_TRUE(
      ExposedMemory::Create(WindowMemory::kPrivate, memory, 4096, 1, kMembers, &exposed, segment)
          .ok());
  EXPECT_EQ(exposed->base(), memory);
  EXPECT_EQ(exposed->attributes().kind, WindowMemory::kShared);
  const MemberAttributes attributes = exposed->attributes();
  const pid_t peer = fork();  // knows no segment yet
  if (peer == 0) {
    const auto target = Open(attributes);
    if (target == nullptr || target->mapped() == nullptr || target->mapped() == memory) _exit(1);
    target->mapped()[5] = std::byte{42};
    MemberAttributes beyond = attributes;
    beyond.bytes = UINT64_MAX;
    MemberAttributes other = attributes;
    ++other.memory_segment.token[0];
    _exit(Open(beyond) == nullptr && Open(other) == nullptr ? 0 : 2);
  }
  int ended = -1;
  ASSERT_EQ(waitpid(peer, &ended, 0), peer);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(memory[5], std::byte{42});
  const auto own = Open(attributes);
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->mapped(), memory);
}

TEST(TargetMemoryTest, MemoryOfNoBytesHasAPage) {
  for (const WindowMemory kind : {WindowMemory::kShared, WindowMemory::kPrivate}) {
    const Owner owner(kind, nullptr, 0);
    const auto target = Open(owner.attributes());
    ASSERT_NE(target, nullptr);
    EXPECT_TRUE(target->page().combining().TryLock(1));
    EXPECT_TRUE(PutAndGet(*target, 0).ok());
  }
}

}  // namespace
}  // namespace brigade
