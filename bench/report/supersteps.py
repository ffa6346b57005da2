"""The section of a study's page that tells of simulated machines."""

from bench.report.style import Section, Table, format_bytes, format_us


def sections(lines):
    """None where nothing was simulated."""
    if not len(lines):
        return []
    rows = [[line.machine, line.ranks, line.case, f"{line.rows} x {line.cols}", format_bytes(line.bytes),
             format_us(line.put_us), format_us(line.send_us), f"{line.send_us / line.put_us:.2f}"]
            for line in lines.itertuples()]
    header = ["machine", "ranks", "case", "size", "bytes", "puts between fences, us", "sends and receives, us",
              "sends / puts"]
    return [Section("Simulated machines, both ways by Brigade", "plain", {"table": Table(header, rows)})]
