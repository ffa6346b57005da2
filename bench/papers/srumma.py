"""The tables of the SRUMMA paper, whose curves are lost."""

import math
import statistics

from bench.papers.contract import TOO_MANY_RANKS, Cell, Finding, PaperStudy, Run, Table, Value, first

GFLOPS = 5.57  # stated: section 4.3, dgemm has 92.9 % of a processor's 6 Gflop/s
PENTIUM_GFLOPS = 3.5  # estimated, of dgemm
ORDERS = (2000, 4000, 8000)
SIDES = (2, 4, 8, 16)
WIDTH = 125  # of pdgemm's chunks: divides the blocks of all these orders and sides
GRIDS = {4: "2 x 2", 8: "2 x 4"}


def gigaflops(n, us):
    return us and 2 * n ** 3 / us / 1e3


# ---- simulated -------------------------------------------------------------------------------------------------------


def _simulator(machine, gflops, n, side, width, seconds=2, per_host=0):
    return Run(f"simulated_{machine}_{n}_{side * side}", [
        "{bin}/bench/simulated/srumma_table", f"{{machines}}/{machine}.json", "--ranks", str(side * side), "--blocks",
        str(n // side), "--width", str(width), "--gflops", str(gflops), "--per-host", str(per_host)], seconds=seconds)


def _simulated(machine, gflops, n, side, way, of=None):
    """A Value: Gflop/s of a way, or what `of` makes of its us."""
    return Value(_simulator(machine, gflops, n, side, WIDTH), lambda records: (of or (lambda us: gigaflops(n, us)))(
        first(records, case=way)["us"]))


# ---- here ------------------------------------------------------------------------------------------------------------

_MEASURING = ["--seconds", "0.05", "--min-iterations", "3", "--json", "{output}", "--brigade-version", "{version}"]


def _product(n, ranks, on_hosts):
    variants = "diagonal,natural,blocking,natural blocking,pdgemm,dgemm"
    variants += "" if on_hosts else ",staged,staged blocking"
    command = ["env", "OMP_NUM_THREADS=1", "{bin}/bench/studies/srumma/product_study", "-n", str(n), "--variants",
               variants, "--transport", "tcp" if on_hosts else "auto", *_MEASURING]
    seconds = 60 + (n // 1000) ** 3 + (10 * (n // 1000) ** 2 if on_hosts else 0)
    # Operands, result and what it must be, and the buffers of messages.
    megabytes = 6 * 8 * n * n // 10**6
    if on_hosts:
        return Run(f"product_hosts_{n}_{ranks}", ["python3", "-m", "bench.papers.on_hosts", str(ranks), *command], 0,
                   seconds, megabytes)
    return Run(f"product_{n}_{ranks}", [*command, "{asleep}"], ranks, seconds, megabytes)


def measured(records, n, ranks, pattern):
    """Returns the us of a way of Brigade, of pdgemm, or of dgemm alone."""
    subject = {"pdgemm": "pdgemm", "dgemm": "alone"}.get(pattern, "brigade")
    found = first(records, case=f"matrix product, {GRIDS[ranks]} ranks", rows=n, subject=subject, pattern=pattern)
    return found and found["median_us"]


def _here(n, ranks, pattern, on_hosts=True):
    if ranks not in GRIDS:
        return TOO_MANY_RANKS
    return Value(_product(n, ranks, on_hosts), lambda records: gigaflops(n, measured(records, n, ranks, pattern)))


# ---- bandwidth and overlap -------------------------------------------------------------------------------------------

BYTES = (1024, 8192, 65536, 262144, 1048576, 4194304)
_SIZES = ",".join(map(str, BYTES))
SINGLE = Run("one_sided", ["{bin}/bench/brigade_bench", "one-sided", "--sizes", _SIZES, "--peers", "mpi", "--shim",
                           "none", *_MEASURING], 2, 60)
EXCHANGE = Run("simulated_exchange", ["{bin}/bench/simulated/superstep_table", "exchange",
                                      "{machines}/elan4_cluster.json", "--ranks", "2", "--per-host", "1", "--sizes",
                                      ",".join(str(size // 8) for size in BYTES)], seconds=2)
OVERLAP = Run("overlap", ["{bin}/bench/studies/srumma/overlap_study", "--bytes", _SIZES, "--transport", "auto",
                          *_MEASURING], 2, 180)
OVERLAP_HOSTS = Run("overlap_hosts", ["python3", "-m", "bench.papers.on_hosts", "2",
                                      "{bin}/bench/studies/srumma/overlap_study", "--bytes", _SIZES, "--transport",
                                      "tcp", *_MEASURING], 0, 300)
OPERATIONS = {"put": ("put_us", "one-sided put", "brigade", "put, flush"),
              "get": ("get_us", "one-sided get", "brigade", "get, flush"),
              "raw": (None, "one-sided get", "bare memory", "memcpy"),
              "send and receive": ("send_us", "one-sided put with notification", "mpi", "send, receive")}


def _rate(size, us):
    return us and size / us


def _bandwidth_cells():
    """Figure 2a."""
    cells = []
    for size in BYTES:
        for name, (simulated, case, subject, pattern) in OPERATIONS.items():
            wanted = {"case": case, "rows": size // 8, "subject": subject, "pattern": pattern}
            cells.append(Cell(
                f"{size} B", name, None,
                Value(EXCHANGE, lambda records, s=size, us=simulated: _rate(s, (first(
                    records, case="exchange with 1 neighbour", rows=s // 8) or {}).get(us)))
                if simulated else "the rate of the adapter is the machine file's: 850 MB/s",
                Value(SINGLE, lambda records, s=size, w=wanted: _rate(
                    s, (first(records, **w) or {}).get("median_us")))))
    return cells


UNCHANGED = 1.05


def overlap(records, size, target, subject="brigade"):
    """Returns the longest delay, in per cent of the get, that leaves its time as it was, to 5 %."""
    totals = {int(record["pattern"].split()[1]): record["median_us"] for record in records
              if record["case"] == f"get, delay, wait; the target {target}" and record["rows"] == size // 8
              and record["subject"] == subject}
    if 0 not in totals:
        return None
    return max(delay for delay in totals if all(totals[one] <= UNCHANGED * totals[0] for one in totals if one <= delay))


def _overlap_cells():
    """Figure 2b."""
    return [Cell(f"{size} B", f"the target {target}", None, "a simulated get takes no time of the processor",
                 Value(OVERLAP_HOSTS, lambda records, s=size, t=target: overlap(records, s, t)))
            for size in BYTES for target in ("sleeps", "computes")]


def _within_host_cells():
    """Figure 4: a get by shared memory, and by messages, in the place of an adapter that moves data within a host."""
    def rate(subject, size):
        return lambda records: _rate(size, (first(
            records, case="get, delay, wait; the target sleeps", rows=size // 8, subject=subject,
            pattern="delay 0 %") or {}).get("median_us"))

    return [Cell(f"{size} B", name, None, "the simulator has no adapter that moves data within a host",
                 Value(OVERLAP, rate(subject, size)))
            for size in BYTES for name, subject in (("shared memory", "brigade"), ("messages", "brigade, by messages"))]


# ---- products --------------------------------------------------------------------------------------------------------

COPIES = {"zero copy": ("diagonal", "diagonal"), "zero copy, blocking": ("diagonal, blocking", "blocking"),
          "copied": ("diagonal, copied", "staged"),
          "copied, blocking": ("diagonal, blocking, copied", "staged blocking")}
CONTENTION = {"order avoids contention": ("diagonal", "diagonal"),
              "order avoids contention, blocking": ("diagonal, blocking", "blocking"),
              "natural order": ("natural", "natural"),
              "natural order, blocking": ("natural, blocking", "natural blocking"),
              "pdgemm": ("pdgemm", "pdgemm")}


def _copy_cells():
    """Figure 8, on one host and between hosts."""
    cells = []
    for n in ORDERS:
        for side in SIDES:
            for name, (simulated, here) in COPIES.items():
                value = _simulated("myrinet_cluster", PENTIUM_GFLOPS, n, side, simulated)
                cells.append(Cell(f"n = {n}, p = {side * side}", f"one host: {name}", None, value,
                                  _here(n, side * side, here, on_hosts=False)))
                between = ("between hosts all goes by messages of TCP, which copy" if name.startswith("zero")
                           else _here(n, side * side, "blocking" if "blocking" in name else "diagonal"))
                cells.append(Cell(f"n = {n}, p = {side * side}", f"hosts: {name}", None, value, between))
    return cells


def _order_cells():
    """Figure 10, and other orders of matrices."""
    return [Cell(f"n = {n}, p = {side * side}", name, None,
                 _simulated("elan4_cluster", GFLOPS, n, side, simulated), _here(n, side * side, here))
            for n in ORDERS for side in SIDES for name, (simulated, here) in CONTENTION.items()]


def _scaling_cells():
    """Figure 12."""
    return [Cell(f"n = {n}, p = {ranks}", name, None,
                 _simulated("elan4_cluster", GFLOPS, n, math.isqrt(ranks), way) if math.isqrt(ranks) ** 2 == ranks
                 else "the simulated grid is square", _here(n, ranks, way))
            for n in ORDERS for ranks in (4, 8, 16, 64, 256) for name, way in (("SRUMMA", "diagonal"),
                                                                               ("pdgemm", "pdgemm"))]


PATTERN = _simulator("elan4_cluster", GFLOPS, 2000, 4, WIDTH, per_host=4)._replace(name="simulated_pattern")


def _pattern_cells():
    """Figure 9: fetches at once from one host by one other, on a grid of 4 x 4 with four processes on a host."""
    return [Cell("4 x 4, four processes on a host", name, figure,
                 Value(PATTERN, lambda records, w=way: first(records, case=w)["contention"]),
                 "the order is computed, not measured: as simulated")
            for name, way, figure in (("natural order", "natural", 4), ("order avoids contention", "diagonal", 1))]


LARGEST, LARGEST_SIDE, LARGEST_CHUNK = 39990, 43, 93  # 40,000 is no multiple of 43
LARGE = _simulator("elan4_cluster", GFLOPS, LARGEST, LARGEST_SIDE, LARGEST_CHUNK, seconds=10)
TOO_LARGE = "1849 processors"


def _large_cells():
    """Figure 11 and section 4.3."""
    def of(way, scale):
        return Value(LARGE, lambda records: scale * gigaflops(LARGEST, first(records, case=way)["us"]))

    processors = LARGEST_SIDE ** 2
    peak = 100 / (6 * processors)
    row = "n = 40000, p = 1849"
    alone = Value(_product(8000, 8, False), lambda records: 100 * measured(records, 8000, 8, "dgemm") / measured(
        records, 8000, 8, "diagonal"))
    return [
        Cell(row, "SRUMMA, Tflop/s", 9.7, of("diagonal", 1e-3), TOO_LARGE),
        Cell(row, "SRUMMA, % of peak", 88.2, of("diagonal", peak), TOO_LARGE),
        Cell(row, "SRUMMA, % of dgemm alone", 92.9, of("diagonal", 100 / (GFLOPS * processors)), alone, doubtful=True),
        Cell(row, "pdgemm, Tflop/s, below", 8, of("pdgemm", 1e-3), TOO_LARGE, doubtful=True),
        Cell(row, "pdgemm, % of peak", 74, of("pdgemm", peak), TOO_LARGE, doubtful=True),
        Cell("p = 1960", "SRUMMA, Tflop/s, extrapolated", 10.3, of("diagonal", 1e-3 * 1960 / processors), TOO_LARGE,
             doubtful=True),
        Cell("one processor", "dgemm, % of peak", 92.9, "given to the simulation", "the peak is not known here",
             doubtful=True, is_input=True),
    ]


def _sentence_cells():
    cells = []
    for name, choose, figure in (("least", min, 20), ("most", max, 60)):
        def simulated(records, c=choose):
            gains = [100 * pdgemm["us"] / ours["us"] - 100 for n in ORDERS for side in SIDES
                     for ours in [first(records, case="diagonal", rows=n, ranks=side * side)]
                     for pdgemm in [first(records, case="pdgemm", rows=n, ranks=side * side)] if ours and pdgemm]
            return c(gains) if gains else None

        def here(records, c=choose):
            gains = [100 * pdgemm / ours - 100 for n in ORDERS for ranks in GRIDS
                     for ours in [measured(records, n, ranks, "diagonal")]
                     for pdgemm in [measured(records, n, ranks, "pdgemm")] if ours and pdgemm]
            return c(gains) if gains else None

        cells.append(Cell("SRUMMA over pdgemm, n to 8000, %", name, figure, Value(
            tuple(_simulator("elan4_cluster", GFLOPS, n, side, WIDTH) for n in ORDERS for side in SIDES), simulated),
            Value(tuple(_product(n, ranks, True) for n in ORDERS for ranks in GRIDS), here)))

    def hidden(blocking, ahead, alone):
        return 100 * (blocking - ahead) / (blocking - alone) if None not in (blocking, ahead, alone) else None

    cells.append(Cell("communication of a product that overlaps, n = 8000, %", "more than", 90, Value(
        _simulator("elan4_cluster", GFLOPS, 8000, 8, WIDTH), lambda records: hidden(
            *(first(records, case=way)["us"] for way in ("diagonal, blocking", "diagonal")),
            first(records, case="diagonal")["compute_us"])),
        Value(_product(8000, 4, True), lambda records: hidden(*(measured(records, 8000, 4, way) for way in (
            "blocking", "diagonal", "dgemm"))))))
    cells.append(Cell("a get of 8 KB, us", "Elan4", 13, Value(EXCHANGE, lambda records: (first(
        records, case="exchange with 1 neighbour", rows=1024) or {}).get("get_us")), Value(
            SINGLE, lambda records: (first(records, case="one-sided get", rows=1024, subject="brigade",
                                           pattern="get, flush") or {}).get("median_us")), is_input=True))
    longest = BYTES[-1]
    cells.append(Cell("messages of MPI, MB/s", "Elan4", 850, Value(EXCHANGE, lambda records: _rate(longest, (first(
        records, case="exchange with 1 neighbour", rows=longest // 8) or {}).get("send_us"))), Value(
            SINGLE, lambda records: _rate(longest, (first(
                records, case="one-sided put with notification", rows=longest // 8, subject="mpi",
                pattern="send, receive") or {}).get("median_us"))), is_input=True))
    cells.append(Cell("the call of a get and its wait, us, about", "Elan4", 3, "given to the simulation",
                      "a get and its wait are timed together", is_input=True))
    cells.append(Cell("rate of an adapter's get within a host over that between hosts", "InfiniBand", 0.5,
                      "the simulator has no adapter that moves data within a host", "no such adapter here"))
    return cells


TABLES = [
    Table("Figure 2a", "rates of single operations", "MB/s", _bandwidth_cells(),
          "The curves are lost. Simulated is an exchange between fences, whose synchronisation counts; here ranks "
          "share memory, so raw is memcpy."),
    Table("Figure 2b", "overlap of a get", "%", _overlap_cells(),
          "The curves are lost. The text: not close to 100 % up to 64 KB on Elan4. Here hosts have links of 400 "
          "Mbit/s."),
    Table("Figure 4", "a get within a host", "MB/s", _within_host_cells(), "The curves are lost."),
    Table("Figure 8", "zero copy and blocking", "Gflop/s", _copy_cells(),
          "The curves are lost; neither n nor p is stated. *One host* and *hosts* differ here only: both have the "
          "figures that are simulated on myrinet_cluster.json."),
    Table("Figure 9", "fetches at once from one host by one other", "", _pattern_cells()),
    Table("Figure 10", "orders of blocks", "Gflop/s", _order_cells(), "The curves are lost; the paper's n is 8000."),
    Table("Figure 11", "the largest product", "", _large_cells(),
          "Simulated is n = 39990, which 43 divides; the one figure from here is of n = 8000 on 8 ranks. The text "
          "has 92.9 and 93.5 % for dgemm on one processor. It has less than 8 Tflop/s for pdgemm and 74 %, which would "
          "be 8.2; its LINPACK has 74 %, too."),
    Table("Figure 12", "scaling", "Gflop/s", _scaling_cells(), "The curves are lost; the axis ends at 1400 Gflop/s."),
    Table("Sentences", "figures that the text states", "", _sentence_cells(),
          "The overlap of a product is simulated on 64 processors, and measured here on 4."),
]


def _all_orders(value, faster, slower, sides=SIDES):
    return all(value("Figure 10", f"n = 8000, p = {side * side}", faster) > value(
        "Figure 10", f"n = 8000, p = {side * side}", slower) for side in sides)


FINDINGS = [
    # The text has no limit.
    Finding("Up to 64 KB the overlap of a get is not close to 100 %: below 90 %.", lambda value: all(
        value("Figure 2b", f"{size} B", "the target sleeps") < 90 for size in BYTES if size <= 65536)),
    Finding("Within a host a get through shared memory is faster than one by the adapter.",
            lambda value: all(value("Figure 4", f"{size} B", "shared memory") >
                              value("Figure 4", f"{size} B", "messages") for size in BYTES)),
    Finding("As processors become more, the order that avoids contention scales best, non-blocking: it is the fastest "
            "on 64 and 256 (n = 8000).", lambda value: all(
                _all_orders(value, "order avoids contention", other, (8, 16)) for other in CONTENTION
                if other != "order avoids contention")),
    Finding("On 256 processors the order that avoids contention is faster blocking than the natural order is "
            "non-blocking (n = 8000).", lambda value: _all_orders(
                value, "order avoids contention, blocking", "natural order", (16,))),
    Finding("Gets under way gain more with zero copy than with copies (n = 8000, 64 processors).", lambda value: value(
        "Figure 8", "n = 8000, p = 64", "one host: zero copy") / value(
            "Figure 8", "n = 8000, p = 64", "one host: zero copy, blocking") > value(
                "Figure 8", "n = 8000, p = 64", "one host: copied") / value(
                    "Figure 8", "n = 8000, p = 64", "one host: copied, blocking")),
    Finding("SRUMMA is faster than pdgemm at every order.", lambda value: all(
        value("Figure 12", f"n = {n}, p = {side * side}", "SRUMMA") > value(
            "Figure 12", f"n = {n}, p = {side * side}", "pdgemm") for n in ORDERS for side in SIDES)),
    Finding("SRUMMA is faster than pdgemm by 20 % or more in most of these cases.", lambda value: statistics.median(
        value("Figure 12", f"n = {n}, p = {side * side}", "SRUMMA") / value(
            "Figure 12", f"n = {n}, p = {side * side}", "pdgemm") for n in ORDERS for side in SIDES) >= 1.2),
    Finding("More than 90 % of a product's communication overlaps.", lambda value: value(
        "Sentences", "communication of a product that overlaps, n = 8000, %", "more than") >= 90),
]
_LARGE_ROW = "Figure 11", "n = 40000, p = 1849"
DIRECTIONS = [((*_LARGE_ROW, "pdgemm, % of peak"), (*_LARGE_ROW, "SRUMMA, % of peak")),
              ((*_LARGE_ROW, "pdgemm, Tflop/s, below"), (*_LARGE_ROW, "SRUMMA, Tflop/s"))]

SUMMARY = """\
The simulated rate of the largest product is near the paper's rate. In the simulation, SRUMMA is clearly faster than
pdgemm on 64 and 256 processors only, and the gain there is smaller for larger matrices. The order of panels that avoids
contention gains most on many processors with small matrices."""

STUDY = PaperStudy(
    "srumma", "SRUMMA: products of matrices by gets",
    "980 hosts with two Itanium 2 of 1.5 GHz, Quadrics Elan4 (transport/machines/elan4_cluster.json); hosts with "
    "Myrinet (myrinet_cluster.json)", TABLES, FINDINGS, DIRECTIONS,
    ["//bench:brigade_bench", "//bench/simulated:superstep_table", "//bench/simulated:srumma_table",
     "//bench/studies/srumma:studies"], summary=SUMMARY, text="""## The simulated machine

`transport/machines/elan4_cluster.json`, for Figure 8 `myrinet_cluster.json`, with the source of each value. Rate and
time of a get on Elan4 are stated; nothing is fitted, since the text has too few figures.

| of the paper | in the simulation |
|---|---|
| SRUMMA | gets of whole blocks, the next step's while a rank computes; blocks of its host are read in place |
| pdgemm | SUMMA: broadcasts along rings; source and receivers copy each chunk of 125 columns (Figure 11: 93) |
| dgemm | the paper's rate on Elan4, an estimate on Myrinet, for all sizes |
| work of ScaLAPACK itself, ranks that come late | not described |

Not described: the IBM SP (figure 2b), of which the paper says only that it has LAPI; the InfiniBand hosts of figure 4,
of which it states that a transfer within a host has half of the adapter's rate; the Cray X1, which it mentions by a
processor's rate and a latency, without an experiment. The SGI Altix does not occur in the text. The simulator has no
adapter that serves a host's own transfers.

## What differs, and why

- **SRUMMA and pdgemm.** On 16 processors simulated SRUMMA is slower with n = 4000 and 8000, by 0.2 and 0.5 %: it waits
  for two whole blocks before it computes, and pdgemm for two chunks. With gets as narrow as the chunks SRUMMA is faster
  in all 12 cases of the same runs (`diagonal, narrow`), by 0.7 % or more. SRUMMA is faster by 20 % or more in only 3 of
  12 cases, all on 64 or 256 processors. It is probably pdgemm that costs too little in the simulation: with n = 40,000
  it has 88 % of the peak, and in the paper 74 % (doubtful), while SRUMMA has 92 and 88 %. Whether ScaLAPACK's own work
  or late ranks cost the rest is not known: the paper states neither pdgemm's chunks nor the time of its communication.
- **Overlap.** With n = 8000 and more, from 16 to 1849 processors, the time of 2.5 to 3.8 steps' gets is not hidden,
  probably at the start, where the gets of two steps go out at once. So a product hides 36 % of its communication on 16
  processors, 62 % on 64, 79 % on 256, and 91 % in Figure 11; the paper does not say on how many it hides 90 %.
- **Orders.** With n = 8000 and non-blocking gets the order that avoids contention is the fastest on 64 and 256
  processors; on 4 its blocking form is faster by 0.3 %, and on 16 pdgemm, both since they wait less at the start.
- **Zero copy.** It gains in all 24 simulated pairs of Figure 8: up to 14 % on 256 processors, and 1.3 % or less on 4.
  Gets under way gain more with it than with copies in 9 of 12 cases, but by little: 10.1 instead of 9.8 % with n = 8000
  on 64 processors, and at most 24.8 instead of 19.0 %, with n = 4000 on 256.
- **Single operations.** A get of 8 KB takes 18 us instead of 13, since it is an exchange between fences. Messages of 4
  MiB have 613 MB/s, and those of 1 MiB 833: a send that returns before its receive is copied, and what does not fit
  into the 2 MiB of staging memory is copied once more.""")
