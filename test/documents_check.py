#!/usr/bin/env python3
"""Holds documents to what they speak of: links lead somewhere, code that is shown is in the file that is named, every
setting, threshold and file with atomics is explained, lines are no longer than a terminal, and cells of tables and
sentences for users are short. Both tables of protocols have all of them, with their tests. No source of the libraries
is too long, a class with many methods says why, and sources that CMake names exist."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_WORDS = 30
MOST_COLUMNS = 120
MOST_CELL = 300
MOST_README_LINES = 80
MOST_SOURCE_LINES = 500
MOST_METHODS = 25
ROOMS = ("membuf", "transport", "patterns", "windows", *(folder.name for folder in sorted(ROOT.glob("*_shim"))))

broken = 0


def complain(file, line, what):
    global broken
    broken += 1
    print(f"{file.relative_to(ROOT)}:{line}: {what}")


def dedented(lines):
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:].rstrip() for line in lines]


def shows(text, block):
    """Whether the lines of `block` stand in `text`, one after the other."""
    lines = text.splitlines()
    wanted = dedented(block)
    return any(dedented(lines[i : i + len(block)]) == wanted for i in range(len(lines) - len(block) + 1))


def check_blocks(file, lines):
    """A block of code behind a paragraph that names an example shows lines of that example."""
    start = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            start = number
            continue
        paragraph = ""
        for above in reversed(lines[:start]):
            if not above.strip() and paragraph:
                break
            paragraph = above + " " + paragraph
        for name in set(re.findall(r"examples/(\w+\.\w+)", paragraph)):
            example = ROOT / "examples" / name
            if not example.exists():
                complain(file, start + 1, f"there is no examples/{name}")
            elif not shows(example.read_text(), lines[start + 1 : number]):
                complain(file, start + 1, f"this is not in examples/{name}")
        start = None


def anchors(file):
    """Returns the anchors that GitHub gives to the headings of a page."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", file.read_text(), re.M)}


def check_links(file, lines):
    for number, line in enumerate(lines, 1):
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)]*)\)", line):
            if target.startswith("http"):
                continue
            page = file.parent / target if target else file
            if not page.exists() or anchor and anchor not in anchors(page):
                complain(file, number, f"leads nowhere: {target}#{anchor}" if anchor else f"leads nowhere: {target}")


def prose(lines):
    """(number, text) of each paragraph, entry of a list and cell of a table, without code."""
    paragraph, since, code = "", 0, False
    for number, line in enumerate(lines + [""], 1):
        if line.startswith("```"):
            code = not code
            continue
        starts = re.match(r"\s*([-*]|\d+\.) ", line)
        alone = code or not line.strip() or line.startswith(("|", "#", "    ")) or starts
        if alone and paragraph:
            yield since, paragraph
            paragraph = ""
        if code or not line.strip():
            continue
        if line.startswith("|"):
            for cell in line.strip("|").split("|"):
                yield number, cell
        elif not line.startswith(("#", "    ")):
            since = since if paragraph else number
            paragraph += " " + line.strip()


def check_columns(file, lines):
    for number, line in enumerate(lines, 1):
        if len(line) > MOST_COLUMNS and not line.startswith("|"):
            complain(file, number, f"{len(line)} columns, of {MOST_COLUMNS}")


def check_cells(file, lines):
    """A long cell of a table is a paragraph. A list of names is none."""
    for number, line in enumerate(lines, 1):
        for cell in re.split(r"(?<!\\)\|", line) if line.startswith("|") else ():
            names = re.fullmatch(r"(`[^`]*`|[ ,])*", cell)
            if len(cell.strip()) > MOST_CELL and not names:
                complain(file, number, f"a cell of {len(cell.strip())} characters, of {MOST_CELL}")


def check_sentences(file, lines):
    for number, text in prose(lines):
        text = re.sub(r"`[^`]*`", "code", text)
        text = re.sub(r"\]\([^)]*\)", "]", text)
        for sentence in re.split(r"(?<=[.!?])\s", text):
            words = len(sentence.split())
            if words > MOST_WORDS:
                complain(file, number, f"a sentence of {words} words, of {MOST_WORDS}: {sentence.strip()[:60]}...")


def check_settings():
    """The names in variable_names.h, those that are read, and the rows of the page are the same."""
    table, page = ROOT / "transport/host/variable_names.h", ROOT / "docs/user/settings.md"
    quoted = r'"(BRIGADE_[A-Z_]+)"'
    known = set(re.findall(quoted, table.read_text()))
    readers = ("patterns/settings/settings.cc", "transport/registry/registry.cc", "transport/time_slice.cc")
    sources = "\n".join((ROOT / name).read_text() for name in readers)
    read = set(re.findall(quoted, sources))
    for file, names in ((page, set(re.findall(r"^\| `(BRIGADE_[A-Z_]+)`", page.read_text(), re.M))), (table, read)):
        for name in sorted(known - names):
            complain(file, 1, f"{name} is missing here, or nobody reads it")
        for name in sorted(names - known):
            complain(file, 1, f"{name} is not in {table.relative_to(ROOT)}")


