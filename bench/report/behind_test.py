"""The page of the cases that are behind, on stored results."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

from bench.report import behind, style
from bench.report.predictions import FILE, Question, predict, question

SECRETS = ("joe", "node17", "10.1.2.3", "/home", "/opt")
MACHINE = {"cpu": "A processor", "cores": 4, "kernel": "Linux 6.1.0", "single_copy": "cma", "together_over_alone": 1.02}
VERSIONS = {"brigade": "v1-2-gabc", "mpi": "Open MPI v5.0.3, package: Open MPI joe@node17 Distribution",
            "stock": "/home/joe/lib/libscalapack.so.2"}


def line(subject, us, **more):
    """By default a contiguous reduction that fits the model, with an interval of 1 us."""
    return {"case": "reduce", "pattern": "free" if subject == "brigade" else "MPI_Reduce", "transport": "auto",
            "ranks": 4, "rows": 32, "cols": 4, "ld": 32, "bytes": 1024, "label": "", "subject": subject,
            "median_us": us, "lo_us": us - 1, "hi_us": us + 1, "iterations": 9, "versions": VERSIONS,
            "machine": MACHINE, **more}


ASKED = Question("machine_auto_4.json", "reduce", 4, 1024, 0, False)


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name)

    def write(self, name, *lines):
        (self.directory / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def predict(self, us, asked=ASKED, protocols=("inline messages", "pipelined")):
        self.write(FILE.removesuffix(".jsonl"),
                   {"question": asked._asdict(), "predicted_us": us, "protocols": protocols})

    def rows(self):
        table = behind.page(self.directory)["behind"]
        return [dict(zip(table.header, row)) for row in table.rows]

    def pages(self):
        data = behind.page(self.directory)
        return [style.render(f"behind.{form}.j2", **data) for form in ("md", "html")]

    def test_a_case_behind_is_listed_with_its_protocol_and_prediction(self):
        self.write("grid", line("brigade", 50.0, protocol="eager segments, pipelined"), line("mpi", 40.0))
        self.predict(40.0)
        (row,) = self.rows()
        self.assertEqual([row[name] for name in ("case", "bytes", "ranks", "peer", "protocol")],
                         ["reduce", "1 KiB", 4, "MPI (MPI_Reduce)", "eager segments, pipelined"])
        self.assertEqual(row["its time / Brigade's"][:2], ("0.80", "[0.76, 0.84]"))
        self.assertEqual((row["predicted, µs"], row["measured, µs"]), ("40", "50"))
        self.assertEqual(row["measured / predicted"][:2], ("1.25", ""))
        for page in self.pages():
            self.assertIn("eager segments, pipelined", page)
            self.assertIn("In 1 of 1 cases a peer is ahead", page)

    def test_a_table_of_markdown_has_one_line_a_row(self):
        scan = {"case": "scan", "pattern": "free", "bytes": 64}
        self.write("grid", line("brigade", 50.0), line("mpi", 40.0), line("brigade", 50.0, **scan),
                   line("mpi", 45.0, **scan))
        self.predict(20.0)
        lines = self.pages()[0].splitlines()
        at = next(number for number, text in enumerate(lines) if text.startswith("| what | case |"))
        self.assertEqual(lines[at + 1], "|" + "---|" * 10)
        self.assertEqual(lines[at + 2], "| Patterns, contiguous | reduce | 1 KiB | 4 | MPI (MPI_Reduce) "
                         "| 0.80 [0.76, 0.84] | inline messages or pipelined | 20 | 50 | **2.5** wrong |")
        self.assertTrue(lines[at + 3].startswith("| Patterns, contiguous | scan | 64 B | 4 | MPI (free) | 0.90"))
        self.assertEqual(lines[at + 4], "")

    def test_one_within_the_interval_is_not(self):
        self.write("grid", line("brigade", 50.0), line("mpi", 48.5))
        self.assertEqual(self.rows(), [])
        for page in self.pages():
            self.assertIn("In none of 1 cases is a peer ahead beyond the interval.", page)

    def test_few_samples_decide_nothing_and_are_counted(self):
        self.write("grid", line("brigade", 50.0), line("mpi", 20.0, iterations=5))
        self.assertEqual(self.rows(), [])
        self.assertIn("| Patterns, contiguous | 1 | 0 | 1 |", self.pages()[0])
        self.assertIn("| TCP between 2 processes | not measured |", self.pages()[0])

    def test_a_wrong_prediction_is_marked(self):
        self.write("grid", line("brigade", 50.0), line("mpi", 40.0))
        for predicted, is_wrong in ((24.0, True), (26.0, False), (99.0, False), (101.0, True)):
            self.predict(predicted)
            (row,) = self.rows()
            self.assertEqual(row["measured / predicted"].note, "wrong" if is_wrong else "", predicted)

    def test_each_case_is_beside_the_best_peer_of_any_setting(self):
        self.write("grid", line("brigade", 50.0), line("mpi", 45.0), line("brigade", 60.0, label="CMA off"),
                   line("mpi CMA off", 40.0, label="CMA off"), line("bare ring", 1.0))
        (row,) = self.rows()
        self.assertEqual((row["peer"], row["measured, µs"]), ("MPI, CMA off (MPI_Reduce)", "60"))

    def test_topologies_by_name_do_not_count(self):
        self.write("grid", line("brigade", 50.0), line("brigade", 30.0, pattern="ring"), line("mpi", 45.0))
        (row,) = self.rows()
        self.assertEqual(row["measured, µs"], "50")

    def test_an_operation_on_a_window_is_beside_the_same_one(self):
        def operation(subject, pattern, us):
            return line(subject, us, case="exchange with 1 neighbour, shared", pattern=pattern)

        self.write("windows", operation("brigade", "put, fence", 50.0), operation("mpi", "put, fence", 40.0),
                   operation("brigade", "put, lock", 30.0), operation("mpi", "put, lock", 60.0),
                   operation("mpi", "sendrecv", 1.0))
        (row,) = self.rows()
        self.assertEqual([row[name] for name in ("case", "peer", "protocol", "predicted, µs")],
                         ["exchange with 1 neighbour, shared: put, fence", "MPI", "one-sided", ""])
        self.assertIn("| Windows | 2 | 1 | 0 |", self.pages()[0])

    def test_blacs_and_scalapack_are_beside_the_shim(self):
        call = {"case": "dgsum2d 32 x 1, scope Row", "pattern": "50 in a row", "rows": 32, "cols": 1, "bytes": 256}
        self.write("calls", line("shim", 5.0, **call, lo_us=4.9, hi_us=5.1),
                   line("stock", 4.0, **call, lo_us=3.9, hi_us=4.1))
        self.write("scalapack", *({"routine": "LU", "ranks": 4, "rows": 2, "cols": 2, "n": 1000, "nb": 32, "pair": pair,
                                   "subject": subject, "median_s": seconds} for pair in range(6)
                                  for subject, seconds in (("stock", 0.09 + pair / 1e4), ("shim", 0.1))))
        self.predict(4.0, Question("machine_auto_4.json", "all-reduce", 2, 256, 0, False))
        call, routine = self.rows()
        self.assertEqual((call["peer"], call["protocol"], call["predicted, µs"]),
                         ("reference BLACS", "inline messages or pipelined", "4"))
        self.assertEqual((routine["case"], routine["peer"], routine["predicted, µs"]),
                         ("LU, 2 x 2 ranks, n = 1000, nb = 32", "reference BLACS", ""))

    def test_broadcasts_in_turn_are_beside_the_best_letter_and_not_predicted(self):
        case = {"case": "successive-broadcasts", "ranks": 4, "bytes": 32768}
        self.write("cluster_ring", line("brigade", 60.0, **case), line("shim", 50.0, pattern="topology ' '", **case),
                   line("stock", 70.0, pattern="topology ' '", **case),
                   line("stock", 40.0, pattern="topology 'I'", **case))
        (row,) = self.rows()
        self.assertEqual((row["case"], row["predicted, µs"], row["measured, µs"]), ("successive-broadcasts", "", "50"))
        self.assertIn("topology 'I'", row["peer"])

    def test_no_host_name_user_or_path(self):
        self.write("grid", line("brigade", 50.0), line("mpi", 40.0))
        (self.directory / "behind.json").write_text(json.dumps({"left_out": [], "settings": {
            "BRIGADE_TRACE": "/home/joe/trace.json", "BRIGADE_IFACE": "10.1.2.3/8", "BRIGADE_KERNEL_COPIES": "off",
            "BRIGADE_STAGING_BYTES": "4M", "OMPI_MCA_plm_rsh_agent": "/opt/joe/agent",
            "OMPI_MCA_btl_tcp_if_include": "10.1.2.3", "UCX_NET_DEVICES": "joe0"}}))
        (self.directory / "commands.txt").write_text("mpirun --host node17 /home/joe/brigade_bench\n")
        (self.directory / "machine_auto_4.json").write_text(json.dumps({
            "name": "node17", "about": "of joe",
            "copies": [{"from": ["user"], "to": ["staging"], "rate": {
                "unit": "MB/s", "source": "joe", "by_run_bytes": [[256.0, 1900.4], [32768.0, 4500.0]]}}],
            "within_host": {"latency": {"value": 2.5, "unit": "us", "source": "joe"},
                            "rate": {"value": "unlimited", "unit": "MB/s", "source": "joe"}}}))
        for page in self.pages():
            self.assertIn("A processor, 4 processors", page)
            self.assertIn("Open MPI v5.0.3 (single copies: cma)", page)
            self.assertIn("libscalapack.so.2", page)
            for name, value in (("KERNEL_COPIES", "off"), ("STAGING_BYTES", "4M"), ("TRACE", "(set)")):
                self.assertRegex(page, rf"BRIGADE_{name}(`|</code>) {value.replace('(', '.')[:3]}")
            self.assertIn("1900 MB/s in runs of 256 B, 4500 MB/s in runs of 32768 B", page)
            self.assertIn("copies user to staging rate", page)
            self.assertIn("2.5 us", page)
            self.assertNotIn("unlimited", page)
            for secret in (*SECRETS, str(self.directory)):
                self.assertNotIn(secret, page)


class Predictions(unittest.TestCase):
    def test_questions(self):
        for more, expected in (
                ({}, ("reduce", 4, 1024, 0, False, 1)),
                ({"case": "pingpong runs of 256 B", "ranks": 2, "cols": 4, "ld": 64, "pattern": "send, receive"},
                 ("send", 2, 1024, 256, False, 1)),
                ({"case": "all-to-all"}, ("all-to-all", 4, 256, 0, False, 1)),
                ({"case": "small-broadcast"}, ("broadcast", 4, 1024, 0, False, 1)),
                ({"case": "multi-reduce", "pattern": "Q x topology ' '", "ld": 40}, ("reduce", 4, 256, 256, False, 4)),
                ({"case": "dgamx2d 1 x 1, scope All", "bytes": 8, "ranks": 8}, ("all-reduce", 8, 8, 0, True, 1)),
                ({"case": "dgsum2d 1 x 1, scope Row", "bytes": 8, "ranks": 8}, ("all-reduce", 4, 8, 0, False, 1)),
                ({"case": "dgebs2d, dgebr2d 1 x 1, scope Column", "bytes": 8, "ranks": 8},
                 ("broadcast", 2, 8, 0, False, 1)),
                ({"case": "dgesd2d, dgerv2d 1 x 64 of leading dimension 500", "bytes": 512, "cols": 64, "rows": 1,
                  "ld": 500}, ("send", 2, 512, 8, False, 1))):
            self.assertEqual(question("auto", line("brigade", 1.0, **more))[1:], expected, more)
        self.assertEqual(question("cluster", line("brigade", 1.0)).machine, "machine_cluster.json")

    def test_the_program_is_asked_once(self):
        with tempfile.TemporaryDirectory() as folder:
            directory = pathlib.Path(folder)
            program = directory / "program"
            program.write_text(f"""#!/bin/sh
