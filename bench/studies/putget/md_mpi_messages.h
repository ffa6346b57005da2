// MdMpiMessages: positions and forces of MdFolds by MPI's collectives.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_MD_MPI_MESSAGES_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_MD_MPI_MESSAGES_H_

#include <mpi.h>

#include <vector>

#include "bench/studies/putget/md_folds.h"
#include "membuf/status.h"

namespace brigade::bench {

class MdMpiMessages final : public MdFolds::Messages {
 public:
  // Collective.
  explicit MdMpiMessages(MPI_Comm comm);
  ~MdMpiMessages() override;
  MdMpiMessages(const MdMpiMessages&) = delete;
  MdMpiMessages& operator=(const MdMpiMessages&) = delete;
  Status Gather(bool along_row, const std::vector<double>& own, MdLine* line) override;
  Status Fold(bool along_row, const MdLine& line, double* own) override;

 private:
  MPI_Comm row_, column_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_MD_MPI_MESSAGES_H_
