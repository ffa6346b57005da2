#!/usr/bin/env python3
"""Finds constructions that a reader has to parse twice; exit code 1 if there is one.

A construction is a sentence of a comment, a text of a program (an error, a log, --help, of which manual pages are made)
or a Markdown page that begins with one of OPENERS, which hides the noun of the sentence, or one of OLD_NAMES, anywhere
in a file. Words that fit people, not ranks, and pointers to an earlier sentence are counted in comments and pages."""

import argparse
import io
import pathlib
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
ITSELF = ("test/words_check.py", "test/words_check_test.py")

OPENERS = ("Who", "What", "Those", "That of", "Such")

# Words for people, and pointers. A change may lower the limit, and not raise it.
PEOPLE = re.compile(r"\b(?:asks?|asked|tells?|told|hears?|heard|owes?|guests?|likewise|thereby|as ever)\b", re.I)
MOST_PEOPLE = 14
UNCOUNTED = ("docs/results/archive/",)  # pages that are history

# Names that are gone, each with the standard word.
OLD_NAMES = {
    "Engine::Turn": "Engine::ProgressGuard",
    "HelperMayDrive": "AllowsProgressThread",
    "kDealt": "kReduceScatterAllgather",
    "kHelloBytes": "kHandshakeBytes",
    "kMostRanksTelling": "kMaxFenceMessagePeers",
    "ShortPath": "EagerExecutor",
    "SetPortion": "SetBlock",
    "PairLine": "InlineRing",
    "MutualOffers": "ZeroCopyAgreement",
    "mutual offers": "zero-copy agreement",
    "mutual reads": "zero-copy reads",
    "kUnusual": "kNotApplicable",
    "kNothingCame": "kNoMessageYet",
    "EdgeNotice": "EdgeStatus",
    "LendLanding": "PostBuffer",
    "SharedLanding": "PeerMapping",
    "needs_landing": "needs_receive_buffer",
    "kept_landing_bytes": "kept_receive_buffer_bytes",
    "PostLandings": "PostReceiveBuffers",
    "kMostWhoTell": "max_flag_peers",
    "speaks_in_pages_": "uses_flags",
    "MutualReads": "zero-copy reads",
    "RmaNote": "RmaRequest",
    "lines_to": "out_edges",
    "kLeastSharedLandingBytes": "kLeastPostedBytes",
    "wide line": "inline message in a wide ring",
    "letter box": "short-put mailbox",
    "TakeNotes": "TakeControls",
    "joins_notes": "joins_control",
    "Dealing": "Distribution",
    "PieceMover": "SegmentMover",
    "PiecePlan": "SegmentPlan",
    "PieceSettings": "SegmentSettings",
    "piece_bytes": "segment_bytes",
    "kPieceBytes": "kSegmentBytes",
    "kLeastBlocksToAskFor": "kLeastDelegatedBlocks",
    "kMostMeetingInPages": "kMaxFenceFlagPeers",
    "kShmSleepUnheardUs": "kShmSleepWithoutDoorbellUs",
    "Way": "Variant, or what it stands for",
}

C_SUFFIXES = (".h", ".hpp", ".cc", ".c", ".rs")
C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|(?P<comment>//[^\n]*|/\*.*?\*/)', re.S)
HASH_SUFFIXES = (".sh", ".in", ".bzl", ".cmake", ".map", ".txt")
HASH_NAMES = ("BUILD", "WORKSPACE")
# At the beginning of a text, of a sentence, of a paragraph, of an entry of a list, or of a cell of a table.
OPENER = re.compile(rf"(?:^|[.:;!?][\"')`*]*\s+|\n *\n|\n *(?:[-*]|\d+\.) +|\| *)[\"'(`*]*({'|'.join(OPENERS)})\b")


def c_comments(text):
    """Yields (number of the first line, text) for each comment."""
    for match in C_TOKEN.finditer(text):
        if match["comment"]:
            bare = re.sub(r"(?m)^[ \t]*(?://[/!]?<?|/?\*+[!<]?/?)", "", match[0])
            yield text.count("\n", 0, match.start()) + 1, bare


def hash_comments(text, mark="#"):
    """As c_comments, for comments that a mark begins, such as those of shells."""
    for number, line in enumerate(text.splitlines(), 1):
        match = re.search(rf"(?:^|\s){mark}+(?!!)(.*)", line)
        if match:
            yield number, match[1]


def python_comments(text):
    """As c_comments; docstrings are comments."""
    begins = True  # a statement
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if not token.string.startswith("#!"):
                yield token.start[0], token.string.lstrip("#")
        else:
            if token.type == tokenize.STRING and begins and token.string.startswith('"""'):
                yield token.start[0], token.string.strip('"') + "\n"  # a comment behind it is none of its sentences
            begins = token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)


