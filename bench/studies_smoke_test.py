"""Checks the pages of the studies that studies_smoke_test.sh made."""

import html
import pathlib
import re
import sys


def check_suites(directory):
    """Every backend is in the tables, with every algorithm, and no claim lacks what it needs."""
    for study, patterns in (("as", {"put"}), ("mult", {"put", "get"}),
                            ("rdx", {"RDXSORT, put", "RDXSORTOPT, put", "combined, put"})):
        page = html.unescape((directory / f"study_{study}.html").read_text())
        for backend in ("windows", "mpi_rma", "mpi_send", "bsp"):
            for pattern in patterns:
                assert f"<td>{backend}: {pattern}</td>" in page.replace("\n", ""), (study, backend, pattern)
        assert "mpi: " in page and "Simulated machines" in page, study
        missing = page.count("not measured")
        assert missing == (study == "mult"), (study, missing)  # 16 ranks are of --full


def check_putget(directory):
    """Each program has its row, with every way of communicating."""
    for study, case, classless in (("cg", "NAS CG, class S", True), ("mg", "NAS MG, class S", False),
                                   ("summa", "SUMMA, chunks of 16, 64", True),
                                   ("md", "Lennard-Jones dynamics, 2 steps, 256", True)):
        page = html.unescape((directory / f"study_{study}.html").read_text()).replace("\n", "")
        (row,) = re.findall(f"<td>{case}</td>(.*?)</tr>", page)
        assert row.count("<td") == 11 and "<td></td>" not in row, (study, row)
        assert page.count("<svg") == 1, study
        # The paper has figures of larger classes of MG only.
        assert ("not measured" not in page) == classless, study


def check_srumma(directory):
    """Every way and every library has its place, but MKL, and every claim what it needs."""
    page = html.unescape((directory / "study_srumma.html").read_text()).replace("\n", "")
    assert "not measured" not in page and page.count("<svg") == 2, page.count("<svg")
    peers, ways = re.findall("<tr><td>64</td>(.*?)</tr>", page)
    assert peers.count("<td") == 11 and peers.count("<td></td>") == 1, peers
    assert ways.count("<td") == 9 and "<td></td>" not in ways, ways
    simulated = r"<td>256</td><td>2048</td><td>[\d.]+</td>(<td>[\d.]+ <small>\d+</small></td>){5}"
    assert re.search(simulated, page), "simulated"


def main():
    directory = pathlib.Path(sys.argv[1])
    check_suites(directory / "suites")
    check_putget(directory / "putget")
    check_srumma(directory / "srumma")


main()
