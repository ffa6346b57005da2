"""How the peers are started and tuned: every option and variable of theirs is here, and only here."""

import os
import pathlib
from typing import NamedTuple

# Where bench/cluster/cluster_peers.sh installs MPIs that Debian does not have.
INSTALLED = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "brigade"

# MKL's pdgemm and the libraries below it, to preload: one thread, 32-bit integers, Open MPI.
MKL = ":".join(str(INSTALLED / "mkl" / "lib" / f"libmkl_{library}") for library in (
    "core.so.3", "sequential.so.3", "intel_lp64.so.3", "blacs_openmpi_lp64.so.2", "scalapack_lp64.so.2"))

# Windows of Debian's Open MPI by its messages: between hosts, where it makes none by default, and on one, where they
# are memory that all map.
OPEN_MPI_WINDOWS_OVER_TCP = {"OMPI_MCA_osc": "pt2pt"}
WINDOWS_OVER_TCP = tuple(f"{name}={value}" for name, value in OPEN_MPI_WINDOWS_OVER_TCP.items())

# Ranks that outnumber the cores: pinned or spinning they would measure the scheduler.
YIELDING = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
PINNED = ["--bind-to", "core"]
AS_ROOT = {f"{launcher}_ALLOW_RUN_AS_ROOT{confirm}": "1"
           for launcher in ("OMPI", "PRTE") for confirm in ("", "_CONFIRM")}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

# Long messages in two copies through shared memory, as everywhere without CMA: the other setting to compare with.
CMA_OFF = ["--mca", "btl_vader_single_copy_mechanism", "none"]

# The reduction within a host of Debian's MPICH crashes in place at roots other than 0; the general one is as fast.
DEBIAN_MPICH = {"MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE": "0"}


def forced(**algorithms):
    """Options that force algorithms of Open MPI: operation = (number, segment in bytes or 0)."""
    options = ["--mca", "coll_tuned_use_dynamic_rules", "1"]
    for operation, (number, segment) in algorithms.items():
        options += ["--mca", f"coll_tuned_{operation}_algorithm", str(number),
                    "--mca", f"coll_tuned_{operation}_algorithm_segmentsize", str(segment)]
    return options


def forced_mpich(chunk_bytes, algorithms):
    """Variables that force algorithms of MPICH: trees are chains, and messages along them cut."""
    variables = {}
    for operation, algorithm in algorithms.items():
        variables[f"MPIR_CVAR_{operation}_INTRA_ALGORITHM"] = algorithm
        variables[f"MPIR_CVAR_{operation}_DEVICE_COLLECTIVE"] = "0"
    for operation in ("BCAST", "ALLREDUCE", "IREDUCE"):
        variables[f"MPIR_CVAR_{operation}_TREE_TYPE"] = "kary"
        variables[f"MPIR_CVAR_{operation}_TREE_KVAL"] = "1"
        variables[f"MPIR_CVAR_{operation}_TREE_PIPELINE_CHUNK_SIZE"] = str(chunk_bytes)
    variables["MPIR_CVAR_IREDUCE_RING_CHUNK_SIZE"] = str(chunk_bytes)
    return variables