echo asked >>{folder}/log
while [ "$1" != --json ]; do shift; done
echo '{{"predicted_us": 3.5, "protocols": ["pipelined"]}}' >"$2"
""")
            program.chmod(0o755)
            asked = [ASKED._replace(times=2), ASKED._replace(machine="none.json")]
            (directory / ASKED.machine).touch()
            for _ in range(2):
                self.assertEqual(predict(directory, asked, str(program)), {asked[0]: (7.0, ["pipelined"])})
            self.assertEqual((directory / "log").read_text(), "asked\n")
            self.assertEqual(predict(directory, asked), {asked[0]: (7.0, ["pipelined"])})

    def test_one_failure_loses_its_prediction_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            directory = pathlib.Path(folder)
            program = directory / "program"
            program.write_text("""#!/bin/sh
case "$*" in *"--ranks 4"*) exit 1;; esac
while [ "$1" != --json ]; do shift; done
echo '{"predicted_us": 3.5, "protocols": ["pipelined"]}' >"$2"
""")
            program.chmod(0o755)
            (directory / ASKED.machine).touch()
            asked = [ASKED, ASKED._replace(ranks=2)]
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(predict(directory, asked, str(program)), {asked[1]: (3.5, ["pipelined"])})
            self.assertIn("no prediction of Question(", said.getvalue())


if __name__ == "__main__":
    unittest.main()
