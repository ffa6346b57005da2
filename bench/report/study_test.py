"""A study's page, on invented lines."""

import json
import pathlib
import tempfile
import unittest

from bench.report import exchange, study

COMMON = {"ranks": 8, "rows": 128, "cols": 1, "bytes": 65536, "iterations": 25, "transport": "auto",
          "case": "exchange with 1 neighbour, shared",
          "versions": {"brigade": "v1", "mpi": "Open MPI", "stock": "none"},
          "machine": {"cpu": "one", "cores": 2, "kernel": "Linux", "single_copy": "cma", "together_over_alone": 1.0}}


def line(subject, pattern, us, label="", **more):
    return {**COMMON, "subject": subject, "pattern": pattern, "median_us": us, "lo_us": us, "hi_us": us,
            "least_us": us * 0.9, "label": label, **more}


LINES = [
    line("brigade", "put, fence", 20.0),
    line("mpi", "put, fence", 50.0),
    line("mpi", "send, receive", 10.0),
    line("mpi", "sendrecv", 26.0),
    line("brigade", "put, fence", 30.0, "MPICH"),
    line("mpi MPICH", "put, fence", 60.0, "MPICH"),
    line("brigade", "put, lock", 5.0, bytes=0),
    line("mpi", "put, lock", 5.5, bytes=0),
    line("brigade", "put", 6.0, case="typed exchange, struct"),
    line("brigade", "put, cached", 7.0, case="typed exchange, struct"),
    line("brigade", "put, uncached", 8.0, case="typed exchange, struct"),
    line("mpi", "put", 21.06, case="typed exchange, struct"),
    line("mpi", "send, receive", 37.03, case="typed exchange, struct"),
    line("brigade", "put, flush", 1.0, case="one-sided put"),
    line("mpi", "put, flush", 3.0, case="one-sided put"),
    line("bare memory", "memcpy", 0.97, case="one-sided put"),
    line("brigade", "put with notification", 2.0, case="one-sided put with notification"),
    line("mpi", "put with notification", 13.5, case="one-sided put with notification"),
    line("mpi", "send, receive", 8.22, case="one-sided put with notification"),
]


class Exchange(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "study_exchange_shm.jsonl"
            path.write_text("".join(json.dumps(of_line) + "\n" for of_line in LINES), encoding="utf-8")
            self.page = study.make_page("exchange", pathlib.Path(folder))

    def test_peers_are_compared_within_their_launches(self):
        # 60 over 30 is less than 50 over 20, so MPICH does best.
        self.assertIn('20, 18 <small>2.00', self.page.replace("\n", ""))

    def test_send_and_receive_are_compared_with_puts_between_fences(self):
        self.assertIn('10, 9 <small>0.50', self.page.replace("\n", ""))

    def test_messages_one_by_one_are_too(self):
        self.assertEqual(exchange.ours_beside(None, "sendrecv"), "put, fence")

    def test_the_paper_stands_beside(self):
        self.assertIn("<td>103.25</td>", self.page)  # put, fence, 64 KiB
        self.assertIn("<td>66.97</td>", self.page)  # the lock alone
        for us in ("544.94", "794.68", "436.71"):  # typed blocks of 64 KiB
            self.assertIn(f"<td>{us}</td>", self.page)

    def test_typed_blocks_are_compared_with_a_datatype_that_is_kept(self):
        self.assertIn("3.51", self.page)  # puts: 21.06 over 6
        self.assertIn("5.29", self.page)  # sends: 37.03 over 7

    def test_puts_that_tell_of_themselves_are_compared_with_both(self):
        self.assertIn("6.75", self.page)  # MPI's put and its flag: 13.5 over 2
        self.assertIn("4.11", self.page)  # its send and receive: 8.22 over 2

    def test_puts_are_compared_with_what_needs_no_library(self):
        self.assertIn("<td>put, flush, beside memcpy</td>", self.page)
        self.assertIn("bare memory / Brigade", self.page)
        self.assertIn("0.97", self.page)
        self.assertIn("3.00", self.page)  # the best peer of a put is another

    def test_every_kind_of_table_is_there(self):
        for title in ("Synchronisation alone, shared memory", "Exchange of blocks, shared memory",
                      "Blocks with gaps, shared memory",
                      "Single operations, shared memory"):
            self.assertIn(title, self.page)

    def test_the_paper_is_read_whole(self):
        self.assertEqual(len(exchange.paper()), 48 + 98 + 70)
        self.assertEqual(len(exchange.typed_paper()), 2 * 5 * 3)


class Simulated(unittest.TestCase):
    def test_machines_in_virtual_time_alone_make_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            cell = {"machine": "fat hosts", "case": "total exchange", "ranks": 4, "rows": 1, "cols": 1, "bytes": 64,
                    "put_us": 20.0, "send_us": 50.0}
            path = pathlib.Path(folder) / "study_as_simulated.jsonl"
            path.write_text(json.dumps(cell) + "\n", encoding="utf-8")
            page = study.make_page("as", pathlib.Path(folder))
        self.assertIn("<td>fat hosts</td>", page)
        self.assertIn("<td>2.50</td>", page)
        self.assertNotIn('class="machine"', page)


if __name__ == "__main__":
    unittest.main()
