// Mailboxes: short puts between processes of one host, which their targets read when the superstep
// has ended.

#ifndef BRIGADE_LI_SHIM_MAILBOXES_H_
#define BRIGADE_LI_SHIM_MAILBOXES_H_

#include <cstddef>
#include <memory>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "windows/core/window.h"
#include "windows/memory/fenced_mailboxes.h"
#include "windows/message/window_space.h"

namespace brigade {
namespace li {

class Mailboxes {
 public:
  // Collective. Null where the processes are alone, many, or of several hosts.
  static Status Create(WindowSpace* space, Bootstrap* bootstrap,
                       std::unique_ptr<Mailboxes>* mailboxes);
  // Collective.
  Status Free() { return window_->Free(); }

  // Takes the bytes and says yes, unless they are many or the box is full.
  bool Put(int process, int slot, size_t offset, const std::byte* source, size_t bytes);
  // All have met behind their last puts: a superstep is over. Passes the puts to this process to
  // `reader`, as Mailbox::Read does.
  template <typename Reader>
  void Read(const Reader& reader) {
    mailboxes_.Read(reader);
  }
  // Blocks until a process has read its entries of past supersteps, before which its memory must
  // not be reached otherwise.
  Status AwaitReading(int process);

 private:
  explicit Mailboxes(std::unique_ptr<Window> window);

  const std::unique_ptr<Window> window_;
  FencedMailboxes mailboxes_;
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_MAILBOXES_H_
