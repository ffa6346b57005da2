// RunForProcessor: a loop over many elements, compiled twice: for any processor of the
// architecture, and for processors with 256-bit registers (AVX2).
//
// Both versions give equal bits. Fused multiply-add (fma) is not used, because it rounds once
// instead of twice.

#ifndef BRIGADE_MEMBUF_PROCESSOR_LOOP_H_
#define BRIGADE_MEMBUF_PROCESSOR_LOOP_H_

// Inlines a loop's function, so that it is compiled for its caller's target.
#define BRIGADE_PART_OF_CALLER __attribute__((always_inline)) inline

namespace brigade {

#ifdef __x86_64__
template <typename Loop, typename... Arguments>
__attribute__((target("avx2"))) void RunWide(const Arguments&... arguments) {
  Loop::Run(arguments...);
}
#endif

// Calls Loop::Run, which is BRIGADE_PART_OF_CALLER.
template <typename Loop, typename... Arguments>
void RunForProcessor(const Arguments&... arguments) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) return RunWide<Loop>(arguments...);
#endif
  Loop::Run(arguments...);
}

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_PROCESSOR_LOOP_H_
