// SocketIo: moves bytes between memory and sockets without waiting; io_uring or plain sockets.
//
// Each socket has at most one pending write and one pending read, which keeps the order of its
// bytes: a kernel may complete several in any order. One thread makes progress at a time, as
// with an endpoint; only Await may be called by another thread meanwhile.

#ifndef BRIGADE_TRANSPORT_TCP_IO_SOCKET_IO_H_
#define BRIGADE_TRANSPORT_TCP_IO_SOCKET_IO_H_

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <limits>
#include <memory>

#include "membuf/byte_span.h"
#include "membuf/status.h"

namespace brigade {

// Returns kUnavailable with the system's error of `call`, and the limit to raise if it was one.
Status SocketFailure(const char* call, int error);

// A socket as a SocketIo serves it.
class IoSocket {
 public:
  // `socket`: nonblocking, this object's from here on.
  explicit IoSocket(int socket) : socket_(socket) {}
  virtual ~IoSocket();
  IoSocket(const IoSocket&) = delete;
  IoSocket& operator=(const IoSocket&) = delete;

  int socket() const { return socket_; }

  // Where the next bytes that come in go: 1 or 2 places, used in this order. They must stay until
  // OnRead, or until CancelRead.
  virtual int ReadTargets(iovec targets[2]) = 0;
  // `result` bytes have come; 0: the peer sends no more; below 0: -errno. After 0 or an error
  // nothing more is read.
  virtual void OnRead(ssize_t result) = 0;
  // `result` bytes of the pending write have left, maybe not all; below 0: -errno.
  virtual void OnWritten(ssize_t result) = 0;

 private:
  const int socket_;
};

class SocketIo {
 public:
  virtual ~SocketIo() = default;

  // Starts reading. The socket must be removed before it is destroyed.
  virtual Status Add(IoSocket* socket) = 0;
  // Ends pending reads and writes, without a call of OnRead or OnWritten. No memory is touched
  // after it returns. Not to be called from within OnRead or OnWritten.
  virtual void Remove(IoSocket* socket) = 0;

  // Writes `count` ranges. The ranges and their array must stay until OnWritten, unless this
  // returns the result at once. REQUIRES: no write is pending on this socket.
  static constexpr ssize_t kPending = std::numeric_limits<ssize_t>::min();
  virtual ssize_t Write(IoSocket* socket, const iovec* ranges, int count) = 0;
  // Writes as much as the socket takes at once, and returns the bytes, or -EAGAIN. No write is
  // pending afterwards. REQUIRES: as Write.
  static ssize_t WriteNow(const IoSocket& socket, const iovec* ranges, size_t count);
  // After WriteNow returned -EAGAIN: makes Progress return true once the socket has room. Below 0:
  // -errno, the system has no memory for that.
  virtual int AwaitRoom(IoSocket* socket) = 0;
  // Cancels the pending read. OnRead is called first for bytes that had come. The next read calls
  // for targets again. Not to be called from within OnRead or OnWritten.
  virtual void CancelRead(IoSocket* socket) = 0;

  // Registers memory that is often read into, and replaces the memory registered before. Reads into
  // other memory work, too. kOutOfMemory: the limit on locked memory leaves no room at present.
  virtual Status RegisterMemory(ByteSpan memory) = 0;
  virtual void DeregisterMemory() = 0;

  // `readable` runs inside Progress when the descriptor has become readable. kUnavailable: the
  // system refuses another watch.
  virtual Status Watch(int descriptor, void (*readable)(void* context), void* context) = 0;

  // Sets whether other ranks share this rank's processor. If so, Progress polls less, and where
  // possible the system waits for the rest of a segment, so that not every part of it wakes the
  // rank.
  virtual void ShareProcessor(bool shares) = 0;
  // Sets whether io_uring reads; by default it does. No effect without io_uring.
  virtual void UseRing(bool /*uses*/) {}

  // Calls OnRead and OnWritten for completed reads and writes. Returns whether there was any.
  virtual bool Progress() = 0;
  // Sleeps until Progress might find something, at most for `microseconds`. Another thread may call
  // it while one thread calls Progress.
  virtual void Await(int microseconds) = 0;

 protected:
  static void SleepUntilReadable(int descriptor, int microseconds);
};

// kUnavailable, with the reason: this host has no liburing, the kernel or container has no
// io_uring, or io_uring lacks an operation.
Status CreateUringIo(std::unique_ptr<SocketIo>* io);
// kUnavailable: no descriptors left.
Status CreatePlainIo(std::unique_ptr<SocketIo>* io);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_IO_SOCKET_IO_H_
