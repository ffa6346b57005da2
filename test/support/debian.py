"""Debian's packages, and their sources."""

import pathlib
import subprocess
import sysconfig

# Where this machine's libraries are: /usr/lib/x86_64-linux-gnu, for one.
LIBRARIES = pathlib.Path("/usr/lib") / sysconfig.get_config_var("MULTIARCH")


def version(package):
    """Of an installed package; None: it is not."""
    query = subprocess.run(["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version}", package],
                           capture_output=True, text=True)
    status, _, number = query.stdout.partition(" ")
    return number if status == "installed" else None


def source(package, folder):
    """Unpacks the source of a package, and returns where; None: the package's sources cannot be had. The system's lists
    of packages, which mostly know no sources, stay as they are."""
    parts = folder / "lists.d"
    lists = folder / "lists"
    for made in (parts, lists / "partial"):
        made.mkdir(parents=True, exist_ok=True)
    system = pathlib.Path("/etc/apt")
    for listed in [system / "sources.list", *(system / "sources.list.d").glob("*")]:
        if listed.suffix == ".sources":
            text = listed.read_text().replace("Types: deb\n", "Types: deb-src\n")
        elif listed.suffix == ".list" and listed.is_file():
            text = "".join(f"deb-src {line[4:]}\n" for line in listed.read_text().splitlines() if line[:4] == "deb ")
        else:
            continue
        (parts / listed.name).write_text(text)
    apt = ["apt-get", "--quiet=2", "-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={parts}",
           "-o", f"Dir::State::Lists={lists}"]
    for command in (["update"], ["source", "--only-source", package]):
        if subprocess.run(apt + command, cwd=folder, stdout=subprocess.DEVNULL).returncode != 0:
            return None
    return next(found for found in folder.glob(f"{package}-*") if found.is_dir())
