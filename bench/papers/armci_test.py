"""The ARMCI paper's tables: as many cells as it has figures, and parsers on stored lines."""

import unittest

from bench.papers import armci

SIMULATED = [{"run": "simulated_mg_2", "machine": "myrinet_cluster", "case": "NAS MG, class A", "ranks": ranks,
              "gflops": 0.4, "messages_us": 130.0, "blocking_us": blocking, "ahead_us": 100.0}
             for ranks, blocking in zip(armci.RANKS, (125.0, 120.0, 115.0, 110.0, 110.0, 110.0, 104.0))]
MEASURED = [{"run": "mg_A_4", "case": "NAS MG, class A", "rows": 256, "ranks": 4, "subject": subject,
             "pattern": pattern, "median_us": us} for (subject, pattern), us in {
                 ("mpi", "send"): 150.0, ("mpi", "nbsend"): 120.0, ("brigade", "put"): 100.0,
                 ("brigade", "nbput"): 80.0}.items()]


class Cells(unittest.TestCase):
    def test_every_figure_of_the_text_is_there(self):
        stated = [float(line[bound]) for line in armci.improvements() for bound in ("low", "high") if line[bound]]
        self.assertEqual([cell.paper for cell in armci.TABLES[0].cells], stated)
        self.assertEqual(len(stated), 23)

    def test_figures_have_every_case(self):
        ways, ranks = len(armci.WAYS), len(armci.RANKS)
        self.assertEqual([len(table.cells) for table in armci.FIGURES],
                         [3 * ranks * ways, 3 * ranks * ways, 2 * 2 * ranks * ways, 2 * ranks * ways])


class Values(unittest.TestCase):
    def test_gains(self):
        gains = armci.simulated_gains(SIMULATED, "NAS MG, class A", 2)
        self.assertEqual([round(gains[way]) for way in armci.WAYS], [4, 30, 25])
        self.assertIsNone(armci.simulated_gains(SIMULATED, "NAS MG, class C", 2))

    def test_messages_count_in_their_faster_order(self):
        gains = armci.measured_gains(MEASURED, "mg", "NAS MG, class A", 256, 4)
        self.assertEqual([round(gains[way]) for way in armci.WAYS], [20, 50, 25])
        self.assertIsNone(armci.measured_gains(MEASURED[:1], "mg", "NAS MG, class A", 256, 4))

    def test_ranges_are_over_the_numbers_of_processes(self):
        low, high = (cell for cell in armci.TABLES[0].cells if cell.row == "NAS_MG A: blocking over mpi")
        self.assertEqual((round(low.simulated.take(SIMULATED)), round(high.simulated.take(SIMULATED))), (4, 25))
        self.assertEqual(low.here.take(MEASURED), high.here.take(MEASURED))
        self.assertIsNone(low.here.take([]))

    def test_ranges_tell_one_process_on_a_host_from_two(self):
        records = [{"run": f"simulated_summa_{per_host}", "case": "SUMMA, 1024 x 1024", "ranks": 4,
                    "messages_us": 150.0, "blocking_us": 120.0, "ahead_us": ahead}
                   for per_host, ahead in ((1, 100.0), (2, 75.0))]
        gains = [round(cell.simulated.take(records)) for cell in armci.TABLES[0].cells
                 if cell.row == "SUMMA: rma over mpi"]
        self.assertEqual(gains, [50, 100])


if __name__ == "__main__":
    unittest.main()
