"""Results of invented launches of NWChem."""

import argparse
import unittest

from bench.studies import time_nwchem
from bench.studies.time_nwchem import mpi_job


def job(output="", errors="a window of 2 ranks is carried over shm", ended=True, status=0):
    return mpi_job.Job(ended, status, 1.0, output, errors)


class TimeNwchemTest(unittest.TestCase):
    def test_the_input_has_one_task(self):
        for theory in time_nwchem.ENERGIES:
            tasks = [line for line in time_nwchem.input_of(theory).splitlines() if line.startswith("task")]
            self.assertEqual(tasks, [f"task {theory} energy"])

    def test_the_last_energy_of_the_theory_counts(self):
        output = " Total SCF energy =    -76.010515918254\n   Total MP2 energy           -76.199015611227\n"
        self.assertEqual(time_nwchem.energy(job(output), "mp2"), -76.199015611227)
        self.assertEqual(time_nwchem.energy(job(output), "scf"), -76.010515918254)
        self.assertIsNone(time_nwchem.energy(job(output), "dft"))

    def test_what_is_wrong_with_a_pair(self):
        good = job("Total SCF energy = -76.0105159182")
        self.assertIsNone(time_nwchem.wrong("scf", good, good))
        for stock, ours, why in (
                (good, job("Total SCF energy = -76.0105160000"), "energy"),
                (good, job(), "energy None"),
                (good, job(good.output, errors=""), "no window"),
                (good, job(good.output, status=9), "with the library it ends with status 9"),
                (job(good.output, ended=False), good, "on stock it hangs")):
            self.assertIn(why, time_nwchem.wrong("scf", stock, ours))

    def test_there_is_a_pair(self):
        self.assertEqual(time_nwchem.number_of_pairs("11"), 11)
        for text in ("0", "-1", "two", ""):
            with self.assertRaisesRegex(argparse.ArgumentTypeError, f"'{text}' is no number of pairs"):
                time_nwchem.number_of_pairs(text)

    def test_the_interval_decides(self):
        for ratio, verdict in ((1.0, "yes"), (1.02, "yes"), (1.03, "no")):
            row = time_nwchem.row("mp2", 4, [(2.0, 2.0 * ratio)] * 11)
            self.assertEqual(row, f"| MP2 | 4 | 2.00 (2.00 to 2.00) | {2 * ratio:.2f} ({2 * ratio:.2f} to "
                                  f"{2 * ratio:.2f}) | {ratio:.3f} ({ratio:.3f} to {ratio:.3f}) | {verdict} |\n")
        mixed = [(1.0, 1.0)] * 6 + [(1.0, 1.1)] * 6
        self.assertIn("| undecided |", time_nwchem.row("scf", 2, mixed))
        self.assertIn("| undecided |", time_nwchem.row("scf", 2, [(1.0, 2.0)] * 5))


if __name__ == "__main__":
    unittest.main()
