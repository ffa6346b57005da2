"""The command line of ./bench/run.sh."""

import argparse
import difflib
import os
import pathlib
import re

from bench.driver import cluster_job, papers_job, peers, study_job
from bench.papers import contract

DESCRIPTION = """\
Measures Brigade beside its peers on this machine and writes one report. Installs what is missing, builds, measures

  - ScaLAPACK's LU tester on the reference BLACS and on the shim,
  - ScaLAPACK's LU, Cholesky, QR, matrix product and eigensolver on 1x2 and 2x2 ranks, with the reference
    BLACS and the shim,
  - ping-pong on 2 ranks: Brigade, shim, reference BLACS, raw MPI, a bare ring in shared memory,
  - the BLACS calls ScaLAPACK makes most on 2 and 4 ranks, with 4 cores or more on 8, too: shim,
    reference BLACS,
  - all patterns on contiguous data on as many ranks: Brigade, MPI collectives,
  - spread of panels on 4 ranks: Brigade's patterns, shim, reference BLACS, plain patterns, MPI collectives,

and prints the path of the report. MPI is Open MPI as it is, and Open MPI without single copies (CMA). With --full, or
if --peers all has installed more MPIs, there are 8 ranks on 2 cores, too; MPICH, Open MPI 5, MPICH 5 and Intel
MPI are measured while every rank has a core. Takes about 2 minutes on 2 cores, with --peers all 5, besides the first
build. A launch that fails is counted, the rest is still measured, and the exit code is 1. bench/README.md says how to
read the report."""

# Which options go with which job, besides those that go with all.
ANYWHERE = {"output", "bin", "mpich_bin", "brigade_version", "limit"}
GOES_WITH = {
    "main": {"full", "quick", "peers", "behind"},
    "cluster": {"full", "rate", "only", "ranks", "sizes", "libraries", "transport"},
    "scale": {"full"},
    "model": {"full", "rate"},
    "study": {"full", "rate", "places", "rounds", "bsplib"},
    "papers": {"hours"},
}
# Files that must not exist in a job's folder: the lines of two runs in one file would count as one run.
RESULTS = {"cluster": "cluster*.jsonl", "scale": "scale_*.jsonl", "model": "model_*.jsonl"}


class Parser(argparse.ArgumentParser):
    """Suggests the option that was probably meant."""

    def parse_args(self, args=None, namespace=None):
        arguments, unknown = self.parse_known_args(args, namespace)
        if unknown:
            flag = unknown[0].split("=")[0]
            near = difflib.get_close_matches(flag, self._option_string_actions, n=1)
            self.error(f"unknown argument: {unknown[0]}" + (f"; did you mean {near[0]}?" if near else ""))
        return arguments

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\nSee {self.prog} --help\n")


def _number(least, most, what):
    def parsed(text):
        if not re.fullmatch("[0-9]{1,6}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{text}' is no number of {what} from {least} to {most}")
        return int(text)
    return parsed


def _hours(text):
    try:
        hours = float(text)
    except ValueError:
        hours = 0
    if not 0 < hours < 1000:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of hours such as 0.5")
    return hours


def _numbers(text):
    if not re.fullmatch("[1-9][0-9]*(,[1-9][0-9]*)*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers such as 4,8")
    return [int(number) for number in text.split(",")]


def _sizes(text):
    if not re.fullmatch("[1-9][0-9]*[KMG]?(,[1-9][0-9]*[KMG]?)*", text, re.IGNORECASE):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of bytes such as 64K,1M")
    return text


def _parts(text):
    parts = text.split(",")
    for part in parts:
        if part not in cluster_job.PARTS:
            raise argparse.ArgumentTypeError(f"no part '{part}'; there are {', '.join(cluster_job.PARTS)}")
    return parts


def _libraries(text):
    known = [library.label for library in peers.LIBRARIES]
    labels = [label.strip() for label in text.split(";")]
    for label in labels:
        if label not in known:
            raise argparse.ArgumentTypeError(f"no library '{label}'; there are " + "; ".join(f"'{k}'" for k in known))
    return labels


