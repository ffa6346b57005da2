#include "bench/studies/putget/md_mpi_messages.h"

#include "bench/studies/putget/grid_rows.h"

namespace brigade::bench {

MdMpiMessages::MdMpiMessages(MPI_Comm comm) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int columns = ranks / GridRows(ranks);
  MPI_Comm_split(comm, rank / columns, rank, &row_);
  MPI_Comm_split(comm, rank % columns, rank, &column_);
}

MdMpiMessages::~MdMpiMessages() {
  MPI_Comm_free(&column_);
  MPI_Comm_free(&row_);
}

Status MdMpiMessages::Gather(bool along_row, const std::vector<double>& own, MdLine* line) {
  MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, line->positions.data(),
                 line->counts.data(), line->places.data(), MPI_DOUBLE, along_row ? row_ : column_);
  return Status();
}

Status MdMpiMessages::Fold(bool along_row, const MdLine& line, double* own) {
  MPI_Reduce_scatter(line.forces.data(), own, line.counts.data(), MPI_DOUBLE, MPI_SUM,
                     along_row ? row_ : column_);
  return Status();
}

}  // namespace brigade::bench