def c_texts(text):
    """Yields (number of the first line, text) for each string; adjacent strings are one."""
    since, said, end = 0, "", 0
    for match in C_TOKEN.finditer(text):
        if not match[0].startswith('"'):
            continue
        if said and text[end:match.start()].strip():
            yield since, said
            said = ""
        since = since if said else text.count("\n", 0, match.start()) + 1
        said += match[0][1:-1].replace("\\n", "\n")
        end = match.end()
    if said:
        yield since, said


def python_texts(text):
    """As c_texts, without joining."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING:
            yield token.start[0], token.string.lstrip("rbf").strip("\"'")


def line_texts(text):
    """Yields (number, text) for each line that is no comment."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("#"):
            yield number, line


def paragraphs(comments):
    """Joins comments of adjacent lines, which share sentences."""
    since, text, next_line = 0, "", 0
    for number, comment in comments:
        if text and number != next_line:
            yield since, text
            text = ""
        since = since if text else number
        text += ("\n" if text else "") + comment.strip(" \t")
        next_line = number + comment.count("\n") + 1
    if text:
        yield since, text


def markdown(text):
    """The page without its headings, which are no sentences, and without its code."""
    code, lines = False, []
    for line in text.splitlines():
        fence = line.startswith("```")
        lines.append("" if code or fence or line.startswith("#") else line.strip())
        code ^= fence
    return [(1, "\n".join(lines))]


def texts(file, text):
    """(number of the first line, text) of all that a program may print."""
    if file.suffix in C_SUFFIXES:
        return c_texts(text)
    if file.suffix == ".py":
        return python_texts(text)
    return line_texts(text) if file.suffix in (".sh", ".in", ".j2") else ()


def prose(file, text):
    """(number of the first line, text) of all that the file says to a reader of its source, or of its page."""
    if file.suffix in C_SUFFIXES:
        return paragraphs(c_comments(text))
    if file.suffix in HASH_SUFFIXES or file.name in HASH_NAMES:
        return paragraphs(hash_comments(text))
    if file.suffix == ".f90":
        return paragraphs(hash_comments(text, mark="!"))
    if file.suffix == ".py":
        return paragraphs(python_comments(text))
    return markdown(text) if file.suffix == ".md" else ()


def constructions(file, text):
    """(number of the line, complaint) of each construction, in the order of the lines."""
    found = []
    for since, said in (*prose(file, text), *texts(file, text)):
        for match in OPENER.finditer(said):
            sentence = said[match.start(1):].splitlines()[0][:60]
            found.append((since + said.count("\n", 0, match.start(1)), f"begins with {match[1]}: {sentence}"))
    for old, standard in OLD_NAMES.items():
        for match in re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", text):
            found.append((text.count("\n", 0, match.start()) + 1, f"{old} is called {standard}"))
    return sorted(set(found))


def people(name, text):
    """(number of the line, complaint) of each word of PEOPLE."""
    if name.startswith(UNCOUNTED):
        return []
    return [(since + said.count("\n", 0, match.start()), match[0])
            for since, said in prose(pathlib.Path(name), text) for match in PEOPLE.finditer(said)]


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    failed, counted = False, []
    for name in names.splitlines():
        file = ROOT / name
        if name in ITSELF or not file.is_file():
            continue
        text = file.read_bytes().decode(errors="ignore")
        for line, complaint in constructions(file, text):
            print(f"{name}:{line}: {complaint}")
            failed = True
        counted += [f"{name}:{line}: {word}" for line, word in people(name, text)]
    if len(counted) > MOST_PEOPLE:
        print(*counted, f"{len(counted)} words for people, or that point elsewhere, of {MOST_PEOPLE}", sep="\n")
        failed = True
    if failed:
        print("begin each sentence with its noun, or its verb; take the standard words")
    sys.exit(failed)


if __name__ == "__main__":
    main()
