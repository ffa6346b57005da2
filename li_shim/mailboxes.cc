#include "li_shim/mailboxes.h"

#include <cstring>
#include <utility>
#include <vector>

#include "li_shim/rules.h"
#include "transport/host/host.h"
#include "windows/memory/cache_line.h"
#include "windows/memory/mailbox.h"

namespace brigade {
namespace li {
namespace {

size_t MailboxBytes(int processes) {
  return rules::kMostBoxesBytes / (2 * static_cast<size_t>(processes)) / kCacheLineBytes *
         kCacheLineBytes;
}

std::vector<std::byte*> AreasIn(const Window& window) {
  std::vector<std::byte*> areas;
  for (int r = 0; r < window.size(); ++r) areas.push_back(window.PointerTo(r));
  return areas;
}

}  // namespace

Mailboxes::Mailboxes(std::unique_ptr<Window> window)
    : window_(std::move(window)),
      mailboxes_(window_->rank(), AreasIn(*window_), MailboxBytes(window_->size())) {
  mailboxes_.OpenBoxes();
}

Status Mailboxes::Create(WindowSpace* space, Bootstrap* bootstrap,
                         std::unique_ptr<Mailboxes>* mailboxes) {
  const int processes = bootstrap->size();
  if (processes == 1 || processes > FencedMailboxes::kMostMembers) return Status();
  const Host here = Host::Here();
  std::vector<Host> hosts(static_cast<size_t>(processes));
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&here, sizeof(here), hosts.data()));
  for (const Host& host : hosts) {
    if (!(host == hosts[0])) return Status();
  }
  WindowOptions options;
  options.kind = WindowMemory::kShared;
  options.bytes = FencedMailboxes::AreaBytes(processes, MailboxBytes(processes));
  std::unique_ptr<Window> window;
  const Status status = Window::Create(space, bootstrap, options, &window);
  // One can do without them.
  if (status.code() == StatusCode::kOutOfMemory) return Status();
  BRIGADE_RETURN_IF_ERROR(status);
  if (!window->is_direct()) return window->Free();
  mailboxes->reset(new Mailboxes(std::move(window)));
  return Status();
}

bool Mailboxes::Put(int process, int slot, size_t offset, const std::byte* source, size_t bytes) {
  if (bytes > rules::kMostMailboxPutBytes) return false;
  Mailbox* const box = mailboxes_.BoxFor(process);
  std::byte* const at = box->Add(mailboxes_.epoch(), slot, offset, bytes);
  if (at == nullptr) return false;
  std::memcpy(at, source, bytes);
  mailboxes_.Send(box);
  return true;
}

Status Mailboxes::AwaitReading(int process) {
  if (mailboxes_.HasRead(process)) return Status();
  return window_->WaitForMemory("mailboxes to be read",
                                [&] { return mailboxes_.HasRead(process); });
}

}  // namespace li
}  // namespace brigade
