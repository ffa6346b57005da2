"""The papers' studies: on this host in shared memory, mostly over TCP, too, and on hosts with slow links."""

import random
from typing import NamedTuple

from bench.driver import machine, peers
from bench.driver.launching import Launch

MPICH_TARGETS = ["//bench:brigade_bench", "//bench/studies:suites", "//bench/studies/putget:studies",
                 "//bench/studies/srumma:overlap_study"]
TARGETS = [*MPICH_TARGETS, "//bench/simulated:superstep_table", "//bench/simulated:srumma_table",
           "//bench/simulated/putget:putget_table", "//bench/studies/srumma:studies",
           "//bench/scalapack:scalapack_timing", "//blacs_shim:libbrigade_blacs.so",
           "//pblas_shim:libbrigade_pblas.so"]
PLACES = ("shm", "loopback", "cluster")
SIMULATED = "simulated"


class Contender(NamedTuple):
    """One launch of a program, which may measure several subjects itself."""

    label: str = ""  # after the names of MPI's subjects
    mpi: str = "openmpi"  # or mpich, Debian's; or one of cluster_peers.sh
    backend: str = ""  # of LI
    preload: str = ""  # a name of Programs.preloads
    products: str = "on"  # BRIGADE_PBLAS with that
    variants: str = ""  # of the program's, if not all
    environment: tuple = ()  # of its MPI
    options: tuple = ()  # of mpirun, in shared memory
    # With more ranks on few processors the MPI's windows take minutes, or hang; its messages do not.
    most_ranks_on_windows: int = 1000


class Program(NamedTuple):
    """A subcommand of brigade_bench, a suite of the LI paper, a program of the put/get study or of SRUMMA's, or
    scalapack_timing.
    `ranks`: on which numbers of them it runs; none: only with --full."""

    arguments: list
    ranks: tuple
    full_arguments: list = []  # instead of `arguments`, with --full
    full_ranks: tuple = ()
    most_rounds: int = 1000
    sequential: bool = False  # one rank, too, as that to which speedups are
    folder: str = "putget"  # of a program whose name ends with _study
    contenders: dict = {}  # instead of the study's; {place: [Contender]}


class Study(NamedTuple):
    title: str
    contenders: dict  # {place: [Contender]}; places that are missing are left out
    programs: list
    simulated: bool = False  # on machines in virtual time, too

    def contenders_of(self, program, place):
        return (program.contenders or self.contenders).get(place, [])

    @property
    def places(self):
        """Where it has anything to run."""
        found = [place for place in PLACES if any(self.contenders_of(program, place) for program in self.programs)]
        return found + [SIMULATED] * self.simulated


def _factorizations(grid):
    return ["scalapack_timing", "-n", "2000", "--nb", "64", "--routines", "LU,Cholesky,QR", "--grid", grid]


def results(name, place):
    """Returns the name of the file for a study's figures in a place."""
    return f"study_{name}_{place}.jsonl"


