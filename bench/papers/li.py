"""The tables of the LI paper, whose cluster has 16 PCs with two processors each."""

import statistics
from typing import NamedTuple

from bench.papers.contract import (FIGURES, TOO_MANY_RANKS, Cell, Finding, PaperStudy, Run, Table, Value, first,
                                   read_csv)

PRODUCT_RANKS = {"non-SMP": "4,16", "SMP": "4,16,25"}
SORTS = "radix sort, RDXSORT"  # both
ALGORITHMS = ("RDXSORT", "RDXSORTOPT")
LIBRARIES = ("PUB", "BSPlib", "LAM")
RANKS = (2, 4, 8, 16)
KEYS = tuple(1024000 * millions for millions in (4, 8, 16, 32))
SECONDS_OF_KEYS = {4096000: 2.13, 8192000: 4.30, 16384000: 16.32, 32768000: 32.64}  # of one PC
# Of a key, while memory lasts: with 16 M keys a PC probably swaps, and each of several does not.
SECONDS_OF_A_KEY = SECONDS_OF_KEYS[4096000] / 4096000
# How many times as fast as one PC ranks multiply blocks that fit their caches. Fitted: half of the cells of Tables 1 to
# 3, by fit_li.py.
CACHE = 2.1
# Short puts to a process go together over windows, which take PUB's place, and one by one over the others.
PUTS = {"PUB": "gather_us", "BSPlib": "put_us", "LAM": "put_us"}
MACHINES = {"non-SMP": "pc_cluster", "SMP": "pc_cluster_smp"}
PER_HOST = {"non-SMP": 1, "SMP": 2}
# Where LI runs here in place of a library of the paper.
BACKENDS = {"PUB": "windows", "BSPlib": "bsp", "LAM": "mpi_rma"}
SUBJECTS = {"PUB": "brigade", "BSPlib": "bsp", "LAM": "mpi_rma"}


class Product(NamedTuple):
    """A cell of Table 1."""

    nodes: str
    n: int
    ranks: int
    library: str
    pattern: str
    sequential_s: float
    speedup: float
    fitted: bool
    doubtful: bool

    @property
    def key(self):
        return "Table 1", f"n = {self.n}, p = {self.ranks}, {self.nodes}", f"{self.library} {self.pattern}"


class Sort(NamedTuple):
    """A cell of Table 2 or 3. `speedup`: None where the paper has a dash."""

    nodes: str
    keys: int
    ranks: int
    library: str
    algorithm: str
    speedup: float
    fitted: bool

    @property
    def key(self):
        return ("Table 2" if self.nodes == "non-SMP" else "Table 3",
                f"{self.library}, {self.keys // 1024000} M, p = {self.ranks}", self.algorithm)


