"""The pages of the LI paper's suites, of lines that are made up."""

import json
import pathlib
import re
import tempfile
import unittest

from bench.report import li, li_mult, study

COMMON = {"iterations": 25, "transport": "auto", "cols": 1, "versions": {"brigade": "v1", "mpi": "MPI", "stock": ""},
          "machine": {"cpu": "one", "cores": 2, "kernel": "Linux", "single_copy": "cma", "together_over_alone": 1.0}}


def page(name, lines, simulated=()):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"study_{name}_shm.jsonl"
        path.write_text("".join(json.dumps({**COMMON, **line}) + "\n" for line in lines), encoding="utf-8")
        if simulated:
            path.with_name(f"study_{name}_simulated.jsonl").write_text("\n".join(map(json.dumps, simulated)),
                                                                       encoding="utf-8")
        return study.make_page(name, pathlib.Path(folder)).replace("\n", "")


def times(case, ranks, rows, found, **more):
    """{(subject, pattern): us} as lines."""
    return [{"case": case, "ranks": ranks, "rows": rows, "bytes": 8 * rows, "subject": subject, "pattern": pattern,
             "median_us": us, "lo_us": us, "hi_us": us, "label": subject.partition(" ")[2], **more}
            for (subject, pattern), us in found.items()]


class As(unittest.TestCase):
    def setUp(self):
        contenders = {("brigade", "put"): 10.0, ("mpi", "send"): 20.0, ("mpi_rma MPICH", "put"): 40.0,
                      ("mpi MPICH", "send"): 30.0}
        self.page = page("as", times("test 1, empty", 4, 1, contenders, cols=4) +
                         times("total exchange", 4, 64, contenders, cols=4))

    def test_everybody_is_compared_with_windows(self):
        self.assertIn("<td>10 <small>[10, 10]</small></td>", self.page)
        self.assertIn('<td class="better">40 <small>[40, 40] 4.00</small></td>', self.page)

    def test_an_mpi_is_compared_with_its_own_messages(self):
        self.assertIn("<td>0.75 to 0.75, mean 0.75</td><td>as there</td>", self.page)  # 30 over 40

    def test_the_summary_has_the_best(self):
        self.assertIn("beside the best MPI's windows", self.page.replace("&#39;", "'"))
        self.assertIn("<b>4.00</b>", self.page)  # 40 over 10
        self.assertIn("<b>2.00</b>", self.page)  # 20 over 10

    def test_the_cost_of_an_int_is_that_of_what_each_sends(self):
        self.assertIn("0.0391 <small>[0.0391, 0.0391] at 256 ints</small>", self.page)

    def test_g_is_that_of_the_longest_exchange(self):
        # The burst of a token bucket makes the shorter exchange cheaper.
        text = page("as", times("total exchange", 4, 64, {("brigade", "put"): 10.0}, cols=4) +
                    times("total exchange", 4, 256, {("brigade", "put"): 80.0}, cols=4))
        self.assertIn("0.0781 <small>[0.0781, 0.0781] at 1024 ints</small>", text)
        self.assertNotIn("at 256 ints</small>", text)

    def test_barriers_and_exchanges_are_judged_by_themselves(self):
        found = re.findall("<td>([^<]*)</td> *<td>4.00 to 4.00, mean 4.00</td> *<td>as there</td>", self.page)
        self.assertEqual(len(found), 2, found)  # of test 1 and of the exchange: 40 over 10
        self.assertTrue(found[0].startswith("a barrier is dearer over MPI"), found)
        self.assertTrue(found[1].startswith("it outruns put over MPI"), found)

    def test_reasons_are_those_of_the_place(self):
        why = {"shared memory": "there", "": "elsewhere"}
        for place, wanted in (("shared memory", "there"), ("hosts with slow links", "elsewhere")):
            *_, verdict = li.claim(place, "much", [0.5], lambda mean: mean > 1, why)
            self.assertEqual(verdict.note, wanted)

    def test_the_cost_of_an_int_is_in_the_table(self):
        self.assertIn("<td>h = 256</td><td>0.0391 <small>[0.0391, 0.0391]</small></td>", self.page)


