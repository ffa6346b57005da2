"""The section of a study's page about simulated machines."""

from bench.report.style import Section, Table, format_bytes, format_us


def sections(lines):
    """None where nothing was simulated."""
    if not len(lines):
        return []
    ways = [way for way in ("put", "gather", "get") if f"{way}_us" in lines and lines[f"{way}_us"].notna().any()]
    names = {"put": "puts", "gather": "gathered puts", "get": "gets"}
    rows = [[line["machine"], line["ranks"], line["case"], f"{line['rows']} x {line['cols']}",
             format_bytes(line["bytes"]), *(format_us(line[f"{way}_us"]) for way in (*ways, "send")),
             *(f"{line['send_us'] / line[f'{way}_us']:.2f}" for way in ways)] for line in lines.to_dict("records")]
    header = ["machine", "ranks", "case", "size", "bytes", *(f"{names[way]} between fences, us" for way in ways),
              "sends and receives, us", *(f"sends / {names[way]}" for way in ways)]
    return [Section("Simulated machines, all variants by Brigade", "plain", {"table": Table(header, rows)})]
