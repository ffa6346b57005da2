// SocketIo: moves bytes between memory and sockets without waiting; io_uring or plain sockets.
//
// Each socket has at most one write and one read under way, which keeps the order of its bytes: a
// kernel may finish several in any order. One driver at a time, as everything of an endpoint;
// Await alone may be called by another thread meanwhile.

#ifndef BRIGADE_TRANSPORT_TCP_IO_SOCKET_IO_H_
#define BRIGADE_TRANSPORT_TCP_IO_SOCKET_IO_H_

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <string>

#include "membuf/byte_span.h"
#include "membuf/status.h"

namespace brigade {

// kUnavailable: what the system said when `call` failed, and the limit to raise if it was one.
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
  // So many bytes have come; 0: the peer sends no more; below 0: -errno. After the last two nothing
  // more is read.
  virtual void OnRead(ssize_t result) = 0;
  // So many bytes of the write under way have left, maybe not all; below 0: -errno.
  virtual void OnWritten(ssize_t result) = 0;

 private:
  const int socket_;
};

class SocketIo {
 public:
  virtual ~SocketIo() = default;

  virtual const char* name() const = 0;

  // Starts reading. The socket must be removed before it is destroyed.
  virtual Status Add(IoSocket* socket) = 0;
  // Ends what is under way, without telling. When it returns no memory is touched any more. Not to
  // be called from within OnRead or OnWritten.
  virtual void Remove(IoSocket* socket) = 0;

  // Writes `count` ranges, which must stay, array included, until OnWritten, unless it returns what
  // OnWritten would say. REQUIRES: none is under way on this socket.
  static constexpr ssize_t kUnderWay = std::numeric_limits<ssize_t>::min();
  virtual ssize_t Write(IoSocket* socket, const iovec* ranges, int count) = 0;
  // What can be written at once, or -EAGAIN: afterwards nothing is under way. REQUIRES: as Write.
  static ssize_t WriteNow(const IoSocket& socket, const iovec* ranges, size_t count);
  // Behind WriteNow that found no room: once there is some Progress says that something happened.
  // Below 0: -errno, the system has no memory for that.
  virtual int AwaitRoom(IoSocket* socket) = 0;
  // Takes back the targets of the read under way; bytes that had come are told first (OnRead). The
  // next read asks for targets anew. Not to be called from within OnRead or OnWritten.
  virtual void CancelRead(IoSocket* socket) = 0;

  // Registers memory that reads will often go to, in place of what was registered before; all
  // memory works, registered or not. kOutOfMemory: the limit on locked memory leaves no room for it
  // now.
  virtual Status RegisterMemory(ByteSpan memory) = 0;
  virtual void DeregisterMemory() = 0;

  // `readable` runs inside Progress when the descriptor has become readable.
  virtual void Watch(int descriptor, void (*readable)(void* context), void* context) = 0;

  // Whether, from here on, others want this rank's processor: it then asks little at once, and
  // where it can the system waits for the rest of a piece, so that the rank is not woken by every
  // part of it.
  virtual void ShareProcessor(bool shares) = 0;

  // Tells what is over. True if anything was.
  virtual bool Progress() = 0;
  // Sleeps until Progress might find something, `microseconds` at most. May be called by another
  // thread while one drives.
  virtual void Await(int microseconds) = 0;

 protected:
  static void SleepUntilReadable(int descriptor, int microseconds);
};

// kUnavailable, saying why: this host has no liburing, or this kernel or container no io_uring, or
// it lacks an operation.
Status CreateUringIo(std::unique_ptr<SocketIo>* io);
// kUnavailable: no descriptors left.
Status CreatePlainIo(std::unique_ptr<SocketIo>* io);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_IO_SOCKET_IO_H_