def _products():
    places = [(nodes, int(ranks)) for nodes, all_ranks in PRODUCT_RANKS.items() for ranks in all_ranks.split(",")]
    return [Product(row["nodes"], int(row["n"]), int(row["ranks"]), row["library"], row["pattern"],
                    float(row["sequential_s"]), float(row["speedup"]),
                    (int(row["n"]) // 320 + places.index((row["nodes"], int(row["ranks"])))) % 2 == 0,
                    bool(row["remark"]))
            for row in read_csv(FIGURES / "mult.csv")]


def _sorts():
    known = {(row["nodes"], int(row["keys"]), int(row["ranks"]), row["library"], row["pattern"]): float(row["speedup"])
             for row in read_csv(FIGURES / "rdx.csv")}
    return [Sort(nodes, keys, ranks, library, algorithm,
                 known.get((nodes, keys, ranks, library, f"{algorithm}, put")),
                 (KEYS.index(keys) + RANKS.index(ranks) + (nodes == "SMP")) % 2 == 0)
            for nodes in MACHINES for library in LIBRARIES for keys in KEYS for algorithm in ALGORITHMS
            for ranks in RANKS]


PRODUCTS = _products()
SORT_CELLS = _sorts()

# ---- simulated -------------------------------------------------------------------------------------------------------


def _simulator(name, study, nodes, *options, seconds=5):
    return Run(f"simulated_{name}_{nodes}", ["{bin}/bench/simulated/superstep_table", study,
                                             f"{{machines}}/{MACHINES[nodes]}.json", *options], seconds=seconds)


SIMULATED_PRODUCTS = {nodes: _simulator("mult", "mult", nodes, "--ranks", ranks)
                      for nodes, ranks in PRODUCT_RANKS.items()}
SIMULATED_SORTS = {nodes: _simulator("rdx", "rdx", nodes, "--ranks", "2,4,8,16", "--sizes", ",".join(map(str, KEYS)),
                                     "--cases", SORTS, seconds=50) for nodes in MACHINES}
AS_RANKS = {"non-SMP": (2, 4, 8, 16), "SMP": (4, 8, 16, 32)}
AS_INTS = (1, 16, 256, 1600, 4096)
SIMULATED_AS = {nodes: _simulator("as", "as", nodes, "--ranks", ",".join(map(str, ranks)), "--sizes",
                                  ",".join(map(str, AS_INTS)), seconds=5) for nodes, ranks in AS_RANKS.items()}


def speedup_of_product(records, product, cache=CACHE):
    record = first(records, machine=MACHINES[product.nodes], ranks=product.ranks, rows=product.n)
    if record is None:
        return None
    alone = product.sequential_s
    way = PUTS[product.library] if product.pattern == "put" else f"{product.pattern}_us"
    return alone / (alone / product.ranks / cache + record[way] * 1e-6)


def speedup_of_sort(records, sort):
    record = first(records, machine=MACHINES[sort.nodes], case=f"radix sort, {sort.algorithm}", ranks=sort.ranks,
                   rows=sort.keys)
    if record is None:
        return None
    seconds = SECONDS_OF_A_KEY * sort.keys / sort.ranks + record[PUTS[sort.library]] * 1e-6
    return SECONDS_OF_KEYS[sort.keys] / seconds


# ---- here ------------------------------------------------------------------------------------------------------------

_MEASURING = ["--seconds", "0.05", "--min-iterations", "5", "--json", "{output}", "--brigade-version", "{version}"]


def _suite(name, *options):
    return [f"{{bin}}/bench/studies/{name}_suite", *options, *_MEASURING]


def _environment(library, transport):
    environment = {"BRIGADE_LI_BACKEND": BACKENDS[library], "BRIGADE_TRANSPORT": transport}
    # Debian's Open MPI makes windows over TCP by its messages only.
    return {**environment, "OMPI_MCA_osc": "pt2pt"} if (library, transport) == ("LAM", "tcp") else environment


def _on_hosts(name, library, nodes, ranks, command, seconds, megabytes=0):
    """A job on hosts with slow links, as many ranks on each as the paper has on a PC."""
    return Run(f"{name}_{BACKENDS[library]}_{nodes}_{ranks}",
               ["python3", "-m", "bench.papers.on_hosts", "--per-host", str(PER_HOST[nodes]), str(ranks), *command],
               seconds=seconds, megabytes=megabytes,
               environment=_environment(library, "auto" if ranks == PER_HOST[nodes] else "tcp"))


_MULT = _suite("mult", "-n", "320,640", "--kernels", "loops,untransposed")
_RDX_BYTES_OF_A_KEY = 24  # given, sorted and sent, with MPI's own


def _rdx(*keys, words=()):
    return _suite("rdx", "--keys", ",".join(map(str, keys)), "--algorithms", ",".join(ALGORITHMS), *words)


def _rdx_megabytes(keys):
    return keys * _RDX_BYTES_OF_A_KEY // 10**6


ALONE_PRODUCTS = Run("mult_alone", _MULT, ranks=1, seconds=30, environment=_environment("PUB", "auto"))
ALONE_SORTS = Run("rdx_alone", _rdx(*KEYS), ranks=1, seconds=90, megabytes=_rdx_megabytes(KEYS[-1]),
                  environment=_environment("PUB", "auto"))


def _product_run(product):
    return _on_hosts("mult", product.library, product.nodes, product.ranks, _MULT, 30 + 3 * product.ranks)


# A run for each number of keys, so that one that takes too long costs no other cells.
def _sort_run(sort):
    millions = sort.keys // 1024000
    return _on_hosts(f"rdx_{millions}M", sort.library, sort.nodes, sort.ranks, _rdx(sort.keys), 10 + 9 * millions // 2,
                     _rdx_megabytes(sort.keys))


def _sort_run_on_one_host(sort):
    millions = sort.keys // 1024000
    return Run(f"rdx_{millions}M_{BACKENDS[sort.library]}_one_host_{sort.ranks}",
               _rdx(sort.keys, words=["{asleep}"]), ranks=sort.ranks, seconds=10 + 2 * millions,
               megabytes=_rdx_megabytes(sort.keys), environment=_environment(sort.library, "auto"))


def _median(records, **wanted):
    record = first(records, **wanted)
    return record["median_us"] if record else None


def _speedup(records, alone, others):
    """Of two sets of wanted fields."""
    one, many = _median(records, subject="alone", **alone), _median(records, **others)
    return one / many if one and many else None


def measured_product(records, product, kernel="loops"):
    case = {"case": f"matrix product, {kernel}", "rows": product.n}
    subject = "mpi" if product.pattern == "send" else SUBJECTS[product.library]
    return _speedup(records, {**case, "ranks": 1},
                    {**case, "ranks": product.ranks, "subject": subject, "pattern": product.pattern})


def measured_sort(records, sort):
    case = {"case": "radix sort, uniform keys", "rows": sort.keys}
    return _speedup(records, {**case, "ranks": 1}, {**case, "ranks": sort.ranks, "subject": SUBJECTS[sort.library],
                                                    "pattern": f"{sort.algorithm}, put"})


# ---- tables ----------------------------------------------------------------------------------------------------------


def _product_cells():
    return [Cell(*product.key[1:], product.speedup,
                 Value(SIMULATED_PRODUCTS[product.nodes], lambda records, p=product: speedup_of_product(records, p)),
                 Value((ALONE_PRODUCTS, _product_run(product)),
                       lambda records, p=product: measured_product(records, p)),
                 product.doubtful, product.fitted) for product in PRODUCTS]


def _sort_cells(nodes, run):
    return [Cell(*sort.key[1:], sort.speedup,
                 Value(SIMULATED_SORTS[nodes], lambda records, s=sort: speedup_of_sort(records, s)),
                 Value((ALONE_SORTS, run(sort)), lambda records, s=sort: measured_sort(records, s)),
                 fitted=sort.fitted and sort.speedup is not None) for sort in SORT_CELLS if sort.nodes == nodes]


TESTS = ("test 1, empty", "test 2, computation", "test 3, full", "test 4, simple", "test 5, scatter")
# By column: the library, its time in the simulation, and how it is called here.
_AS_WAYS = {**{f"{library} put": (library, PUTS[library], SUBJECTS[library], "put") for library in LIBRARIES},
            "LAM send": ("LAM", "send_us", "mpi", "send")}


def _as_run(library, nodes, ranks):
    command = _suite("as", "--ints", ",".join(map(str, AS_INTS)))
    return _on_hosts("as", library, nodes, ranks, command, 30 + 4 * ranks)


def _test_cells():
    """Figure 5: 2, 4 and 16 PCs, with one and with two processes."""
    cells = []
    for nodes, all_ranks in {"non-SMP": (2, 4, 16), "SMP": (4, 8, 32)}.items():
        for ranks in all_ranks:
            for test in TESTS:
                for way, (library, simulated, subject, pattern) in _AS_WAYS.items():
                    wanted = {"case": test, "ranks": ranks}
                    cells.append(Cell(
                        f"{test}, p = {ranks}", f"{nodes}, {way}", None,
                        Value(SIMULATED_AS[nodes], lambda records, w=wanted, us=simulated: first(records, **w)[us]),
                        Value(_as_run(library, nodes, ranks), lambda records, w={
                            **wanted, "subject": subject, "pattern": pattern}: _median(records, **w))))
    return cells


def _us_of_an_int(record, us):
    return record and record[us] / (record["rows"] * record["cols"])


def _exchange_cells():
    """Figure 6."""
    cells = []
    for nodes, all_ranks in AS_RANKS.items():
        for ranks in all_ranks:
            for ints in AS_INTS:
                wanted = {"case": "total exchange", "ranks": ranks, "rows": ints}
                for way, (library, simulated, subject, pattern) in _AS_WAYS.items():
                    here = {**wanted, "subject": subject, "pattern": pattern}
                    cells.append(Cell(
                        f"h = {ints * ranks}, p = {ranks}", f"{nodes}, {way}", None,
                        Value(SIMULATED_AS[nodes], lambda records, w=wanted, us=simulated: _us_of_an_int(
                            first(records, **w), us)),
                        Value(_as_run(library, nodes, ranks), lambda records, w=here: _us_of_an_int(
                            first(records, **w), "median_us"))))
    return cells


def _predicted(us_of_an_int, seconds=0.93):
    """Of n = 320 on 16 processors, whose exchange has 25,600 ints, from the cost of an int and the time of one
    processor."""
    n = 320
    flop_us = seconds * 1e6 / (2 * n * n * (n - 1))
    return 16 / (1 + 4 * 2 * us_of_an_int / (flop_us * (n - 1)))


def _predictions():
    """Section 4: what the cost of an exchange says of a product."""
    wanted = {"case": "total exchange", "ranks": 16, "rows": 1600}
    said = {("BSPlib", "non-SMP"): 8, ("LAM", "non-SMP"): 5, ("BSPlib", "SMP"): 6, ("LAM", "SMP"): 4.6}
    cells = []
    for (library, nodes), figure in said.items():
        cells.append(Cell(f"{library}, {nodes}", "predicted speedup, n = 320, p = 16", figure, Value(
            SIMULATED_AS[nodes], lambda records, us=PUTS[library]: _predicted(_us_of_an_int(
                first(records, **wanted), us))),
            Value((ALONE_PRODUCTS, _as_run(library, nodes, 16)), lambda records, s=SUBJECTS[library]: _predicted(
                _us_of_an_int(first(records, **wanted, subject=s, pattern="put"), "median_us"),
                _median(records, case="matrix product, loops", rows=320, ranks=1, subject="alone") * 1e-6))))
    return cells


def _alone_cells():
    cells = [Cell(f"product, n = {n}", "one processor", seconds, "the simulator computes nothing", Value(
        ALONE_PRODUCTS, lambda records, n=n: _seconds(records, "matrix product, loops", n)), is_input=True)
             for n, seconds in ((320, 0.93), (640, 7.67))]
    return cells + [
        Cell(f"sort, {keys // 1024000} M", "one processor", seconds, "the simulator computes nothing", Value(
            ALONE_SORTS, lambda records, k=keys: _seconds(records, "radix sort, uniform keys", k)),
            doubtful=keys == KEYS[-1], is_input=True) for keys, seconds in SECONDS_OF_KEYS.items()]


def _seconds(records, case, rows):
    us = _median(records, case=case, rows=rows, ranks=1, subject="alone")
    return us and us * 1e-6


def _untransposed(records):
    ratios = []
    for record in records:
        if record["case"] == "matrix product, untransposed":
            same = first(records, **{**{key: record[key] for key in ("rows", "ranks", "subject", "pattern")},
                                     "case": "matrix product, loops"})
            ratios += [record["median_us"] / same["median_us"]] if same else []
    return ratios


def _put_over_send(records, keys=4096000, ranks=16):
    case = {"case": "radix sort, uniform keys", "rows": keys, "ranks": ranks}
    put = _median(records, **case, subject="mpi_rma", pattern="RDXSORT, put")
    sent = _median(records, **case, subject="mpi", pattern="RDXSORT, send")
    return sent / put if put and sent else None


def _simulated_put_over_send(records):
    record = first(records, case="radix sort, RDXSORT", rows=4096000, ranks=16)
    compute = SECONDS_OF_A_KEY * 4096000 / 16 * 1e6
    return (compute + record["send_us"]) / (compute + record[PUTS["LAM"]])


def _simulated_smp_share(records):
    """The mean of speedups with two processes on a PC over those with one, where the paper has both."""
    one, two = ({sort[1:3] + sort[4:5]: speedup_of_sort(records, sort) for sort in SORT_CELLS
                 if sort.speedup and (sort.nodes, sort.library) == (nodes, "BSPlib")} for nodes in MACHINES)
    return statistics.mean(two[key] / one[key] for key in two) if None not in (*one.values(), *two.values()) else None


def _sentences():
    transposed = Value((ALONE_PRODUCTS, _product_run(PRODUCTS[0])),
                       lambda records: min(_untransposed(records), default=None))
    one_int = {"case": "total exchange", "ranks": 16, "rows": AS_INTS[-1]}
    lowest = [Cell("lowest cost of an int, p = 16", nodes, figure, Value(
        SIMULATED_AS[nodes], lambda records: _us_of_an_int(first(records, **one_int), PUTS["BSPlib"])),
        Value(_as_run("BSPlib", nodes, 16), lambda records: _us_of_an_int(
            first(records, **one_int, subject=SUBJECTS["BSPlib"], pattern="put"), "median_us")), doubtful=True)
              for nodes, figure in (("non-SMP", 0.59), ("SMP", 0.93))]
    last_lam = next(s for s in SORT_CELLS if (s.nodes, s.library, s.ranks) == ("non-SMP", "LAM", 16))
    return [
        Cell("product without transposition over with it", "least", 3, "the simulator has no cache", transposed),
        Cell("product without transposition over with it", "most", 7, "the simulator has no cache",
             transposed._replace(take=lambda records: max(_untransposed(records), default=None))),
        *lowest,
        Cell("messages over put, radix sort, at least", "LAM", 1.5, Value(
            SIMULATED_SORTS["non-SMP"], _simulated_put_over_send), Value(_sort_run(last_lam), _put_over_send)),
        Cell("speedups of radix sort, SMP over non-SMP, mean", "BSPlib", 0.7,
             Value((SIMULATED_SORTS["non-SMP"], SIMULATED_SORTS["SMP"]), _simulated_smp_share),
             "see Tables 2 and 3: hosts share two processors"),
    ]


_SHARED = f"Here {TOO_MANY_RANKS}."
_SWAPPING = ("The paper's time of one processor is 3.8 times as long with 16 M keys as with 8 M, probably since it "
             "swaps: keys and a copy fill its 128 MB. The time with 32 M is the paper's estimate. Where the paper has "
             "a dash, memory was too short. No simulated process swaps: its time of a key is that of 4 M keys. ")
TABLES = [
    Table("Table 1", "products, speedup over one processor", "speedup", _product_cells(),
          "The paper heads both groups of 16 processes SMP, but its text quotes the first, 14 doubtful cells, as "
          "non-SMP. Here hosts have links of 400 Mbit/s and share two processors: no speedup can be above 2 or so. LI "
          "runs over Brigade's windows in PUB's place, over Brigade's BSPlib, and over MPI's windows and messages in "
          f"LAM's. {_SHARED}"),
    Table("Table 2", "radix sort, one process on a PC", "speedup", _sort_cells("non-SMP", _sort_run),
          _SWAPPING + _SHARED),
    Table("Table 3", "radix sort, two processes on a PC", "speedup", _sort_cells("SMP", _sort_run),
          f"{_SWAPPING}The paper says that LAM's sorts of 32 M keys swapped a little, too. {_SHARED}"),
    Table("Table 2, one host", "radix sort here in shared memory", "speedup",
          _sort_cells("non-SMP", _sort_run_on_one_host),
          f"Paper and simulation as in Table 2, where their errors are counted. {_SHARED}", repeats=True),
    Table("Figure 5", "barriers, after few ints", "us", _test_cells(), f"The curves are lost. {_SHARED}"),
    Table("Figure 6", "total exchanges, time of an int", "us", _exchange_cells(), f"The curves are lost. {_SHARED}"),
    Table("Section 4", "what Figure 6 predicts of Table 1", "speedup", _predictions(),
          "BSPlib's 8 and 6 follow from 0.57 and 0.95 us an int. Section 5 has lowest costs of 0.59 and 0.93 us, and "
          "does not say of which library each is. They are so near that here both count as BSPlib's: with one process "
          f"on a PC, and with two. {_SHARED}"),
    Table("Times", "one processor", "s", _alone_cells(), "The simulated speedups take these times as they are."),
    Table("Sentences", "ratios and costs that the text states", "", _sentences(),
          f"The cost of an int is measured here with LI over Brigade's BSPlib. {_SHARED}"),
]


def _put(n, ranks, nodes, library, pattern="put"):
    return "Table 1", f"n = {n}, p = {ranks}, {nodes}", f"{library} {pattern}"


def _third_test(library):
    return "Figure 5", "test 3, full, p = 16", f"non-SMP, {library} put"


def _exchanged(ranks, nodes, way):
    """The longest exchange."""
    return "Figure 6", f"h = {AS_INTS[-1] * ranks}, p = {ranks}", f"{nodes}, {way}"


def _sorted(table, library, millions, ranks, algorithm="RDXSORT"):
    return table, f"{library}, {millions} M, p = {ranks}", algorithm


FINDINGS = [
    Finding("On 16 PCs test 3 takes longer over BSPlib than over PUB, and the longest over LAM.", lambda value: value(
        *_third_test("PUB")) < value(*_third_test("BSPlib")) < value(*_third_test("LAM"))),
    Finding("Total exchanges by LAM's messages take less time than by its puts.", lambda value: all(
        value(*_exchanged(ranks, nodes, "LAM send")) < value(*_exchanged(ranks, nodes, "LAM put"))
        for nodes, all_ranks in AS_RANKS.items() for ranks in all_ranks)),
    Finding("Total exchanges on 4 and 8 processes take the least time over PUB.", lambda value: all(
        value(*_exchanged(ranks, nodes, "PUB put")) < value(*_exchanged(ranks, nodes, way))
        for nodes in MACHINES for ranks in (4, 8) for way in ("BSPlib put", "LAM put", "LAM send"))),
    Finding("Total exchanges on 16 and 32 processes take the least time over BSPlib, and the most over PUB.",
            lambda value: all(
                value(*_exchanged(ranks, nodes, "BSPlib put")) < value(*_exchanged(ranks, nodes, f"LAM {way}")) <
                value(*_exchanged(ranks, nodes, "PUB put"))
                for ranks, nodes in ((16, "non-SMP"), (16, "SMP"), (32, "SMP")) for way in ("put", "send"))),
    Finding("Products by puts over BSPlib are faster than by LAM's messages on 16 and 25 processes.", lambda value: all(
        value(*_put(n, ranks, nodes, "BSPlib")) > value(*_put(n, ranks, nodes, "LAM", "send"))
        for n in (320, 640) for ranks, nodes in ((16, "non-SMP"), (16, "SMP"), (25, "SMP")))),
    Finding("LAM's puts of products are as fast as its messages, to 15 %, on 4 processors.", lambda value: all(
        abs(value(*_put(n, 4, nodes, "LAM")) / value(*_put(n, 4, nodes, "LAM", "send")) - 1) < 0.15
        for n in (320, 640) for nodes in MACHINES)),
    Finding("Products by gets over PUB and BSPlib are mostly slower than by puts.", lambda value: statistics.median(
        value(*_put(product.n, product.ranks, product.nodes, product.library, "get")) /
        value(*_put(product.n, product.ranks, product.nodes, product.library))
        for product in PRODUCTS if product.library != "LAM" and product.pattern == "get") < 1),
    Finding("Two processes on a PC sort slower than as many PCs (BSPlib, 16 processes).", lambda value: all(
        value(*_sorted("Table 3", "BSPlib", m, 16)) < value(*_sorted("Table 2", "BSPlib", m, 16))
        for m in (4, 8, 16, 32))),
    Finding("Another first digit changes BSPlib's radix sort by less than 5 %.", lambda value: all(
        abs(value(*_sorted("Table 2", "BSPlib", m, p, "RDXSORTOPT")) / value(*_sorted("Table 2", "BSPlib", m, p)) - 1)
        < 0.05 for m in (4, 8, 16) for p in RANKS)),
    Finding("Another first digit speeds up LAM's radix sort on 16 PCs.", lambda value: all(
        value(*_sorted("Table 2", "LAM", m, 16, "RDXSORTOPT")) > value(*_sorted("Table 2", "LAM", m, 16))
        for m in (4, 8, 16, 32))),
    Finding("No radix sort is faster than 6.45 times one processor.", lambda value: max(
        value(*sort.key) for sort in SORT_CELLS if sort.speedup) <= 6.45),
    Finding("Products without the transposition take at least three times as long.", lambda value: value(
        "Sentences", "product without transposition over with it", "least") >= 3),
]


def _directions():
    """More processes, and RDXSORTOPT after RDXSORT."""
    pairs = [(one.key, other.key) for one in PRODUCTS for other in PRODUCTS
             if one[:2] == other[:2] and one[3:5] == other[3:5] and (one.ranks, other.ranks) in ((4, 16), (16, 25))]
    known = {sort.key: sort for sort in SORT_CELLS if sort.speedup}
    for sort in known.values():
        more, other = sort._replace(ranks=2 * sort.ranks), sort._replace(algorithm="RDXSORTOPT")
        pairs += [(sort.key, key) for key in (more.key, other.key) if key in known and key != sort.key]
    return pairs


SUMMARY = """\
In the simulation, nearly all changes of Tables 1 to 3 have the same direction as in the paper. With one process on each
PC the simulated times are near the paper's times; with two processes the simulated times are too short, and the three
libraries take almost equal times. LI over today's libraries: [exchanges](../li-exchanges.md),
[product](../li-product.md), [sort](../li-sort.md)."""

STUDY = PaperStudy(
    "li", "LI: puts and gets on clusters of PCs",
    "16 PCs, two Pentium II of 350 MHz each, 100 Mbit/s Ethernet (transport/machines/pc_cluster.json, "
    "pc_cluster_smp.json)",
    TABLES, FINDINGS, _directions(),
    ["//bench/simulated:superstep_table", "//bench/studies:suites"], summary=SUMMARY, text=f"""## The simulated machine

`transport/machines/pc_cluster.json` and `pc_cluster_smp.json`, with the source of each value. The link's rate is
stated. Three values are fitted to half of the cells of Tables 1 to 3 (marked), the squares of a chequerboard over sizes
and numbers of processes: the time of a message and of a byte on a processor, and a factor by which all products compute
faster on several processors, {CACHE:g}, since the paper has speedups above their number, and names caches.
`python3 -m bench.papers.fit_li` repeats the fit, in which the time of a sort grows evenly with its keys. In Table 3 the
fitted half is farther off than the other: dashes leave it 12 of the 18 cells of 4 processes.

A simulated product or sort takes the time of one processor over the number of processes (and over the factor), and the
time of its communication.

| of the paper | in the simulation |
|---|---|
| puts of PUB, BSPlib and LAM | Brigade's, between fences; only in PUB's place short puts to a process go together |
| gets, and LAM's messages | Brigade's |
| two processes on a PC | data within it are copied at 150 MB/s, an estimate; neither slows the other's computing |
| delay of RDXSORTOPT, swapping | not described |

## What differs, and why

- **Two processes on a PC.** Simulated speedups of Table 3 are 2.4 times the paper's on 2 processes, whose data all stay
  within the PC, 1.4 times on 4, and 1.2 times on 16 (medians). Copies at 150 MB/s would allow a speedup of 0.95 on 2
  processes even if these computed no faster than one, and the paper has 0.68 to 0.82. So its libraries are probably
  slower within a PC than such copies, as network protocols would be; the paper does not state what they use. The
  simulated SMP cells of *Section 4* and *Sentences* are probably too fast for the same reason.
- **Libraries.** Simulated puts are almost the same for all three: they tie where the paper ranks them by test 3 and
  total exchanges, and in two of six cases products by puts over BSPlib are slower than LAM's messages, by 2 % or less.
  The losses of PUB, which the paper puts down to poor tuning, are not simulated (median errors: its gets in Table 1 64
  %, Table 2 34 %).
- **Messages.** LAM's puts are built on its messages, and simulated puts are not: they take less time than simulated
  messages in the longest total exchanges, by which the sentence is judged. Why LAM's messages take 1.5 times as long as
  its puts in a radix sort is not known, since the paper leaves out their figures.
- **RDXSORTOPT.** In the simulation it differs from RDXSORT only by the order of its puts, and gains 6 to 24 % in Table
  2 from 4 PCs on; the paper has 1 to 23 % for LAM, and at most 3 % for the others. BSPlib may send puts as late as
  `bsp_sync`, so it is likely that it chooses the order itself.""")