class Mult(unittest.TestCase):
    def test_the_prediction_is_the_papers(self):
        # 320 on 16 PCs: 0.59 us an int over BSPlib, and 1/70 us an operation.
        sequential_us = 2 * 320 * 320 * 319 / 70
        self.assertAlmostEqual(li_mult.predicted(16, 320, 0.59, sequential_us), 7.86, 2)

    def test_table_1_stands_beside(self):
        product = times("matrix product, loops", 16, 320, {("brigade", "put"): 100e3, ("mpi", "send"): 50e3})
        text = page("mult", product + times("matrix product, loops", 1, 320, {("alone", "sequential"): 800e3}) +
                    times("total exchange", 16, 1600, {("brigade", "put"): 8e3}, cols=16))
        self.assertIn("<td>8.00</td>", text)  # speedup
        self.assertIn("<td>10.33 <small>7.75</small></td>", text)  # BSPlib's, with a process a PC and with two
        self.assertIn("<td>8.45 <small>6.64</small></td>", text)  # LAM's messages
        self.assertEqual(text.count("<svg"), 1)
        self.assertIn("paper: BSPlib, SMP", text)
        # 0.3125 us an int, at the nearest exchange
        self.assertIn(f"<td>{li_mult.predicted(16, 320, 8e3 / 25600, 800e3):.2f}</td>", text)

    def test_the_table_is_read_whole(self):
        known = li.paper("mult", "n")
        self.assertEqual(known[320, 16, "LAM", "put"], {"non-SMP": 5.17, "SMP": 5.47})
        self.assertEqual(known[640, 25, "BSPlib", "put"], {"SMP": 19.18})
        self.assertEqual(len(known), 2 * 3 * 7)


class Simulated(unittest.TestCase):
    def test_is_there_if_it_was_simulated(self):
        of_as = times("test 1, empty", 4, 1, {("brigade", "put"): 10.0, ("mpi", "send"): 20.0}, cols=4)
        self.assertNotIn("Simulated machines", page("as", of_as))
        cell = {"machine": "two hosts", "case": "total exchange", "ranks": 4, "rows": 1, "cols": 4, "bytes": 16,
                "put_us": 10.0, "get_us": None, "send_us": 15.0}
        self.assertIn("<td>10</td><td>15</td><td>1.50</td>", page("as", of_as, [cell]))
        old = {name: value for name, value in cell.items() if name != "get_us"}
        self.assertIn("<td>10</td><td>15</td><td>1.50</td>", page("as", of_as, [old]))
        cell["get_us"] = 20.0
        self.assertIn("<td>10</td><td>20</td><td>15</td><td>1.50</td><td>0.75</td>", page("as", of_as, [cell]))


class Rdx(unittest.TestCase):
    def setUp(self):
        found = {("brigade", "RDXSORT, put"): 1000.0, ("brigade", "combined, put"): 500.0,
                 ("mpi", "RDXSORT, send"): 1800.0, ("mpi", "combined, send"): 700.0}
        self.page = page("rdx", times("radix sort, uniform keys", 16, 32768000, found) +
                         times("radix sort, uniform keys", 1, 32768000, {("alone", "sequential"): 4000.0}))

    def test_the_papers_claims_are_judged(self):
        self.assertIn("<td>1.80 to 1.80, mean 1.80</td><td>as there</td>", self.page)
        # combining pays here
        self.assertIn("<td>0.50 to 0.50, mean 0.50</td><td>differs <small>copying keys twice", self.page)
        self.assertIn("<td>not measured</td><td></td>", self.page)  # over MPI's windows

    def test_tables_2_and_3_stand_beside(self):
        self.assertIn("<td>4.00</td><td>6.26 <small>4.45</small></td><td>3.21 <small>2.7</small></td>"
                      "<td>5.75 <small>4.17</small></td>", self.page)
        self.assertEqual(len(li.paper("rdx", "keys")), 3 * 2 * (3 * 4 + 3))
        self.assertEqual(self.page.count("<svg"), 1)

    def test_pictures_of_several_places_are_several_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for place in ("shm", "loopback"):
                path = pathlib.Path(folder) / f"study_rdx_{place}.jsonl"
                path.write_text("".join(json.dumps({**COMMON, **line}) + "\n" for line in [
                    *times("radix sort, uniform keys", 16, 32768000, {("brigade", "RDXSORT, put"): 1000.0}),
                    *times("radix sort, uniform keys", 1, 32768000, {("alone", "sequential"): 4000.0})]),
                                encoding="utf-8")
            self.assertEqual(len(study.pictures("rdx", pathlib.Path(folder))), 2)


if __name__ == "__main__":
    unittest.main()
