#!/usr/bin/env python3
"""Draws sentences for users at random, for a reader who has not seen them: each is understood at the first reading, or
rewritten. The seed is printed, so that a draw can be repeated."""

import argparse
import pathlib
import random
import re
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from words_check import ROOT, prose  # noqa: E402

FILES = ("README.md", "docs/user/*.md", "include/brigade/*.h")
FEWEST_WORDS = 5


def sentences(file):
    # Without indented code of Markdown and the entries of enums.
    text = re.sub(r"(?m)(?<=\n\n)(?: {4}.*\n)+|///<.*(?:\n\s{8,}///.*)*", "", file.read_text())
    for _, text in prose(file, text):
        for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|] |\d+\. |@))", text):
            block = re.sub(r"^\d+\. ", "", " ".join(block.split()))
            if re.match(r"\||- [a-z]", block):
                continue  # a table or a list within a sentence is read as a whole
            parts = re.split(r"(?<=[^.][.!?])(?<! [A-Z]\.)\s+", block)  # not behind initials
            for sentence in parts[1:] if block.startswith("@") else parts:  # the first is an entry of Doxygen
                if len(sentence.split()) >= FEWEST_WORDS and re.search(r"[.!?:][*`)\"]*$", sentence):
                    yield f"{file.relative_to(ROOT)}: {sentence}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    arguments = parser.parse_args()
    files = sorted(file for pattern in FILES for file in ROOT.glob(pattern))
    everything = [sentence for file in files for sentence in sentences(file)]
    if not 1 <= arguments.count <= len(everything):
        sys.exit(f"--count: {arguments.count} is not between 1 and {len(everything)}, the number of sentences")
    print(f"seed {arguments.seed}, {arguments.count} of {len(everything)} sentences")
    for sentence in random.Random(arguments.seed).sample(everything, arguments.count):
        print(sentence)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends the program, without a traceback
    main()
