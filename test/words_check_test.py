#!/usr/bin/env python3
"""words_check.py on texts of each language."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import words_check  # noqa: E402


class WordsCheckTest(unittest.TestCase):
    def lines(self, name, text):
        """The lines with constructions."""
        return [line for line, _ in words_check.constructions(pathlib.Path(name), text)]

    def test_openers_of_c(self):
        text = ('// Who sends\n// first. Such ranks wait.\nint a;  // Those of b\n'
                'const char* s = "// What is a string";\n/* What is\n   a block: That of c. */\n/// Whole, Suchlike.\n')
        self.assertEqual(self.lines("a.h", text), [1, 2, 3, 5, 6])

    def test_a_word_within_a_sentence_is_none(self):
        self.assertEqual(self.lines("a.cc", "// Copies What\n// Such names.\n// See also\n// Those.\n"), [])

    def test_openers_of_python(self):
        text = '#!/x\n"""What it is"""\n\n\ndef f(x=0):\n    """Returns. Who knows"""\n    # Such is it\n'
        self.assertEqual(self.lines("a.py", text), [2, 6, 7])

    def test_openers_of_shells_and_bazel(self):
        for name in ("a.sh", "a.bzl", "a.cmake", "BUILD"):
            self.assertEqual(self.lines(name, "#!/bin/What\nx  # What is x\ny#What\n"), [2], name)

    def test_openers_of_fortran(self):
        self.assertEqual(self.lines("a.f90", "integer :: i ! What is counted\n"), [1])

    def test_openers_of_what_programs_print(self):
        self.assertEqual(self.lines("a.cc", 'f("A file."\n  " Who wrote it?");\ng("What", "a Who");\n'), [1, 3])
        self.assertEqual(self.lines("a.py", 'f("A.", help="Such is it", x=f"Who {y}")\n'), [1, 1])
        self.assertEqual(self.lines("a.sh", "cat <<EOT\nWhat it does\nEOT\n"), [2])

    def test_openers_of_pages(self):
        text = "# What\n\nSee. Who\nknows?\n\n- Those\n\n```\n\nWhat\n```\n\n| Such | a |\n"
        self.assertEqual(self.lines("a.md", text), [3, 6, 13])

    def test_words_for_people_are_counted_in_prose(self):
        text = "// Ranks\n// tell others, and told(x) is heard of.\nint told;\n"
        self.assertEqual(words_check.people("a.h", text), [(2, "tell"), (2, "told"), (2, "heard")])
        self.assertEqual(words_check.people("docs/results/archive/a.md", "A rank asks.\n"), [])

    def test_old_names_are_found_in_all_files(self):
        old = next(iter(words_check.OLD_NAMES))
        self.assertEqual(self.lines("a.json", f"\n{old} {old}s\n"), [2])


if __name__ == "__main__":
    unittest.main()
