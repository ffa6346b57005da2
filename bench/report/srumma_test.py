"""The page of SRUMMA's study, of lines that are made up."""

import html
import json
import pathlib
import re
import tempfile
import unittest

from bench.report import srumma, study
from bench.report.study_test import COMMON

PRODUCT = "matrix product, 2 x 4 ranks"


def lines(case, rows, figures, label="", **more):
    return [{**COMMON, "case": case, "rows": rows, "cols": rows, "subject": subject, "pattern": pattern,
             "median_us": us, "lo_us": us, "hi_us": us, "label": label, **more}
            for (subject, pattern), us in figures.items()]


def gets(subject, target, size, totals):
    return lines(f"get, delay, wait; the target {target}", size // 8,
                 {(subject, f"delay {delay} %"): us for delay, us in totals.items()}, bytes=size, ranks=2)


def of_folder(make, measured, simulated=(), place="cluster"):
    """Returns the result of `make` for a folder with these lines."""
    with tempfile.TemporaryDirectory() as folder:
        for name, of_file in ((place, measured), ("simulated", simulated)):
            path = pathlib.Path(folder) / f"study_srumma_{name}.jsonl"
            path.write_text("".join(json.dumps(line) + "\n" for line in of_file), encoding="utf-8")
        return make("srumma", pathlib.Path(folder))


def page(measured, simulated=(), place="cluster"):
    return of_folder(study.make_page, measured, simulated, place).replace("\n", "")


class Overlap(unittest.TestCase):
    def test_it_is_the_longest_delay_that_changes_nothing(self):
        self.assertEqual(srumma.overlap({0: 100.0, 50: 100.0, 100: 100.0}), 100)
        # 105 lies between 100 at 50 % and 150 at 100 %.
        self.assertAlmostEqual(srumma.overlap({0: 100.0, 50: 100.0, 100: 150.0}), 55)
        self.assertAlmostEqual(srumma.overlap({0: 100.0, 25: 125.0, 50: 150.0}), 5)

    def test_the_page_says_whether_it_is_enough(self):
        hidden = gets("brigade", "sleeps", 65536, {0: 100.0, 90: 100.0, 100: 104.0, 125: 130.0})
        self.assertIn("<td>101 to 101 %</td><td>more", page(hidden))
        long = gets("brigade", "sleeps", 1 << 20, {0: 100.0, 90: 100.0, 100: 104.0, 125: 130.0})
        self.assertIn("<td>not measured</td>", page(long))  # of which the paper says nothing

    def test_with_a_free_processor_and_without_are_two_claims_of_each_way(self):
        hidden = {0: 100.0, 90: 100.0, 100: 104.0, 125: 130.0}
        seen = {0: 100.0, 90: 190.0, 100: 200.0}
        text = html.unescape(page([
            *gets("brigade", "sleeps", 65536, hidden), *gets("brigade", "computes", 65536, seen),
            *gets("brigade, by messages", "sleeps", 65536, {0: 100.0, 50: 100.0, 100: 150.0}),
            *gets("mpi", "sleeps", 65536, seen)]))
        for claim, found in ((", with a processor free for the target's progress thread", "101 to 101 %</td><td>more"),
                             (", with none free", "5 to 5 %</td><td>as there"),
                             (", by messages, with a processor free for the target's progress thread",
                              "55 to 55 %</td><td>as there")):
            self.assertIn(f"up to 64 KiB not all of a get overlaps{claim}</td><td>{found}", text)
        self.assertEqual(text.count("not all of a get overlaps"), 3)