BENCH = {
    "shm": [Contender(), Contender("MPICH", "mpich")],
    "loopback": [Contender()],
    "cluster": [Contender(), Contender("MPICH 5", "mpich5")],
}
_OURS = [Contender(backend=name) for name in ("windows", "bsp", "mpi_send")]
_NEWER = [Contender("Open MPI 5", "openmpi5", "mpi_rma"), Contender("MPICH 5", "mpich5", "mpi_rma")]
# Messages by two copies through shared memory, which of some lengths are faster; without windows of their own.
_TWO_COPIES = Contender("CMA off", options=tuple(peers.CMA_OFF), most_ranks_on_windows=0)
# Debian's Open MPI has no windows over TCP.
LI = {
    "shm": [*_OURS, Contender(backend="mpi_rma"), _TWO_COPIES._replace(backend="mpi_send"),
            Contender("MPICH", "mpich", "mpi_rma"), _NEWER[0], _NEWER[1]._replace(most_ranks_on_windows=2)],
    "loopback": [*_OURS, *_NEWER],
    "cluster": [*_OURS, *_NEWER],
}
_MPICH_5 = Contender("MPICH 5", "mpich5")
# Its progress takes a nap where nothing moves: its best, in windows, where ranks outnumber processors.
_MPICH_5_NAPS = Contender("MPICH 5, naps", "mpich5", environment=("MPIR_CVAR_CH4_PROGRESS_THROTTLE=1",))
# Over TCP its blocking gets, and puts that are flushed, take tens of milliseconds between more than two.
_MPICH_5_OVER_TCP = _MPICH_5._replace(most_ranks_on_windows=2)
_OPEN_MPI_5 = Contender("Open MPI 5", "openmpi5")
PUTGET = {
    "shm": [Contender(), _TWO_COPIES, Contender("MPICH", "mpich"), _OPEN_MPI_5, _MPICH_5, _MPICH_5_NAPS],
    # On one host the windows of Open MPI 5 are memory that all map, whatever its messages go over.
    "loopback": [Contender(), _OPEN_MPI_5._replace(most_ranks_on_windows=0), _MPICH_5_OVER_TCP],
    "cluster": [Contender(), _OPEN_MPI_5, _MPICH_5_OVER_TCP],
}
# Open MPI 5.0 completes an accumulate from within another, and then each waits for the other.
MD = {**PUTGET, "cluster": [Contender(), _OPEN_MPI_5._replace(most_ranks_on_windows=2), _MPICH_5_OVER_TCP]}
MD_HOSTS = {"cluster": MD["cluster"]}
MD_UNEVEN = {"shm": MD["shm"], **MD_HOSTS}
# Products by the pdgemm of each library, in a process with ours to compare with, and the same BLAS.
_PDGEMM = [Contender(), *(Contender(label, preload=preload, variants="diagonal,pdgemm,dgemm") for label, preload in (
    ("our BLACS", "blacs"), ("our PBLAS", "pblas"), ("MKL", "mkl")))]
_GLOBAL_ARRAYS = Contender("Global Arrays", variants="diagonal,ga_dgemm,dgemm")
_PRODUCTS_ON_HOSTS = [*_PDGEMM, _GLOBAL_ARRAYS._replace(environment=peers.WINDOWS_OVER_TCP)]
_PRODUCTS_ON_ONE = [*_PDGEMM, _GLOBAL_ARRAYS]
SRUMMA = {"shm": _PRODUCTS_ON_ONE, "cluster": _PRODUCTS_ON_HOSTS}
# The largest, which take minutes on slow hosts: no more ways than are to be compared.
_LARGE = [Contender(variants="diagonal,blocking,pdgemm,dgemm"),
          Contender("our BLACS", preload="blacs", variants="diagonal,pdgemm,dgemm")]
# Our library against the PBLAS behind it, at sizes that it leaves to them by default.
_SMALL = [Contender(label, preload=preload, variants="diagonal,pdgemm") for label, preload in (
    ("", ""), ("our BLACS", "blacs"), ("our PBLAS", "pblas"))]
# Routines of the PBLAS, and of our library, that need half of the arithmetic, beside the whole product.
_HALVES = [Contender(label, preload=preload, variants="whole,pdsyrk,pdtrmm,dgemm") for label, preload in (
    ("", ""), ("our BLACS", "blacs"), ("our PBLAS", "pblas"))]
PBLAS = {"shm": _SMALL, "cluster": _SMALL}
# ScaLAPACK's factorizations, of whose products our PBLAS take none, those that they take by themselves, or all.
_PRODUCTS_TAKEN = [Contender(f"{blacs}, {products}", preload=preload, products=products)
                   for blacs, preload in (("reference BLACS", "pblas"), ("our BLACS", "pblas over blacs"))
                   for products in ("off", "auto", "on")]
FACTORIZATIONS = {"shm": _PRODUCTS_TAKEN, "cluster": _PRODUCTS_TAKEN}
_ONE = {"shm": [Contender()], "cluster": [Contender()]}
# On one host a get goes by messages, and takes a progress thread, only with an option.
_GETS = {"shm": [Contender(), Contender("MPICH", "mpich")], "loopback": [Contender(variants="staged")],
         "cluster": [Contender(), Contender("MPICH 5", "mpich5")]}
