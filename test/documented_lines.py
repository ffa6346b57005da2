#!/usr/bin/env python3
"""Each compile line of the user pages and of the examples' heads compiles a program that includes <mpi.h> and all
headers of Brigade, in C and in C++, and <bsp.h> where the line is for BSPlib. No other header lies where its -I finds
it by its plain name. Argument: the folder of an installation, whose pkg-config files PKG_CONFIG_PATH names."""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREFIX = pathlib.Path(sys.argv[1]).resolve()

PROGRAM = """#include <mpi.h>
{headers}
int main(int argc, char** argv) {{
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Init(&argc, &argv);
  (void)comm;
  MPI_Finalize();
  return 0;
}}
"""


def commands(text):
    """The commands in `text` that compile C or C++, each on one line."""
    text = re.sub(r"\\\n", " ", text)
    return [" ".join(line.split()) for line in re.findall(r"^[ !]*((?:mpicc|mpicxx|gcc) .*)$", text, re.M)]


def plain_names(line):
    """The headers that the line's -I make known by their names alone."""
    words = subprocess.run(f"echo {line}", shell=True, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders = [ROOT / folder for folder in re.findall(r"-I(\S+)", words)]
    return {file.name for folder in folders for file in folder.glob("*.h*")}


def program_for(command, language):
    own = sorted(f"brigade/{file.name}" for file in (PREFIX / "include/brigade").glob("*.h"))
    if language == "c++":
        own.append("brigade/brigade.hpp")
    names = (["bsp.h"] if "brigade_bsp)" in command else []) + own
    return PROGRAM.format(headers="\n".join(f"#include <{name}>" for name in names))


def main():
    pages = sorted((ROOT / "docs/user").glob("*.md")) + [ROOT / "README.md"]
    examples = sorted(file for file in (ROOT / "examples").iterdir() if file.suffix in (".c", ".cc"))
    found = [(file, command) for file in pages + examples for command in commands(file.read_text())]
    broken = len([file for file in examples if file not in {of for of, _ in found}])
    if broken or not any("brigade_bsp)" in command for _, command in found):
        print("documented_lines.py: finds no compile line in some examples, or none for BSPlib", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as work:
        for file, command in found:
            command = command.replace("DIR/", f"{PREFIX}/")
            others = plain_names(command) - {"bsp.h"}
            if others:
                broken += 1
                print(f"{file.relative_to(ROOT)}: {command}\nfinds {sorted(others)}", file=sys.stderr)
            for compiler, language, suffix in (("mpicc", "c", ".c"), ("mpicxx", "c++", ".cc")):
                source = pathlib.Path(work) / ("program" + suffix)
                source.write_text(program_for(command, language))
                line = re.sub(r"^\w+ \S+", f"{compiler} -fsyntax-only -Wall -Werror {source}", command)
                outcome = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
                if outcome.returncode != 0:
                    broken += 1
                    print(f"{file.relative_to(ROOT)}: in {language}: {command}\n{outcome.stderr}", file=sys.stderr)
    print(f"{len(found)} compile lines, {broken} failures")
    return broken != 0


if __name__ == "__main__":
    sys.exit(main())
