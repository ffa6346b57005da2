#ifndef BRIGADE_TEST_SUPPORT_PROGRESS_THREADS_H_
#define BRIGADE_TEST_SUPPORT_PROGRESS_THREADS_H_

#include <dirent.h>

#include <fstream>
#include <string>

namespace brigade {

// Threads of this process that are progress threads.
inline int ProgressThreads() {
  int progress_threads = 0;
  DIR* const tasks = opendir("/proc/self/task");
  while (const dirent* const task = readdir(tasks)) {
    std::string name;
    std::ifstream(std::string("/proc/self/task/") + task->d_name + "/comm") >> name;
    progress_threads += name == "brigade";
  }
  closedir(tasks);
  return progress_threads;
}

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_PROGRESS_THREADS_H_