class Products(unittest.TestCase):
    def setUp(self):
        self.page = page([
            *lines(PRODUCT, 1000, {("brigade", "diagonal"): 1000.0, ("brigade", "natural"): 1500.0,
                                   ("brigade", "blocking"): 1200.0, ("brigade", "four ahead"): 870.0,
                                   ("pdgemm", "pdgemm"): 1300.0, ("alone", "dgemm"): 900.0}, predicted_us=400.0),
            *lines(PRODUCT, 1000, {("brigade", "diagonal"): 2000.0, ("pdgemm MKL", "pdgemm"): 2200.0}, label="MKL"),
            *lines(PRODUCT, 1000, {("brigade", "diagonal"): 1000.0, ("Global Arrays", "ga_dgemm"): 1234.0},
                   label="Global Arrays"),
            *lines("SUMMA, chunks of 128", 1000, {("brigade", "get"): 1700.0, ("brigade", "nbget"): 1600.0,
                                                  ("mpi", "broadcast"): 1900.0, ("mpi", "get"): 1.0}),
            *lines("SUMMA, chunks of 256", 1000, {("mpi", "broadcast"): 1800.0}),
            *lines("SUMMA, chunks of 128", 500, {("brigade", "get"): 1.0}),
            *lines("matrix product, 1 x 8 ranks", 1000, {("brigade", "diagonal"): 5000.0}),
        ])

    def test_peers_are_compared_within_their_launches(self):
        self.assertIn("1.30 <small>", self.page)
        self.assertIn("1.10 <small>", self.page)
        self.assertIn("1.23 <small>", self.page)
        self.assertNotIn("2.20 <small>", self.page)

    def test_every_way_stands_below_its_name(self):
        names = re.search(r"<th>n</th><th>ours, us</th>(<th>natural order</th>.*?)</tr>", self.page)[1]
        values = re.search(r"<td>1000</td><td>1000</td>(<td>1\.50</td>.*?)</tr>", self.page)[1]
        names, values = (re.findall(r"<t[hd]>(.*?)</t[hd]>", row) for row in (names, values))
        self.assertEqual({name: value for name, value in zip(names, values, strict=True)
                          if value not in ("", "–")},
                         {"natural order": "1.50", "blocking": "1.20", "four ahead": "0.87"})

    def test_our_pblas_stand_beside_ours_and_stock(self):
        text = page([
            *lines(PRODUCT, 1000, {("brigade", "diagonal"): 1000.0, ("pdgemm", "pdgemm"): 1300.0}),
            *lines(PRODUCT, 1000, {("brigade", "diagonal"): 2000.0, ("pdgemm our PBLAS", "pdgemm"): 2080.0},
                   label="our PBLAS")])
        self.assertIn("<td>1000</td>", text)
        self.assertIn("1.04 <small>", text)  # over ours, in its launch
        self.assertIn("1.25 <small>", text)  # stock, over that
        self.assertIn("<td>our PBLAS</td><td>diagonal</td><td>1</td>", text)

    def test_between_hosts_what_is_the_same_has_a_dash(self):
        ways = {("brigade", "diagonal"): 100.0, ("brigade", "natural"): 170.0, ("brigade", "fetched"): 180.0,
                ("brigade", "staged"): 190.0}
        hosts = page(lines(PRODUCT, 1000, ways))
        self.assertIn("<td>1.70</td>", hosts)
        self.assertNotIn("<td>1.80</td>", hosts)
        self.assertEqual(hosts.count("<td>–</td>"), 3)
        self.assertIn("–: between hosts nothing is read in place", hosts)
        one_host = page(lines(PRODUCT, 1000, ways), place="shm")
        self.assertIn("<td>1.80</td><td>1.90</td>", one_host)
        self.assertNotIn("<td>–</td>", one_host)

    def test_on_one_host_the_slowest_place_is_judged(self):
        text = html.unescape(page([
            *lines(PRODUCT, 1000, {("brigade", "diagonal"): 1000.0, ("pdgemm", "pdgemm"): 1300.0}),
            *lines(PRODUCT, 500, {("brigade", "diagonal"): 100.0, ("pdgemm", "pdgemm"): 99.0}),
            *lines(PRODUCT, 500, {("brigade", "diagonal"): 100.0, ("pdgemm our PBLAS", "pdgemm"): 104.0},
                   label="our PBLAS")], place="shm"))
        self.assertIn("<td>ours, on a window's memory</td><td>stock pdgemm</td><td>0.99</td>"
                      "<td>2 x 4 ranks, n = 500</td><td>kept</td>", text)
        self.assertIn("<td>our PBLAS</td><td>stock pdgemm</td><td>0.95</td>"
                      "<td>2 x 4 ranks, n = 500</td><td>missed</td>", text)

    def test_summa_counts_with_its_best(self):
        self.assertIn("1.60 <small>", self.page)  # by gets ahead
        self.assertIn("1.80 <small>", self.page)  # by broadcasts of wider chunks, ours of the same n

    def test_summa_counts_on_its_own_grid_only(self):
        self.assertNotIn("0.32 <small>", self.page)  # 1600 over 5000

    def test_the_summary_names_whom_it_is_beside(self):
        self.assertIn("hosts with slow links: products beside MKL's pdgemm".replace("'", "&#39;"), self.page)
        self.assertIn("<th>peer / Brigade</th>", self.page)

    def test_efficiency_and_bound(self):
        self.assertIn("<td>90</td><td>1.11</td>", self.page)  # 900 over 1000, and 1000 over the longer of 400 and 900

    def test_the_papers_gains_stand_beside(self):
        self.assertIn("faster than pdgemm by 20 to 60 %</td><td>30 to 30 %</td><td>as there", self.page)
        self.assertIn("92.9 % of dgemm alone</td><td>90 to 90 %</td><td>less", self.page)
        # 200 of the 300 us of communication.
        self.assertIn("90 % of a product's communication overlaps with its arithmetic</td><td>67 to 67 %</td><td>less",
                      html.unescape(self.page))
        self.assertIn("than the natural one</td><td>50 to 50 %</td><td>as there", self.page)


class Simulated(unittest.TestCase):
    def test_every_way_has_its_time_and_contention(self):
        cells = [{"machine": "fat", "case": way, "ranks": 4096, "rows": 16384, "block": 256, "gflops": 40.0,
                  "compute_us": 100.0, "us": us, "contention": contention}
                 for way, us, contention in (("natural", 300.0, 64), ("diagonal", 150.0, 1),
                                             ("diagonal, blocking", 170.0, 1), ("SUMMA", 120.0, 63))]
        text = page(gets("brigade", "sleeps", 65536, {0: 100.0}), cells)
        for cell in ("300 <small>64", "150 <small>1<", "120 <small>63"):
            self.assertIn(cell, text)
        self.assertIn("<td>100 to 100 %</td><td>as there", text)  # 300 over 150
        self.assertIn("<td>-20 to -20 %</td><td>less", text)
        self.assertIn("<svg", text)

    def test_pictures_are_files_named_as_they_are_described(self):
        cells = [{"machine": "fat", "case": way, "ranks": 4096, "rows": 16384, "block": 256, "gflops": 40.0,
                  "compute_us": 100.0, "us": 150.0, "contention": 1} for way in srumma.SIMULATED]
        pictures = of_folder(study.pictures, gets("brigade", "sleeps", 65536, {0: 100.0}), cells)
        self.assertEqual(set(pictures), {"overlap-of-gets-hosts-with-slow-links-figure-2b.svg",
                                         "simulated-products-with-blocks-of-256.svg"})
        self.assertTrue(all(svg.startswith("<svg") and "http://www.w3.org/2000/svg" in svg
                            for svg in pictures.values()))


if __name__ == "__main__":
    unittest.main()
