#include "transport/tcp/contact.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace brigade::tcp {
namespace {

Contact On(const std::string& machine, Reads reads) {
  Contact contact;
  machine.copy(contact.host.boot_id, sizeof(contact.host.boot_id) - 1);
  contact.reads[1] = reads;
  return contact;
}

int TrialRank(const Contact& mine, const std::vector<Contact>& contacts) {
  return ReadTrialRank(mine, contacts, /*shares_processor=*/true);
}

TEST(ReadTrialRank, IsTheFirstMemberOfTheMachineWithARing) {
  const std::vector<Contact> contacts = {On("a", Reads::kNoRing), On("b", Reads::kUntried),
                                         On("a", Reads::kUntried), On("a", Reads::kUntried)};
  EXPECT_EQ(TrialRank(contacts[0], contacts), 2);
  EXPECT_EQ(TrialRank(contacts[1], contacts), 1);
  EXPECT_EQ(TrialRank(contacts[3], contacts), 2);
}

TEST(ReadTrialRank, IsNoneIfAMemberKnowsOrNoneHasARing) {
  const std::vector<Contact> contacts = {On("a", Reads::kUntried), On("b", Reads::kNoRing),
                                         On("a", Reads::kPlain)};
  EXPECT_EQ(TrialRank(contacts[0], contacts), -1);
  EXPECT_EQ(TrialRank(contacts[1], contacts), -1);
}

TEST(AgreedReads, AreThoseOfTheFirstMemberOfTheMachineThatKnows) {
  const std::vector<Contact> contacts = {On("a", Reads::kUntried), On("b", Reads::kUntried),
                                         On("a", Reads::kUntried), On("a", Reads::kUntried),
                                         On("c", Reads::kUntried)};
  const std::vector<KnownReads> known = {{Reads::kUntried, {}},
                                         {Reads::kByRing, {1, 2}},
                                         {Reads::kPlain, {4, 3}},
                                         {Reads::kByRing, {5, 6}},
                                         {Reads::kUntried, {}}};
  for (const int rank : {0, 2, 3}) {
    const KnownReads agreed = AgreedReads(contacts[rank], contacts, known);
    EXPECT_EQ(agreed.reads, Reads::kPlain);
    EXPECT_EQ(agreed.times.plain_us, 3);
  }
  EXPECT_EQ(AgreedReads(contacts[1], contacts, known).reads, Reads::kByRing);
  EXPECT_EQ(AgreedReads(contacts[4], contacts, known).reads, Reads::kUntried);
}

// Trials of equal ways differ by chance.
TEST(KnownBy, IsPlainIfTheRingIsClearlySlower) {
  EXPECT_EQ(KnownBy(Status(), {90, 100}).reads, Reads::kByRing);
  EXPECT_EQ(KnownBy(Status(), {109, 100}).reads, Reads::kByRing);
  EXPECT_EQ(KnownBy(Status(), {111, 100}).reads, Reads::kPlain);
}

TEST(KnownBy, IsTheRingWithoutAResult) {
  const KnownReads known = KnownBy(Status(StatusCode::kUnavailable, "too long"), ReadTimes());
  EXPECT_EQ(known.reads, Reads::kByRing);
  EXPECT_EQ(Describe(known), "TCP reads through io_uring: not measured");
}

TEST(Describe, HasTheTimesOfBothWays) {
  EXPECT_EQ(Describe({Reads::kByRing, {20, 30}}),
            "TCP reads through io_uring: a segment takes 20 us, by plain calls 30 us");
  EXPECT_EQ(Describe({Reads::kPlain, {30, 20}}),
            "TCP reads by plain calls: a segment takes 20 us, through io_uring 30 us");
  EXPECT_EQ(Describe({Reads::kUntried, {}}), "");
  EXPECT_EQ(Describe({Reads::kNoRing, {}}), "");
}

}  // namespace
}  // namespace brigade::tcp
