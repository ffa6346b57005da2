// The binomial tree broadcast written by hand on the bare endpoint: no schedule, no engine, no
// pool. The yardstick for the overhead of the engine on a small message.

#ifndef BRIGADE_BENCH_CONTENDERS_DIRECT_TREE_H_
#define BRIGADE_BENCH_CONTENDERS_DIRECT_TREE_H_

#include <cstddef>
#include <memory>

#include "membuf/byte_span.h"
#include "membuf/registered_region.h"
#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"

namespace brigade::bench {

class DirectTreeBroadcast {
 public:
  // Collective over the members of `bootstrap`. Messages have up to `max_bytes`, equal on all
  // ranks. `endpoint` must outlive the result.
  static Status Create(Endpoint* endpoint, Bootstrap* bootstrap, size_t max_bytes,
                       std::unique_ptr<DirectTreeBroadcast>* broadcast);
  ~DirectTreeBroadcast();

  // Collective: `data` of the root reaches all. The length is equal on all ranks, at most
  // max_bytes.
  Status Run(int root, ByteSpan data);

 private:
  DirectTreeBroadcast() = default;

  Endpoint* endpoint_ = nullptr;
  Channel channel_;
  int rank_ = 0;
  int ranks_ = 0;
  RegisteredRegion staging_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_DIRECT_TREE_H_
