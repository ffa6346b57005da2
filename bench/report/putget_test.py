"""The pages of the put/get study, of lines that are made up."""

import unittest

from bench.report.li_test import page, times
from bench.report.putget import paper


class Programs(unittest.TestCase):
    def setUp(self):
        self.mg = page("mg", [
            *times("NAS MG, class A", 4, 256, {
                ("brigade", "put"): 100.0, ("brigade", "nbput"): 80.0, ("mpi", "send"): 130.0, ("mpi", "nbsend"): 120.0,
                ("mpi", "put"): 300.0}),
            *times("NAS MG, class A", 4, 256, {
                ("brigade", "put"): 10.0, ("brigade", "nbput"): 10.0, ("mpi MPICH", "send"): 11.0}, label="MPICH")])

    def test_ours_are_those_without_a_label(self):
        self.assertIn("<td>NAS MG, class A</td><td>4</td><td>100", self.mg)

    def test_the_best_mpi_counts_and_its_faster_order(self):
        self.assertIn("1.10", self.mg)  # 11 over 10, though 120 over 100 is more
        self.assertNotIn("1.30", self.mg)
        self.assertIn("3.00", self.mg)  # windows: 300 over 100

    def test_who_is_best_is_named(self):
        self.assertIn("<td>MPICH: send</td>", self.mg)
        self.assertIn("<td>MPI: put</td>", self.mg)
        self.assertIn("(MPICH: send in 1)", self.mg)

    def test_the_papers_gains_stand_beside(self):
        self.assertIn("<td>blocking over mpi, class A: 7 to 30 %</td><td>10 to 10 %</td><td>as there</td>", self.mg)
        self.assertIn("class A: 28 to 46 %</td><td>10 to 10 %</td><td>less</td>", self.mg)
        self.assertIn("class A: 10 to 23 %</td><td>25 to 25 %</td><td>as there</td>", self.mg)  # 100 over 80
        self.assertIn("class B: 10 to 37 %</td><td>not measured</td><td></td>", self.mg)

    def test_gains_are_drawn_beside_the_papers_of_the_same_class(self):
        self.assertEqual(self.mg.count("<svg"), 1)
        for drawn in ("class A, put<", "class A, nbput<", "paper: blocking over mpi, class A: 7 to 30 %",
                      "paper: nonblocking over mpi, class A: 28 to 46 %"):
            self.assertIn(drawn, self.mg)
        for left_out in ("paper: nonblocking over blocking", "paper: blocking over mpi, class B"):
            self.assertNotIn(left_out, self.mg)
        alone = page("mg", times("NAS MG, class A", 4, 256, {("brigade", "put"): 100.0}))
        self.assertNotIn("<svg", alone)  # nobody to gain over

    def test_a_page_says_why_it_differs(self):
        self.assertIn("a put arrives although its target", self.mg)

    def test_others_have_their_own_messages(self):
        text = page("summa", times("SUMMA, chunks of 128", 4, 1024, {
            ("brigade", "get"): 100.0, ("brigade", "nbget"): 80.0, ("mpi", "broadcast"): 100.0}))
        self.assertIn("rma over mpi: 10 to 25 %</td><td>25 to 25 %</td><td>as there</td>", text)
        text = page("md", times("Lennard-Jones dynamics, 10 steps", 4, 256, {
            ("brigade", "nbget"): 100.0, ("mpi", "fold"): 130.0}))
        self.assertIn("rma over mpi: more than 40 %</td><td>30 to 30 %</td><td>less</td>", text)

    def test_simulated_machines_are_told_of(self):
        text = page("mg", times("NAS MG, class A", 4, 256, {("brigade", "put"): 1.0}), [
            {"machine": "fat", "case": "NAS MG, class A", "ranks": 512, "gflops": 1.0, "messages_us": 3000.0,
             "blocking_us": 2000.0, "ahead_us": 1500.0}])
        self.assertIn("Simulated machines, one iteration", text)
        self.assertIn("<td>1.50</td><td>2.00</td>", text)

    def test_the_table_is_read_whole(self):
        self.assertEqual(len(paper()), 13)


if __name__ == "__main__":
    unittest.main()
