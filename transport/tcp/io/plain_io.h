// PlainIo: sockets by plain calls, and by readiness (epoll) where there are many or nothing comes.

#ifndef BRIGADE_TRANSPORT_TCP_IO_PLAIN_IO_H_
#define BRIGADE_TRANSPORT_TCP_IO_PLAIN_IO_H_

#include <cstdint>
#include <unordered_map>

#include "transport/tcp/io/socket_io.h"

namespace brigade {

class PlainIo : public SocketIo {
 public:
  ~PlainIo() override;

  Status Add(IoSocket* socket) override;
  void Remove(IoSocket* socket) override;
  ssize_t Write(IoSocket* socket, const iovec* ranges, int count) override;
  int AwaitRoom(IoSocket* socket) override;
  void CancelRead(IoSocket*) override {}  // none is ever under way between two calls
  Status RegisterMemory(ByteSpan) override;
  void DeregisterMemory() override {}
  Status Watch(int descriptor, void (*readable)(void*), void* context) override;
  bool Progress() override;
  void Await(int microseconds) override;
  void ShareProcessor(bool shares) override { shares_processor_ = shares; }

 protected:
  bool shares_processor() const { return shares_processor_; }
  friend Status CreatePlainIo(std::unique_ptr<SocketIo>* io);
  PlainIo() = default;
  // To be called first. kUnavailable: no descriptors left.
  Status Open();
  // `descriptor` ends sleeps while it is readable.
  Status WakeBy(int descriptor);

  // Starts another way of reading the next bytes of a socket. Returns true if it is started;
  // OnReadDone follows then.
  virtual bool StartRead(IoSocket*) { return false; }
  // Ends that read: calls OnRead with `result`, unless it is -EAGAIN.
  void OnReadDone(IoSocket* socket, ssize_t result);

 private:
  struct State {
    const iovec* ranges = nullptr;  // of the write under way
    int count = 0;
    bool awaits_room = false;  // that write, or another
    bool reading = false;      // StartRead is
    bool ended = false;        // nothing more is read
    bool listed = false;       // by epoll
  };
  struct Watched {
    void (*readable)(void*) = nullptr;
    void* context = nullptr;
  };

  // Lets epoll report, with `data`, that the descriptor is readable.
  Status Poll(int descriptor, void* data);
  bool Arm(IoSocket* socket, State* state);
  bool ReadAll(IoSocket* socket, State* state);
  void ReportRead(IoSocket* socket, State* state, ssize_t read);
  void HandleEvents(IoSocket* socket, uint32_t events);

  int epoll_ = -1;
  std::unordered_map<IoSocket*, State> sockets_;
  Watched watch_;
  int awaiting_room_ = 0;  // sockets
  unsigned looks_ = 0;
  bool shares_processor_ = false;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_IO_PLAIN_IO_H_