def make_parser():
    parts = "\n".join(f"  {name:10} {title}" for name, title in cluster_job.TITLES.items())
    parser = Parser(prog="bench/run.sh", description=DESCRIPTION, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter, epilog=f"parts of --only:\n{parts}")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true",
                        help="a first look: 20 seconds after the build, one launch of everything, and no figure of "
                        "it is sure")
    extent.add_argument("--full", action="store_true",
                        help="all sizes, everything on 2, 4 and 8 ranks, staging memory up to messages of 1 GiB (needs "
                        "6 GiB), 10 launches of everything: some hours. With --scale longer simulations, with --model "
                        "2 to 8 ranks and up to 16 MiB")
    parser.add_argument("--peers", choices=["installed", "all"],
                        help="all: installs Open MPI 5, MPICH 5 and Intel MPI from PyPI (about 600 MB), and measures "
                        "them and Debian's MPICH, too; installed (the default): measures those of them that are "
                        "already installed")
    parser.add_argument("--behind", action="store_true",
                        help="also calibrates, measures TCP between two processes and, without --quick, windows and "
                        "four hosts with slow links if they can be raised; and writes behind.md, to send with a "
                        "complaint: the cases in which a peer is faster beyond the interval, each with the protocol "
                        "taken and the time that the cost model predicts. It names no host, user or path. Takes about "
                        "9 minutes more")
    parser.add_argument("--output", metavar="DIR", type=pathlib.Path,
                        help="where results go, none of the same kind in it yet; default: results/<date and time>")
    parser.add_argument("--limit", metavar="S", type=_number(0, 999999, "seconds"),
                        help="seconds a launch may take; default: 300, on the cluster and of a study 1200, with "
                        "--full 3600; of the papers five times what it is expected to take, and 60; of the others as "
                        "long as they like")

    jobs = parser.add_argument_group("instead").add_mutually_exclusive_group()
    jobs.add_argument("--cluster", metavar="HOSTS", type=_number(2, cluster_job.MOST_HOSTS, "hosts"),
                      help="ping-pong, all patterns, ScaLAPACK and overlap with computation on as many hosts with slow "
                      "links, which are raised on this machine (bench/cluster/cluster.sh) and taken down; beside Open "
                      "MPI and MPICH 5, installed from PyPI, each as it is and at its best. About 15 minutes; adds to "
                      "the report in DIR, if there is one")
    jobs.add_argument("--scale", action="store_true",
                      help="broadcast, reduce, multi-broadcast and multi-reduce on 8 to 65,536 simulated ranks of fat "
                      "hosts, beside what Open MPI does by default: minutes")
    jobs.add_argument("--model", action="store_true",
                      help="every candidate of a pattern in shared memory, over TCP on one host and on hosts with "
                      "slow links, beside what the cost model says it takes, and what the library chooses beside the "
                      "best: half an hour or more, with --full three hours")

    jobs.add_argument("--study", metavar="NAME", choices=study_job.STUDIES,
                      help="a paper's study in shared memory, over TCP on one host and on 8 hosts with slow links, "
                      "beside MPI's one-sided and two-sided communication: " +
                      "; ".join(f"{name}: {study.title}" for name, study in study_job.STUDIES.items()))

    jobs.add_argument("--papers", metavar="NAME,...", type=contract.paper_names, nargs="?", const=list(contract.NAMES),
                      help="every table of these papers, whole: the paper's figures, those simulated on its machine, "
                      "and those measured here, as pages in DIR/pages; of " + ", ".join(contract.NAMES) +
                      ", default: all. Takes at most --hours besides the build. Begins with what takes the least time "
                      "for a cell. Started again, it runs only what has no result in DIR yet; default of DIR: "
                      "results/papers")

    papers = parser.add_argument_group("of the papers")
    papers.add_argument("--hours", metavar="H", type=_hours,
                        help="no launch begins that is expected to end later; its cells are marked in the pages. "
                        f"Default: {papers_job.HOURS:g}")

    cluster = parser.add_argument_group("of the cluster")
    cluster.add_argument("--rate", help="of each link, both ways, also with --model and --study; default: " +
                         cluster_job.RATE)
    cluster.add_argument("--only", metavar="PART,...", type=_parts,
                         help="these parts, which may be added to what DIR holds of the same --rate; default: all, " +
                         " and ".join(cluster_job.LONG) + " only with --full")
    cluster.add_argument("--ranks", metavar="P,...", type=_numbers,
                         help="of patterns, ring, strided and topologies; default: 4,7,8, of topologies 5,7,8")
    cluster.add_argument("--sizes", metavar="BYTES,...", type=_sizes,
                         help="of patterns, send, ring and gathers (all messages together), loopback and topologies: "
                         "64K,1M")
    cluster.add_argument("--libraries", metavar="LABEL;...", type=_libraries,
                         help="of patterns, send, topologies and gathers, without the BLACS: of " +
                         "; ".join(f"'{library.label}'" for library in peers.LIBRARIES))
    cluster.add_argument("--transport", help="of Brigade; default: tcp")

    study = parser.add_argument_group("of a study")
    study.add_argument("--places", metavar="PLACE,...", type=lambda text: text.split(","),
                       help="where it is run, of shm, loopback (TCP on this host), cluster (hosts with slow links) and "
                       "simulated (machines in virtual time); may be added to what DIR holds of other places; default: "
                       "wherever it can be")
    study.add_argument("--rounds", metavar="N", type=_number(1, 999, "rounds"),
                       help="launches of each contender; default: 2, with --full 10, and 1 of what takes longest there")
    study.add_argument("--bsplib", metavar="FILE", type=pathlib.Path,
                       help="of as, mult and rdx: LI over this BSPlib, too, such as that of "
                       "test/li/build_bsponmpi.sh")

    built = parser.add_argument_group("to measure what is built already")
    built.add_argument("--bin", metavar="DIR", type=pathlib.Path,
                       help="a bazel-bin folder: nothing is installed, nothing is built")
    built.add_argument("--mpich-bin", metavar="DIR", type=pathlib.Path,
                       help="the same, built with --config=mpich; default: beside it")
    built.add_argument("--brigade-version", metavar="TEXT", help="recorded with the figures; default: from git")
    return parser