def check_memory_order():
    """The page has all files of the libraries whose order of memory matters."""
    page = ROOT / "docs/design/memory-order.md"
    text = page.read_text()
    for file in sorted(file for room in ROOMS for file in (ROOT / room).rglob("*.*")):
        if file.suffix not in (".cc", ".h") or file.stem.endswith("_test"):
            continue
        atomic = re.search(r"std::atomic|__atomic_|memory_order", file.read_text())
        if atomic and not re.search(rf"`[^`]*\b{file.stem}\.", text):
            complain(page, 1, f"{file.relative_to(ROOT)} is missing here")


def check_thresholds():
    """The page has every threshold of every rules.h, and no other."""
    page = ROOT / "docs/results/thresholds.md"
    tables = {file: set(re.findall(r"constexpr \w+ (k\w+)", file.read_text())) for file in ROOT.glob("*/rules.h")}
    listed = set(re.findall(r"`(k\w+)`", page.read_text()))
    for file, names in tables.items():
        for name in sorted(names - listed):
            complain(file, 1, f"{name} is missing in {page.relative_to(ROOT)}")
    for name in sorted(listed.difference(*tables.values())):
        complain(page, 1, f"no rules.h has {name}")


def check_protocols():
    """Both tables list the protocols in the order of plans, and the tests in the second one exist."""
    page = ROOT / "docs/design/protocols.md"
    sources = "".join(file.read_text() for file in sorted((ROOT / "patterns/protocol").glob("*.cc")))
    names = dict(re.findall(r'const Protocol (k\w+) = \{\s*"([^"]+)"', sources))
    table = re.search(r"kProtocols\[\] = \{(.*?)\}", sources, re.DOTALL)[1]
    order = [names[name] for name in re.findall(r"k\w+", table)]
    tables = re.findall(r"^\| protocol \|.*\n\|-.*\n((?:\|.*\n)+)", page.read_text(), re.MULTILINE)
    for table in tables:
        if [row.split("|")[1].strip() for row in table.splitlines()] != order:
            complain(page, 1, f"a table does not list {', '.join(order)}")
    for test in re.findall(r"`([\w/]+\.cc)`", tables[1]):
        if not (ROOT / test).exists():
            complain(page, 1, f"there is no {test}")


def check_lengths():
    """A file of the libraries that needs more lines holds two ideas."""
    for file in sorted(file for room in (*ROOMS, "include") for file in (ROOT / room).rglob("*.*")):
        if file.suffix not in (".cc", ".h", ".hpp", ".inc") or file.stem.endswith("_test"):
            continue
        lines = len(file.read_text().splitlines())
        if lines > MOST_SOURCE_LINES:
            complain(file, MOST_SOURCE_LINES, f"{lines} lines, of {MOST_SOURCE_LINES}")


def public_methods(kind, body):
    """Counts declarations with parentheses, as clang-format indents them: two columns, those of inner classes more."""
    count, public = 0, kind == "struct"
    for line in body.splitlines():
        label = re.match(r" (public|protected|private):", line)
        public = label[1] == "public" if label else public
        method = re.match(r"  (?!template|using|friend|static_assert|enum|class|struct|//|})\S.*\(", line)
        count += bool(public and method and "= delete" not in line)
    return count


def check_methods():
    """The comment of a class with many public methods says why it has so many."""
    for file in sorted(file for room in (*ROOMS, "include") for file in (ROOT / room).rglob("*.h*")):
        classes = r"((?:^//[^\n]*\n)*)(?:^template[^\n]*\n)?^(class|struct) (?:\[\[\w+\]\] )?(\w+)[^;{]*\{\n(.*?)^\};"
        for comment, kind, name, body in re.findall(classes, file.read_text(), re.M | re.S):
            methods = public_methods(kind, body)
            if methods > MOST_METHODS and not re.search(rf"more than {MOST_METHODS}\b", comment, re.I):
                complain(file, 1, f"{name} has {methods} public methods, of {MOST_METHODS}")


def check_cmake():
    """Only packagers run CMake, so a source that has moved is found here."""
    for file in (ROOT / "CMakeLists.txt", *sorted((ROOT / "cmake").glob("*.cmake"))):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            for source in re.findall(r"(?<![\w/*}])(?:test|\w+_shim|transport|patterns|windows)/[\w/]+\.cc?\b", line):
                if not (ROOT / source).exists():
                    complain(file, number, f"there is no {source}")


def main():
    names = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for file in (ROOT / name for name in names.split()):
        lines = file.read_text().splitlines()
        check_links(file, lines)
        check_columns(file, lines)
        check_cells(file, lines)
        if file.name == "README.md" or file.is_relative_to(ROOT / "docs"):
            check_blocks(file, lines)
        if file == ROOT / "README.md" or file.is_relative_to(ROOT / "docs/user"):
            check_sentences(file, lines)
        if file == ROOT / "README.md" and len(lines) > MOST_README_LINES:
            complain(file, MOST_README_LINES, f"{len(lines)} lines, of {MOST_README_LINES}")
    check_settings()
    check_memory_order()
    check_thresholds()
    check_protocols()
    check_lengths()
    check_methods()
    check_cmake()
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
