#include "patterns/catalogue/own_block.h"

namespace brigade {

void SendOwnBlock(ScheduleBuilder* builder, int block, const std::vector<int>& peers,
                  bool at_once) {
  const int own = builder->AddStream("S", ChunkRole::kBufferedSend);
  const auto send = [&] {
    for (const int peer : peers) builder->Send(own, peer);
    builder->Free(own);
  };
  builder->SetBlock(block);
  if (!at_once) send();
  builder->SetLead(1);
  builder->Copy(Place::New(own), Place::Block(block));
  if (at_once) send();
  builder->SetLead(0);
}

}  // namespace brigade