STUDIES = {
    "exchange": Study("One-sided communication as the MPI/SX paper measures it", BENCH, [
        Program(["exchange", "--blocks", "0,1K,16K,64K,1M"], (2, 4, 8),
                ["exchange", "--blocks", "0,1K,4K,16K,64K,256K,1M,4M"]),
        Program(["one-sided", "--sizes", "8,1K,64K,1M"], (2,),
                ["one-sided", "--sizes", "8,64,512,4K,32K,256K,2M,32M"]),
        # MPICH 5 takes tens of milliseconds for each between more than two hosts.
        Program(["contended"], (2, 4, 8), contenders={place: BENCH[place] for place in ("shm", "loopback")}),
    ], simulated=True),
    "as": Study("Barriers and exchanges of all with all as the LI paper measures them", LI, [
        Program(["as_suite", "--ints", "1,4,16,64,256,1024,4096,16384"], (2, 4, 8),
                ["as_suite", "--ints", ",".join(str(1 << i) for i in range(17))]),
    ], simulated=True),
    "mult": Study("Products of matrices as the LI paper measures them", LI, [
        Program(["mult_suite", "-n", "320,640"], (4,), full_ranks=(4, 16, 25), sequential=True),
        # The cost of an int, from which the paper predicts the speedup.
        Program(["as_suite", "--no-tests", "--ints", "1024,4096,16384,65536"], (4,), full_ranks=(4, 16, 25)),
    ], simulated=True),
    "rdx": Study("Radix sort as the LI paper measures it", LI, [
        Program(["rdx_suite", "--keys", "1024000,4096000"], (2, 4, 8),
                ["rdx_suite", "--keys", "4096000,8192000,16384000"], (2, 4, 8, 16), sequential=True),
        Program(["rdx_suite", "--keys", "1024000", "--skewed"], (4,)),
    ], simulated=True),
    "cg": Study("NAS CG as the ARMCI paper measures it", PUTGET, [
        Program(["cg_study", "--classes", "W,A"], (2, 4, 8), ["cg_study", "--classes", "W,A,B"]),
    ], simulated=True),
    "mg": Study("NAS MG as the ARMCI paper measures it", PUTGET, [
        Program(["mg_study", "--classes", "W,A"], (2, 4, 8), ["mg_study", "--classes", "W,A,B"]),
    ], simulated=True),
    "summa": Study("SUMMA as the ARMCI paper measures it", PUTGET, [
        Program(["summa_study", "-n", "1024"], (2, 4, 8),
                ["summa_study", "-n", "1024,2048", "--widths", "128,256,512"]),
    ], simulated=True),
    "md": Study("Molecular dynamics as the ARMCI paper measures it", MD, [
        Program(["md_study", "--atoms", "256,2048", "--steps", "10"], (2, 4, 8),
                ["md_study", "--atoms", "256,864,2048", "--steps", "100"]),
        Program(["md_study", "--atoms", "12000", "--steps", "2"], (8,)),
        Program(["md_study", "--atoms", "2048", "--steps", "10", "--uneven", "2"], (8,), contenders=MD_UNEVEN),
        # Over slow links a task is worth its messages only if it is long.
        Program(["md_study", "--atoms", "2048", "--steps", "10", "--block", "256"], (4, 8), contenders=MD_HOSTS),
        Program(["md_study", "--atoms", "12000", "--steps", "2", "--block", "256,512"], (8,), contenders=MD_HOSTS),
        # Long enough for energy to drift, and the largest. Ten rounds would take too long. Each contender runs five
        # times in a launch, and all must end within its time limit.
        *(Program(["md_study", "--atoms", atoms, "--steps", "1000", "--run-seconds", "60"], (), full_ranks=ranks,
                  most_rounds=1)
          for atoms, ranks in (("256,864", (2, 8)), ("2048", (2, 8)), ("12000", (8,)), ("65536", (8,)))),
    ]),
    "srumma": Study("Products of matrices as the SRUMMA paper measures them", SRUMMA, [
        Program(["overlap_study", "--bytes", "8K,64K,1M"], (2,), ["overlap_study", "--bytes", "1K,8K,64K,256K,1M,4M"],
                folder="srumma", contenders=_GETS),
        Program(["product_study", "-n", "256,512,1000,2000"], (2, 4, 8), folder="srumma"),
        Program(["product_study", "-n", "1000,2000", "--grid", "1x8"], (8,), folder="srumma",
                contenders={"cluster": _PRODUCTS_ON_HOSTS}),
        # On slow hosts a launch takes minutes.
        Program(["product_study", "-n", "4000"], (4,), full_ranks=(2, 4, 8), folder="srumma",
                contenders={"shm": _PRODUCTS_ON_ONE}),
        Program(["product_study", "-n", "4000"], (), full_ranks=(2, 4, 8), folder="srumma",
                contenders={"cluster": _PRODUCTS_ON_HOSTS}),
        Program(["summa_study", "-n", "256,512,1000,2000", "--widths", "128"], (4, 8),
                ["summa_study", "-n", "256,512,1000,2000,4000", "--widths", "128,256"], contenders=_ONE),
    ], simulated=True),
    "pblas": Study("Products that our PBLAS compute, and products that they leave", PBLAS, [
        Program(["product_study", "-n", "64,96,128,192,256,384,512", "-k", "256"], (2, 4, 8), folder="srumma"),
        Program(["product_study", "-n", "512,750,1000,1500,2000"], (2, 4, 8), folder="srumma",
                contenders={"shm": _HALVES, "cluster": _HALVES}),
    ]),
    "large": Study("Products of 4000 x 4000 matrices beside ScaLAPACK's", {"cluster": _LARGE}, [
        Program(["product_study", "-n", "4000"], (4,), folder="srumma"),
        Program(["product_study", "-n", "4000"], (8,), folder="srumma", contenders={"shm": _LARGE, "cluster": _LARGE}),
    ]),
    "factorizations": Study("LU, Cholesky and QR with our PBLAS", FACTORIZATIONS, [
        Program(_factorizations("2x1"), (2,), contenders={"shm": FACTORIZATIONS["shm"]}),
        Program(_factorizations("2x2"), (4,)),
        Program(_factorizations("2x4"), (8,)),
    ]),
}


