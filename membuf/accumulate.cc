#include "membuf/accumulate.h"

#include <cstdint>
#include <cstring>

#include "membuf/check.h"
#include "membuf/combine_kernels.h"
#include "membuf/rules.h"

namespace brigade {

bool IsDefined(CombineOp op, Element element) {
  return op == CombineOp::kReplace || op == CombineOp::kNoOp ||
         AccumulateKernelFor(op, element) != nullptr;
}

void Accumulate(CombineOp op, Element element, size_t count, std::byte* target,
                const std::byte* operand) {
  if (op == CombineOp::kNoOp || count == 0) return;
  const size_t bytes = ElementBytes(element);
  if (op == CombineOp::kReplace) {
    std::memcpy(target, operand, count * bytes);
    return;
  }
  const CombineKernel kernel = AccumulateKernelFor(op, element);
  BRIGADE_CHECK(kernel != nullptr);
  if (count * bytes >= rules::kLeastAlignedAccumulateBytes) {
    constexpr uintptr_t kRegister = 32;
    const size_t ahead = -reinterpret_cast<uintptr_t>(target) % kRegister / bytes;
    kernel({target, target, operand}, ahead);
    count -= ahead;
    target += ahead * bytes;
    operand += ahead * bytes;
  }
  kernel({target, target, operand}, count);
}

}  // namespace brigade
