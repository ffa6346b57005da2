#include "patterns/catalogue/own_portion.h"

namespace brigade {

void SendOwnPortion(ScheduleBuilder* builder, int portion, const std::vector<int>& peers,
                    bool at_once) {
  const int own = builder->AddStream("S", ChunkRole::kBufferedSend);
  const auto send = [&] {
    for (const int peer : peers) builder->Send(own, peer);
    builder->Free(own);
  };
  builder->SetPortion(portion);
  if (!at_once) send();
  builder->SetLead(1);
  builder->Copy(Place::New(own), Place::Portion(portion));
  if (at_once) send();
  builder->SetLead(0);
}

}  // namespace brigade