def runs_li(name):
    return STUDIES[name].contenders is LI


def _other_bsplib(library):
    """LI over a BSPlib that is not ours. Messages of MPI are measured by others."""
    # Debian's Open MPI has windows, which BSPonMPI takes by default, neither over TCP nor for one process.
    return Contender(library.stem.removeprefix("lib"), backend="bsp", variants="put,get",
                     environment=(f"BRIGADE_LI_BSP={library}", "BSPONMPI_A2A_METHOD=msg"))


class StudyJob:
    """Plans launches: every program in the selected places, beside every MPI that there is, in rounds; the
    arguments are the driver's."""

    def __init__(self, arguments, output, programs, cluster, version):
        self.name = arguments.study
        self.study = STUDIES[self.name]
        self.places = arguments.places
        self.rounds = arguments.rounds
        self.full = arguments.full
        self.bsplib = arguments.bsplib
        self.output = output
        self.programs = programs
        self.cluster = cluster
        self.version = version
        self.link_mbytes = None  # what a link of the cluster carries in a second, once that is known

    def plan(self):
        launches = []
        order = random.Random(1)
        launch_in = dict(zip(PLACES, (self.shm, self.loopback, self.hosts)))
        for number in range(self.rounds):
            for place in (place for place in PLACES if place in self.places):
                for program in self.study.programs:
                    if number >= program.most_rounds:
                        continue
                    for ranks in self.full and program.full_ranks or program.ranks:
                        contenders = self.study.contenders_of(program, place)
                        if self.bsplib:
                            contenders = [*contenders, _other_bsplib(self.bsplib)]
                        for contender in order.sample(contenders, len(contenders)):
                            launches += launch_in[place](contender, program, ranks, number)
                    if program.sequential and place == "shm":
                        launches += self.shm(self.study.contenders_of(program, place)[0], program, 1, number)
        return launches

    def command(self, place, contender, program, ranks, number):
        """The program, that of the MPI."""
        name, *arguments = self.full and program.full_arguments or program.arguments
        is_mpich = contender.mpi.startswith("mpich")
        transport = "auto" if place == "shm" else "tcp"
        suites = self.programs.suites_mpich if is_mpich else self.programs.suites
        if name == "scalapack_timing":
            return ["env", "OMP_NUM_THREADS=1", *self.preloading(contender, transport), self.programs.scalapack,
                    *arguments, "--pair", str(number), "--label", contender.label,
                    "--json", str(self.output / results(self.name, place))]
        seconds, least = ("0.3", "25") if self.full else ("0.05", "25")
        if contender.backend:
            command = ["env", f"BRIGADE_LI_BACKEND={contender.backend}", f"BRIGADE_TRANSPORT={transport}",
                       *contender.environment, f"{suites}/{name}", *arguments]
            variants = "send" if ranks > contender.most_ranks_on_windows else contender.variants
            command += ["--variants", variants] if variants else []
            least = least if self.full else "6"
        elif name.endswith("_study"):
            # A run takes seconds, but for a get; launches together are samples enough.
            command = ["env", "OMP_NUM_THREADS=1", *contender.environment, *self.preloading(contender, transport),
                       f"{suites}/{program.folder}/{name}", *arguments, "--transport", transport]
            command += ["--variants", contender.variants] if contender.variants else []
            command += ["--peers", "messages"] if ranks > contender.most_ranks_on_windows else []
            if place == "cluster" and self.link_mbytes and name == "product_study":
                command += ["--link-mbytes", str(self.link_mbytes)]
            least = "15" if name == "overlap_study" else "3"
        else:
            command = [self.programs.bench_mpich if is_mpich else self.programs.bench, name, *arguments,
                       "--peers", "mpi", "--shim", "none", "--transport", transport]
        if place == "loopback" and not contender.backend:
            command += ["--by-messages"]
        asleep = ["--asleep"] if ranks > machine.processors() else []
        # Ranks that sleep until a common start take milliseconds for it, even for short operations.
        asleep += ["--max-iterations", "150"] if asleep and not self.full else []
        return [*command, "--seconds", seconds, "--min-iterations", least,
                "--label", contender.label, "--seed", str(number + 1), *asleep, "--brigade-version", self.version,
                "--json", str(self.output / results(self.name, place))]

    def preloading(self, contender, transport):
        if not contender.preload:
            return []
        return [f"LD_PRELOAD={self.programs.preloads[contender.preload]}", f"BRIGADE_PBLAS={contender.products}",
                f"BRIGADE_TRANSPORT={transport}"]

    def mpirun(self, ranks):
        binding = peers.PINNED if ranks <= machine.cores() else peers.YIELDING
        return ["mpirun", "-n", str(ranks), *binding]

    def shm(self, contender, program, ranks, number):
        title = f"{program.arguments[0]}, {ranks} ranks in shared memory"
        command = self.command("shm", contender, program, ranks, number)
        if contender.mpi == "openmpi":
            return [Launch(title, [*self.mpirun(ranks), *contender.options, *command])]
        if contender.mpi == "openmpi5":
            return [Launch(title, [*self.mpirun(ranks), *command], peers.OPEN_MPI_5.prepared())]
        if contender.mpi == "mpich5":
            binding = peers.MPICH_5.options if ranks <= machine.cores() else []
            return [Launch(title, ["mpiexec", "-n", str(ranks), *binding, *command], peers.MPICH_5.prepared())]
        # Debian's MPICH has no setting to yield.
        return [Launch(title, ["mpiexec.mpich", "-n", str(ranks), "-bind-to", "core", *command],
                       peers.DEBIAN_MPICH)] if ranks <= machine.cores() else []

    def loopback(self, contender, program, ranks, number):
        title = f"{program.arguments[0]}, {ranks} ranks over TCP on this host"
        command = self.command("loopback", contender, program, ranks, number)
        if contender.mpi == "mpich5":
            return [Launch(title, ["mpiexec", "-n", str(ranks), *command], peers.loopback_mpich_environment(None))]
        prepared = peers.OPEN_MPI_5.prepared() if contender.mpi == "openmpi5" else peers.OPEN_MPI_WINDOWS_OVER_TCP
        return [Launch(title, [*self.mpirun(ranks), *peers.OVER_TCP, *command], {"BRIGADE_IFACE": "lo", **prepared})]

    def hosts(self, contender, program, ranks, number):
        return [Launch(f"{program.arguments[0]}, {ranks} ranks on hosts at {self.cluster.rate}", [
            *self.cluster.command, "run", "--mpi", contender.mpi, str(ranks),
            *self.command("cluster", contender, program, ranks, number)])]
