// Runs a fuzz target without a fuzzer: over its corpus, so that what fuzzing has found stays found,
// and over what becomes of it by small changes. The argument is the corpus.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "test/support/stress.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes);

namespace brigade {
namespace {

using Input = std::vector<uint8_t>;

std::filesystem::path corpus;

std::vector<Input> ReadCorpus() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());  // changes are drawn in this order
  std::vector<Input> inputs;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// Stores the current input in a file: an error ends the process, and the file then has its input.
void KeepLast(const Input& input) {
  static const int file = [] {
    const char* const outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");  // Bazel's
    const std::string folder = outputs == nullptr ? testing::TempDir() : outputs;
    return open((folder + "/input").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }();
  const auto bytes = static_cast<ssize_t>(input.size());
  EXPECT_EQ(pwrite(file, input.data(), input.size(), 0), bytes);
  EXPECT_EQ(ftruncate(file, bytes), 0);
}

void TestOne(const Input& input) {
  KeepLast(input);
  // An allocation of exactly this length, for the sanitizer to see who reads on.
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[input.size()]);
  std::copy(input.begin(), input.end(), exact.get());
  LLVMFuzzerTestOneInput(exact.get(), input.size());
}

// Draws inputs that are like those of the corpus.
class Changes {
 public:
  Changes(std::vector<Input> inputs, unsigned seed) : inputs_(std::move(inputs)), random_(seed) {}

  Input Draw() {
    Input input = Any();
    for (size_t changes = 1 + Below(4); changes > 0; --changes) Change(&input);
    return input;
  }

 private:
  size_t Below(size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random_);
  }
  const Input& Any() { return inputs_[Below(inputs_.size())]; }

  void Change(Input* input) {
    const size_t at = Below(input->size() + 1);
    const auto place = input->begin() + static_cast<ptrdiff_t>(at);
    const size_t few = std::min(1 + Below(40), input->size() - at);
    const auto end = place + static_cast<ptrdiff_t>(few);
    switch (Below(6)) {
      case 0:
        if (few > 0) *place ^= static_cast<uint8_t>(1U << Below(8));
        break;
      case 1:
        SetNumber(input, at);
        break;
      case 2:
        input->erase(place, end);
        break;
      case 3:
        for (size_t more = 1 + Below(10); more > 0; --more) {
          input->insert(input->begin() + static_cast<ptrdiff_t>(at),
                        static_cast<uint8_t>(random_()));
        }
        break;
      case 4: {  // again
        const Input again(place, end);
        input->insert(place, again.begin(), again.end());
        break;
      }
      default: {  // goes on as another one, from somewhere on
        const Input& other = Any();
        input->erase(place, input->end());
        input->insert(input->end(), other.begin() + static_cast<ptrdiff_t>(Below(other.size() + 1)),
                      other.end());
      }
    }
  }

  // Where limits are, or anything.
  void SetNumber(Input* input, size_t at) {
    const size_t bytes = std::min(size_t{1} << Below(4), input->size() - at);
    if (bytes == 0) return;
    uint64_t number = (uint64_t{1} << Below(64)) - Below(3);
    if (Below(3) == 0) number = random_();
    std::memcpy(input->data() + at, &number, bytes);
  }

  const std::vector<Input> inputs_;
  std::mt19937_64 random_;
};

TEST(FuzzTest, CorpusInputsPass) {
  const std::vector<Input> inputs = ReadCorpus();
  for (const Input& input : inputs) TestOne(input);
  EXPECT_GT(inputs.size(), 0u);
}

TEST(FuzzTest, ChangedCorpusInputsPass) {
  Changes changes(ReadCorpus(), StressSeed());
  for (int trials = StressRounds(5000, 500000); trials > 0; --trials) TestOne(changes.Draw());
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) return 2;
  brigade::corpus = argv[1];
  return RUN_ALL_TESTS();
}
