#include "bench/runner/options.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/version.h"

namespace brigade::bench {
namespace {

ParseOutcome Parse(std::vector<const char*> arguments, Options* options, std::string* text) {
  arguments.insert(arguments.begin(), "brigade_bench");
  return ParseOptions(static_cast<int>(arguments.size()), arguments.data(), options, text);
}

TEST(OptionsTest, ReadsCommandPeersAndSizes) {
  Options options;
  std::string text;
  ASSERT_EQ(Parse({"spread", "--peers=mpi,blacs", "--sizes", "1000x2Q,7xQ,40x32"}, &options, &text),
            ParseOutcome::kRun);
  EXPECT_EQ(options.command, Options::Command::kSpread);
  EXPECT_TRUE(options.HasPeer("mpi"));
  EXPECT_FALSE(options.HasPeer("plain"));
  ASSERT_EQ(options.sizes.size(), 3u);
  EXPECT_EQ(options.sizes[0].cols, 2);
  EXPECT_TRUE(options.sizes[0].cols_per_rank);
  EXPECT_EQ(options.sizes[1].cols, 1);
  EXPECT_EQ(options.sizes[2].rows, 40);
  EXPECT_TRUE(options.contiguous_bytes.empty());
  EXPECT_FALSE(options.sizes[2].cols_per_rank);
}

TEST(OptionsTest, OptionsMayFollowTheCommand) {
  Options options;
  std::string text;
  ASSERT_EQ(Parse({"pingpong", "--json", "file", "--transport", "mpi"}, &options, &text),
            ParseOutcome::kRun);
  EXPECT_EQ(options.command, Options::Command::kPingPong);
  EXPECT_EQ(options.json, "file");
}

TEST(OptionsTest, MessageSizesTakeUnits) {
  Options options;
  std::string text;
  ASSERT_EQ(Parse({"pingpong", "--sizes", "8,64K,1M,1G", "--runs", "0,256"}, &options, &text),
            ParseOutcome::kRun)
      << text;
  EXPECT_EQ(options.message_bytes, (std::vector<size_t>{8, 64 << 10, 1 << 20, 1 << 30}));
  EXPECT_EQ(options.run_bytes, (std::vector<size_t>{0, 256}));
}

TEST(OptionsTest, NumbersThatAreNoneAreRefused) {
  const char* const kRefused[][2] = {{"--sizes", "-5"},
                                     {"--sizes", "-1K"},
                                     {"--seconds", "nan"},
                                     {"--seconds", "inf"},
                                     {"--seconds", "0"}};
  for (const auto& [option, value] : kRefused) {
    Options options;
    std::string text;
    EXPECT_EQ(Parse({"pingpong", option, value}, &options, &text), ParseOutcome::kRefused) << value;
    EXPECT_NE(text.find(option), std::string::npos) << text;
  }
}

TEST(OptionsTest, SpreadTakesBytesInsteadOfSizes) {
  Options options;
  std::string text;
  ASSERT_EQ(Parse({"spread", "--bytes", "1K,4M", "--cases", "barrier,all-reduce"}, &options, &text),
            ParseOutcome::kRun)
      << text;
  EXPECT_EQ(options.contiguous_bytes, (std::vector<size_t>{1 << 10, 4 << 20}));
  EXPECT_EQ(options.cases, (std::vector<std::string>{"barrier", "all-reduce"}));
}

TEST(OptionsTest, CallsIsACommandWithoutOptionsOfItsOwn) {
  Options options;
  std::string text;
  ASSERT_EQ(Parse({"calls", "--label", "other"}, &options, &text), ParseOutcome::kRun);
  EXPECT_EQ(options.command, Options::Command::kCalls);
  EXPECT_EQ(options.label, "other");
}

TEST(OptionsTest, PatternsMayBeSpelledAsCases) {
  Options options;
  std::string text;
  ASSERT_EQ(Parse({"explain", "--pattern", "all-reduce", "--ranks", "4", "--bytes", "1K",
                   "--machine", "/dev/null"},
                  &options, &text),
            ParseOutcome::kRun)
      << text;
  EXPECT_EQ(options.pattern, "all_reduce");
  ASSERT_EQ(
      Parse({"model", "--patterns", "multi-reduce,broadcast", "--bytes", "1K"}, &options, &text),
      ParseOutcome::kRun)
      << text;
  EXPECT_EQ(options.patterns, (std::vector<std::string>{"multi_reduce", "broadcast"}));
}

TEST(OptionsTest, ShapesMayHaveSpacesInTheirNames) {
  Options options;
  std::string text;
  ASSERT_EQ(Parse({"spread", "--shapes", "free,4-nomial tree", "--cases",
                   "exscan,successive-broadcasts", "--min-iterations", "3"},
                  &options, &text),
            ParseOutcome::kRun)
      << text;
  EXPECT_EQ(options.shapes, (std::vector<std::string>{"free", "4-nomial tree"}));
  EXPECT_EQ(options.cases, (std::vector<std::string>{"exscan", "successive-broadcasts"}));
  EXPECT_EQ(options.min_iterations, 3);
}

TEST(OptionsTest, OverlapHasSizesOfItsOwn) {
  Options options;
  std::string text;
  ASSERT_EQ(Parse({"overlap", "--sizes", "1K,2M"}, &options, &text), ParseOutcome::kRun) << text;
  EXPECT_EQ(options.command, Options::Command::kOverlap);
  EXPECT_EQ(options.overlap_bytes, (std::vector<size_t>{1 << 10, 2 << 20}));
}

TEST(OptionsTest, RefusesWrongArguments) {
  const std::vector<std::vector<const char*>> refused = {
      {},
      {"pingpong", "--bogus"},
      {"pong"},
      {"pingpong", "spread"},
      {"spread", "--peers", "mpich"},
      {"spread", "--cases", "gossip"},
      {"spread", "--shapes", "star"},
      {"spread", "--sizes", "1000"},
      {"spread", "--sizes", "1000x"},
      {"spread", "--sizes", "0x4"},
      {"pingpong", "--seconds", "0"},
      {"pingpong", "--sizes", "0"},
      {"pingpong", "--sizes", "1Q"},
      {"pingpong", "--sizes", "7"},
      {"pingpong", "--runs", "4"},
      {"pingpong", "--runs", "-8"},
      {"overlap", "--sizes", "4"},
  };
  for (const std::vector<const char*>& arguments : refused) {
    Options options;
    std::string text;
    EXPECT_EQ(Parse(arguments, &options, &text), ParseOutcome::kRefused)
        << testing::PrintToString(arguments);
    EXPECT_NE(text, "");
  }
}

TEST(OptionsTest, NamesAMisspeltCommand) {
  Options options;
  std::string text;
  EXPECT_EQ(Parse({"sprea"}, &options, &text), ParseOutcome::kRefused);
  EXPECT_NE(text.find("sprea"), std::string::npos) << text;
  EXPECT_EQ(Parse({}, &options, &text), ParseOutcome::kRefused);
  EXPECT_NE(text.find("A subcommand is required"), std::string::npos) << text;
}

TEST(OptionsTest, HelpNamesEveryOptionOfEverySubcommand) {
  Options options;
  std::string text;
  ASSERT_EQ(Parse({"--help"}, &options, &text), ParseOutcome::kHelp);
  for (const char* option :
       {"--transport", "--peers", "--json", "--runs", "--topologies", "--bytes"}) {
    EXPECT_NE(text.find(option), std::string::npos) << option;
  }
}

TEST(OptionsTest, FiguresAreOfThisVersion) {
  Options options;
  std::string text;
  ASSERT_EQ(Parse({"--version"}, &options, &text), ParseOutcome::kHelp);
  EXPECT_EQ(text, "brigade_bench " BRIGADE_VERSION "\n");
  ASSERT_EQ(Parse({"pingpong"}, &options, &text), ParseOutcome::kRun);
  EXPECT_EQ(options.brigade_version, BRIGADE_VERSION);
}

}  // namespace
}  // namespace brigade::bench