def parse(argv):
    """The arguments, with `job` and every default filled in; ends the program with a message if they make no sense."""
    parser = make_parser()
    arguments = parser.parse_args(argv)
    arguments.job = next((job for job in GOES_WITH if getattr(arguments, job, None)), "main")
    allowed = GOES_WITH[arguments.job] | ANYWHERE
    for name, value in vars(arguments).items():
        if name not in allowed and name not in GOES_WITH and name != "job" and value not in (None, False):
            goes_with = " or ".join(f"--{job}" for job, names in GOES_WITH.items() if name in names and job != "main")
            flag = f"--{name.replace('_', '-')}"
            parser.error(f"{flag} goes with {goes_with}" if arguments.job == "main" else
                         f"{flag} does not go with --{arguments.job}")
    if arguments.study:
        _complete_study(parser, arguments)
    if arguments.output is not None and arguments.only is None and _holds_results(arguments):
        parser.error(f"{arguments.output} already holds results; give another --output")
    if arguments.output is not None:  # said before minutes of building
        try:
            arguments.output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            parser.error(f"--output: {arguments.output}: {error.strerror}")
        if not os.access(arguments.output, os.W_OK):
            parser.error(f"--output: {arguments.output} cannot be written to")
    arguments.hours = arguments.hours or papers_job.HOURS
    arguments.rate = arguments.rate or cluster_job.RATE
    if not re.fullmatch("[1-9][0-9]*[kmg]?bit", arguments.rate):
        parser.error(f"--rate: '{arguments.rate}' is no rate such as 400mbit")
    arguments.transport = arguments.transport or "tcp"
    if arguments.job == "cluster" and arguments.output is not None and arguments.only != ["topologies"]:
        for rate in _rates_in(arguments.output) - {arguments.rate}:
            parser.error(f"{arguments.output} holds results of links of {rate}; give another --output")
    if arguments.only is None:
        arguments.only = [part for part in cluster_job.PARTS if arguments.full or part not in cluster_job.LONG]
    if arguments.limit is None:
        brief = {"main": 300, "cluster": 1200, "study": 1200}.get(arguments.job, 0)
        arguments.limit = 3600 if arguments.full and brief else brief
    for flag, folder in (("--bin", arguments.bin), ("--mpich-bin", arguments.mpich_bin)):
        if folder is not None and not folder.is_dir():
            parser.error(f"{flag}: {folder} is no folder")
    if arguments.bin is not None:
        arguments.bin = arguments.bin.resolve()
        if arguments.mpich_bin is None:
            # .bazelrc gives the configuration of MPICH a suffix.
            arguments.mpich_bin = arguments.bin.parent.with_name(arguments.bin.parent.name + "-mpich") / "bin"
    return arguments


def _complete_study(parser, arguments):
    places = study_job.STUDIES[arguments.study].places
    arguments.places = arguments.places or places
    for place in arguments.places:
        if place not in places:
            parser.error(f"--places: study {arguments.study} has no place '{place}'; it has {', '.join(places)}")
    if arguments.rate and "cluster" not in arguments.places:
        parser.error("--rate is of the cluster, which --places leaves out")
    arguments.rounds = arguments.rounds or (10 if arguments.full else 2)
    if arguments.bsplib is not None:
        if not study_job.runs_li(arguments.study):
            parser.error(f"--bsplib: study {arguments.study} does not run LI")
        if not arguments.bsplib.is_file():
            parser.error(f"--bsplib: {arguments.bsplib} is no file")
        arguments.bsplib = arguments.bsplib.resolve()


def _holds_results(arguments):
    if arguments.job == "study":
        return any((arguments.output / study_job.results(arguments.study, place)).exists()
                   for place in arguments.places)
    if arguments.job == "main":
        return any(arguments.behind or not path.name.startswith("cluster")
                   for path in arguments.output.glob("*.jsonl"))
    # A folder of the papers is for completion.
    return arguments.job != "papers" and any(arguments.output.glob(RESULTS[arguments.job]))


def _rates_in(folder):
    """Of the links. A report has one, but for topologies."""
    path = folder / "cluster.jsonl"
    return set(re.findall('"rate": "([^"]*)"', path.read_text(encoding="utf-8"))) if path.exists() else set()