class HostMpi(NamedTuple):
    """An MPI that Debian does not have, in shared memory, one rank per core."""

    label: str
    folder: str  # in INSTALLED
    starter: str
    options: list
    environment: dict = {}

    def is_installed(self):
        return (INSTALLED / self.folder).is_dir()

    def prepared(self):
        """Returns the environment for its launcher and its programs."""
        prefix = INSTALLED / self.folder
        return {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": f"{prefix}/lib", **self.environment}


OPEN_MPI_5 = HostMpi("Open MPI 5", "openmpi5", "mpirun", PINNED)
MPICH_5 = HostMpi("MPICH 5", "mpich5", "mpiexec", ["-bind-to", "core"])
HOST_MPIS = [
    OPEN_MPI_5,
    MPICH_5,
    HostMpi("Intel MPI", "impi", "mpiexec", [], {"I_MPI_ROOT": str(INSTALLED / "impi"), "I_MPI_FABRICS": "shm"}),
]

# On one host: forced algorithms can only be chosen at launch, so each is one more launch of Open MPI as peer.
ONE_HOST_TUNINGS = {
    "binomial": forced(bcast=(6, 0), reduce=(5, 0), allgatherv=(3, 0), reduce_scatter=(2, 0)),
    "pipeline": forced(bcast=(3, 65536), reduce=(3, 65536), allgatherv=(4, 0), reduce_scatter=(3, 0)),
    "scatter": forced(bcast=(9, 0), reduce=(7, 0), allgatherv=(2, 0), reduce_scatter=(4, 0)),
}


class Library(NamedTuple):
    """An MPI on the cluster and its settings: what a launch of its own is needed for."""

    label: str  # after the names of its subjects
    mpi: str = "openmpi"  # as cluster.sh run --mpi
    options: list = []  # of mpirun
    environment: dict = {}
    only_full: bool = False


# MPICH cuts only non-blocking reductions into segments. Both MPIs yield when idle, MPICH without a setting.
_MPICH_BEST = {"BCAST": "pipelined_tree", "ALLGATHER": "ring", "REDUCE_SCATTER_BLOCK": "pairwise",
               "REDUCE_SCATTER": "pairwise", "ALLREDUCE": "ring", "REDUCE": "nb", "IREDUCE": "tsp_tree",
               "ALLTOALL": "pairwise"}
# Open MPI has no ring for reduce_scatter_block: butterfly (4) or halving (3) are left, and MPI_Reduce_scatter is
# measured, too.
_RINGS = {"allgather": (4, 0), "reduce_scatter": (3, 0), "reduce_scatter_block": (4, 0)}
# Pairwise, or all at once; along binomial trees, or direct. Of scans one algorithm is better than the default.
_PAIRWISE = {"alltoall": (2, 0), "gather": (2, 0), "scatter": (2, 0), "scan": (2, 0), "exscan": (2, 0)}
_LINEAR = {"alltoall": (4, 0), "gather": (1, 0), "scatter": (1, 0), "scan": (2, 0), "exscan": (2, 0)}
LIBRARIES = [
    Library(""),
    Library("pipeline 16K", options=forced(bcast=(3, 16384), reduce=(3, 16384), allreduce=(5, 16384), **_RINGS,
                                           **_PAIRWISE)),
    Library("pipeline 8K", options=forced(bcast=(3, 8192), reduce=(3, 8192), allreduce=(4, 0), **_LINEAR,
                                          **{**_RINGS, "reduce_scatter_block": (3, 0)})),
    Library("MPICH 5", mpi="mpich5"),
    Library("MPICH 5, chains of 8K", mpi="mpich5", environment=forced_mpich(8192, _MPICH_BEST)),
    Library("pipeline 4K", only_full=True,
            options=forced(bcast=(3, 4096), reduce=(3, 4096), allreduce=(4, 0), **_RINGS)),
    Library("pipeline 64K", only_full=True,
            options=forced(bcast=(3, 65536), reduce=(3, 65536), allreduce=(5, 65536), **_RINGS)),
    Library("scatter", only_full=True,
            options=forced(bcast=(9, 0), reduce=(7, 0), allreduce=(2, 0), allgather=(5, 0), reduce_scatter=(2, 0),
                           reduce_scatter_block=(2, 0))),
    Library("MPICH 5, chains of 4K", mpi="mpich5", only_full=True, environment=forced_mpich(4096, _MPICH_BEST)),
    Library("MPICH 5, chains of 16K", mpi="mpich5", only_full=True, environment=forced_mpich(16384, _MPICH_BEST)),
    Library("MPICH 5, rings", mpi="mpich5", only_full=True,
            environment=forced_mpich(16384, {**_MPICH_BEST, "BCAST": "scatter_ring_allgather",
                                             "IREDUCE": "tsp_ring"})),
]

# TCP between two processes of one host: Open MPI's as it is and with larger buffers, fragments, and eager messages.
LOOPBACK_TUNINGS = {
    "": [],
    "buffers 4M": ["--mca", "btl_tcp_sndbuf", "4194304", "--mca", "btl_tcp_rcvbuf", "4194304"],
    "fragments 1M": ["--mca", "btl_tcp_max_send_size", "1048576",
                     "--mca", "btl_tcp_rdma_pipeline_send_length", "1048576"],
    "eager 512K": ["--mca", "btl_tcp_eager_limit", "524288", "--mca", "btl_tcp_rndv_eager_limit", "524288",
                   "--mca", "btl_tcp_max_send_size", "1048576"],
}
OVER_TCP = ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp"]
LOOPBACK_OPEN_MPI = ["mpirun", "-n", "2", *PINNED, *OVER_TCP]
LOOPBACK_MPICH = ["mpiexec", "-n", "2", "-bind-to", "core"]


def loopback_mpich_environment(interface="eth0"):
    """Finds MPICH 5, and keeps it from its shared memory. Without an interface it looks for one itself; it cannot take
    lo."""
    return {**MPICH_5.prepared(), "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": interface or "all",
            "MPIR_CVAR_NOLOCAL": "1"}
