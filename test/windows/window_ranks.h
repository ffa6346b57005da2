// Windows for tests: ranks that are threads, over this and that transport.

#ifndef BRIGADE_TEST_WINDOWS_WINDOW_RANKS_H_
#define BRIGADE_TEST_WINDOWS_WINDOW_RANKS_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/machines/machine_description.h"
#include "windows/core/window.h"
#include "windows/message/window_space.h"

namespace brigade {

// How ranks reach each other.
struct WindowSetup {
  std::string name;
  InprocOptions inproc;
  enum class Transport { kInproc, kShm, kTcp, kSim } transport = Transport::kInproc;
  MachineDescription machine;  // of kSim
  // True for ranks that avoid messages where possible.
  std::function<bool(int rank)> goes_directly = [](int) { return false; };
  // True for ranks that request the checking mode.
  std::function<bool(int rank)> is_checked = [](int) { return false; };
  WindowMemory kind = WindowMemory::kPrivate;
  bool is_disturbed = false;  // posts are refused, completions delayed
  // Puts something of the test's before the endpoint of a rank; unset: nothing.
  std::function<std::unique_ptr<Endpoint>(int rank, std::unique_ptr<Endpoint>)> wrap;
};
std::ostream& operator<<(std::ostream& out, const WindowSetup& setup);

// All of them, on machines that exist.
std::vector<WindowSetup> WindowSetups();
// In virtual time: all ranks are on one thread, and whoever waits for another must make calls.
std::vector<WindowSetup> SimulatedWindowSetups();

// The job that the ranks are of.
class WindowWorld {
 public:
  virtual ~WindowWorld() = default;
  virtual int ranks() const = 0;
  virtual std::unique_ptr<Bootstrap> MakeBootstrap(int rank) = 0;
  virtual std::unique_ptr<Endpoint> CreateEndpoint(int rank) = 0;
  // Of a rank in virtual time, in microseconds.
  virtual double Clock(int rank) const = 0;
};

// One rank of a job.
class WindowRank {
 public:
  WindowRank(const WindowSetup& setup, WindowWorld* world, int rank);

  int rank() const { return rank_; }
  int size() const { return world_->ranks(); }
  Engine* engine() { return engine_.get(); }
  Group* group() { return group_.get(); }  // of all ranks
  WindowSpace* space() { return space_.get(); }
  const WindowSetup& setup() const { return setup_; }
  double Clock() const { return world_->Clock(rank_); }
  std::unique_ptr<Bootstrap> MakeBootstrap() { return world_->MakeBootstrap(rank_); }
  // Of all ranks; private memory, too, is kept here.
  std::unique_ptr<Window> Make(size_t bytes, int64_t unit = 1);
  // Of memory that the caller has.
  std::unique_ptr<Window> MakeOf(std::byte* memory, size_t bytes);
  std::unique_ptr<Window> MakeInOnePiece(size_t bytes);
  std::unique_ptr<Window> MakeDynamic();
  // Progresses until nothing of this rank waits to be sent.
  void SendAll();
  // Collective over all ranks, beside any window: makes progress until all ranks have called it.
  void Meet();
  // The same at the end: calls nothing any more.
  void Leave();
  // Is gone, without a word to anybody.
  void Die(std::unique_ptr<Window> window);

 private:
  std::unique_ptr<Window> Make(WindowOptions options);

  const WindowSetup& setup_;
  WindowWorld* const world_;
  const int rank_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> memory_;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<WindowSpace> space_;
  std::unique_ptr<Group> group_;
};

// Runs body on so many ranks. Whoever throws ends the test.
void OnWindowRanks(const WindowSetup& setup, int ranks,
                   const std::function<void(WindowRank&)>& body, bool leave_together = true);
// Throws if it is a failure.
void Require(const Status& status);

}  // namespace brigade

#endif  // BRIGADE_TEST_WINDOWS_WINDOW_RANKS_H_
