"""Started by bench/run.sh: installs and builds what a job needs, runs it, and makes its report."""

import contextlib
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from bench.driver import (arguments, behind_job, machine, main_job, model_job, papers_job, peers, simulated_jobs,
                          study_job)
from bench.driver.cluster_job import Cluster, ClusterJob
from bench.driver.launching import Launcher, say
from bench.papers import contract

TARGETS = {"main": main_job.TARGETS, "cluster": main_job.TARGETS + main_job.MPICH_TARGETS, "model": model_job.TARGETS,
           "study": study_job.TARGETS, "scale": simulated_jobs.SCALE_TARGETS}


# On 2 cores.
TAKES = {"cluster": "15 minutes", "model": "15 minutes", "study": "15 minutes", "scale": "minutes"}


def prepare(given):
    """Installs and builds; returns the Programs."""
    measuring = (f"at most {given.hours:g} h" if given.papers else
                 "some hours" if given.full else TAKES.get(given.job) or main_extent(given).takes)
    if given.behind:
        measuring += ", --behind about 9 minutes more"
    if given.bin:
        say(f"Measuring takes {measuring} on 2 cores")
        return machine.Programs(given.bin, given.mpich_bin)
    say(f"On 2 cores packages take 1 minute and a first build 3; measuring takes {measuring}")
    say("Packages")
    is_first_report = given.job == "main" and not given.behind and given.peers != "all" and not measures_more(given)
    subprocess.run([machine.ROOT / "test" / "install.sh", "bench" if is_first_report else "test"], check=True)
    if given.job in ("cluster", "study") or given.peers == "all":
        say("More MPIs")
        # May fail: then its launches fail, and are counted.
        subprocess.run([machine.ROOT / "bench" / "cluster" / "cluster_peers.sh"], check=False)
    say("Build")
    beside = study_job.MPICH_TARGETS if given.job == "study" and given.places != [study_job.SIMULATED] else None
    targets = TARGETS.get(given.job)
    if given.job == "main" and measures_more(given):
        targets = targets + main_job.MPICH_TARGETS
    if given.papers:
        targets = [target for name in given.papers for target in contract.study(name).targets]
    return machine.build(targets, beside)


def print_report(name, output, inputs):
    """Runs a report that is text, stores its output, and prints the paths of the output and its plot."""
    say("Report")
    text = subprocess.run(["/usr/bin/python3", "-m", f"bench.report.{name}", *inputs,
                           "--plot", output / f"{name}.svg", "--summary", output / f"{name}_summary.json"],
                          check=True, stdout=subprocess.PIPE, text=True, cwd=machine.ROOT).stdout
    (output / f"{name}.txt").write_text(text, encoding="utf-8")
    print(text)
    print(f"Plot: {output / f'{name}.svg'}")
    print(f"Report: {output / f'{name}.txt'}")


def main_extent(given):
    return main_job.QUICK if given.quick else main_job.FULL if given.full else main_job.BRIEF


def more_mpis():
    return [mpi for mpi in peers.HOST_MPIS if mpi.is_installed()]


def measures_more(given):
    return main_job.measures_more(main_extent(given), more_mpis())


def run_main(given, launcher, programs):
    job = main_job.MainJob(main_extent(given), launcher.output, programs, machine.cores(), given.brigade_version,
                           more_mpis())
    if not given.quick:
        job.lu_tester(launcher)
    launcher.run_all(job.plan())
    if given.behind:
        behind_job.BehindJob(given, job).run(launcher)
    main_job.report(launcher.output)
    if given.behind:
        behind_job.report(launcher.output, programs.bench)


def run_cluster(given, launcher, programs):
    with Cluster(given.cluster, given.rate) as cluster:
        ClusterJob(given, launcher.output, programs, cluster, given.brigade_version).run(launcher)
    if "topologies" in given.only:
        subprocess.run(["/usr/bin/python3", "-m", "bench.report.cluster", launcher.output], check=True,
                       cwd=machine.ROOT)
    main_job.report(launcher.output)


def run_model(given, launcher, programs):
    job = model_job.ModelJob(given.full, launcher.output, programs, None)
    with Cluster(job.ranks[-1], given.rate) as job.cluster:
        launcher.run_all(job.plan())
    print_report("model", launcher.output, sorted(launcher.output.glob("model_*.jsonl")))
    print(f"Machines: {launcher.output}/machine_*.json")


def run_study(given, launcher, programs):
    job = study_job.StudyJob(given, launcher.output, programs, None, given.brigade_version)
    with contextlib.ExitStack() as stack:
        if "cluster" in given.places:
            job.cluster = stack.enter_context(Cluster(8, given.rate))
            job.link_mbytes = job.cluster.payload_rate()
        launcher.run_all(job.plan())
    if study_job.SIMULATED in given.places:
        simulated_jobs.simulate_study(launcher, programs, given.study)
    say("Report")
    page = launcher.output / f"study_{given.study}.html"
    subprocess.run(["/usr/bin/python3", "-m", "bench.report.study", given.study, launcher.output], check=True,
                   cwd=machine.ROOT)
    print(f"\nReport: {page}")


def run_scale(given, launcher, programs):
    if tables := simulated_jobs.simulate_scale(launcher, programs, given.full):
        print_report("scale", launcher.output, tables)


def run_papers(given, launcher, programs):
    job = papers_job.PapersJob(given.papers, given.hours, launcher.output, programs,
                               papers_job.about(given.brigade_version), given.limit)
    job.run(launcher)
    say("Pages")
    pages = launcher.output / "pages"
    subprocess.run(["/usr/bin/python3", "-m", "bench.papers.render", launcher.output, "--pages", pages,
                    "--papers", ",".join(given.papers)], check=True, cwd=machine.ROOT)
    print(f"Pages: {pages}\nResults: {launcher.output}; left or failed: {len(job.missing())} runs")


JOBS = {"main": run_main, "cluster": run_cluster, "model": run_model, "study": run_study, "scale": run_scale,
        "papers": run_papers}


def main():
    given = arguments.parse(sys.argv[1:])
    # So that clusters are taken down and scratch files removed, also when the terminal is closed.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # by nohup
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    output = given.output or machine.ROOT / "results" / (
        "papers" if given.papers else time.strftime("%Y%m%d-%H%M%S"))
    output.mkdir(parents=True, exist_ok=True)  # fails before minutes of building
    programs = prepare(given)
    given.brigade_version = given.brigade_version or machine.version()
    # The folder's name is short: Open MPI makes sockets in it.
    with tempfile.TemporaryDirectory(prefix="brigade.", dir="/tmp", ignore_cleanup_errors=True) as scratch:
        os.environ.update(peers.ONE_THREAD, TMPDIR=scratch, MPLCONFIGDIR=scratch)
        if os.geteuid() == 0:
            os.environ.update(peers.AS_ROOT)
        launcher = Launcher(pathlib.Path(output).resolve(), given.limit)
        JOBS[given.job](given, launcher, programs)
    if launcher.failures:
        sys.exit(f"bench/run.sh: {launcher.failures} launches failed, see above")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except subprocess.CalledProcessError as failure:
        sys.exit(f"bench/run.sh: {shlex.join(map(str, failure.cmd))} ended with status {failure.returncode}")
    except OSError as error:  # a program is missing, or the disk is full: a write has no file name
        sys.exit(f"bench/run.sh: {error.filename}: {error.strerror}" if error.filename else
                 f"bench/run.sh: {error.strerror}")
