"""The instructions of a file of callgrind are counted once, by the source file that has them."""

import unittest

from bench.tables import count_calls

PROFILE = """
ob=(1) /job/counted_calls
fl=(1) bench/tables/counted_calls.cc
fn=(1) counted_call
10 5
cob=(2) /job/libbrigade.so
cfi=(2) /proc/self/cwd/patterns/group/group_calls.cc
cfn=(2) RunCall
calls=1 20
10 90

ob=(2)
fl=(2)
fn=(2)
20 30
fi=(3) /usr/include/c++/12/bits/unique_ptr.h
+1 4
fe=(2)
+2 6
cob=(3) /lib/libc.so.6
cfi=(4) ???
cfn=(3) memcpy
calls=1 0
* 50

ob=(3)
fl=(4)
fn=(3)
0 50
"""


class CountCallsTest(unittest.TestCase):
    def test_instructions_by_file(self):
        instructions = count_calls.read(PROFILE.splitlines(), "counted_calls")
        self.assertEqual(instructions, {"patterns/group/group_calls.cc": 36, "/usr/include/c++/12/bits/unique_ptr.h": 4,
                                        "/lib/libc.so.6": 50})
        self.assertEqual([file for file in instructions if count_calls.OURS.match(file)],
                         ["patterns/group/group_calls.cc"])


if __name__ == "__main__":
    unittest.main()
