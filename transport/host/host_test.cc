#include "transport/host/host.h"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "gtest/gtest.h"

namespace brigade {
namespace {

// The exit code of a child that runs the body.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int kNotPermitted = 77;

// The exit code of a child in new namespaces: 1 if it is on the same host as here.
int InNamespaces(int flags) {
  const Host here = Host::Here();
  return InChild([&] {
    if (unshare(flags) != 0) return kNotPermitted;
    return Host::Here() == here ? 1 : 0;
  });
}

TEST(HostTest, AChildIsOnTheSameHost) {
  const Host here = Host::Here();
  EXPECT_NE(here.boot_id[0], '\0');
  EXPECT_NE(here.network_namespace, 0u);
  EXPECT_NE(here.process_namespace, 0u);
  EXPECT_TRUE(here == Host::Here());
  EXPECT_EQ(InChild([&] { return Host::Here() == here ? 1 : 0; }), 1);
}

TEST(HostTest, AnotherNetworkNamespaceIsAnotherHost) {
  const int same = InNamespaces(CLONE_NEWNET);
  if (same == kNotPermitted) GTEST_SKIP() << "unshare is not permitted";
  EXPECT_EQ(same, 0);
}

TEST(HostTest, AProcessStaysWhereOthersKnowIt) {
  const int same = InChild([] {
    const Host before = Host::Here();
    if (unshare(CLONE_NEWNET) != 0) return kNotPermitted;
    return Host::Here() == before ? 1 : 0;
  });
  if (same == kNotPermitted) GTEST_SKIP() << "unshare is not permitted";
  EXPECT_EQ(same, 1);
}

TEST(HostTest, AnotherUserIsKeptApart) {
  const Host here = Host::Here();
  const int same = InChild([&] {
    if (geteuid() != 0 || seteuid(65534) != 0) return kNotPermitted;
    return Host::Here() == here ? 1 : 0;
  });
  if (same == kNotPermitted) GTEST_SKIP() << "not root";
  EXPECT_EQ(same, 0);
}

TEST(HostTest, ProcessorsFollowTheAffinityMask) {
  const cpu_set_t allowed = AllowedProcessors();
  ASSERT_GE(CPU_COUNT(&allowed), 1);
  EXPECT_GE(ProcessorQuota(), 1);
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  EXPECT_EQ(InChild([&] {
              cpu_set_t one;
              CPU_ZERO(&one);
              CPU_SET(first, &one);
              if (sched_setaffinity(0, sizeof(one), &one) != 0) return 0;
              const cpu_set_t now = AllowedProcessors();
              return CPU_EQUAL(&now, &one) ? 1 : 0;
            }),
            1);
}

}  // namespace
}  // namespace brigade
