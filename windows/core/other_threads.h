// OtherThreads: threads of this process that want to use windows while a call of one of them waits.

#ifndef BRIGADE_WINDOWS_CORE_OTHER_THREADS_H_
#define BRIGADE_WINDOWS_CORE_OTHER_THREADS_H_

namespace brigade {

class OtherThreads {
 public:
  virtual ~OtherThreads() = default;
  // Whether one wants to come in. May be wrong for a moment.
  virtual bool AnyWait() const = 0;
  // One that waits comes in before this returns. If none waits, it sleeps for a moment, in which
  // they may come.
  virtual void LetIn() = 0;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_OTHER_THREADS_H_
