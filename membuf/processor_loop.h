// RunForProcessor: a loop over many elements, compiled twice: for any processor of the
// architecture, and for those that have registers of 256 bits. The one that runs can have them.
//
// The bits are the same. Such a processor could also multiply and add at once (fma), which rounds
// once, not twice; that is left out.

#ifndef BRIGADE_MEMBUF_PROCESSOR_LOOP_H_
#define BRIGADE_MEMBUF_PROCESSOR_LOOP_H_

// Of a loop's function: so that it is compiled for what its caller is compiled for.
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
