"""An evaluation as one HTML page with plots.

The contract: the page needs no other file, asks nobody for anything (its policy forbids it), runs no script, and holds
what the result document holds: counts, digests, and names of the corpus, all of which are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Final

from streams.domain.evaluation.rates import Rate
from streams.domain.evaluation.result import Evaluation, Regression
from streams.domain.evaluation.scoring import ALL, BY, FEWEST, MARKED, GroupKey, Measure, Part, Tally
from topologies.cli.output import shown

_PLOTTED: Final = (ALL, MARKED, "lang", "obfuscation", "form", "placeholder_like", "source", "kind")
"""What is plotted; the rest is in tables alone."""

_LABEL, _WIDTH, _ROW, _NUMBERS = 250, 430, 20, 210
"""Measures of a plot in pixels: its labels, its axis, the height of a row, and the figures beside it."""

_LONGEST_LABEL: Final = 36
_STEPS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Where an axis may end."""

_STYLE: Final = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 960px; margin: 2em auto; padding: 0 1em; color: #1b1f24; }
h2 { margin-top: 2em; border-bottom: 1px solid #d0d7de; } h3 { margin-bottom: .3em; font-size: 1em; }
table { border-collapse: collapse; font-size: 13px; margin: .5em 0; }
th, td { text-align: left; padding: 2px 12px 2px 0; vertical-align: top; } td.n, th.n { text-align: right; }
code { font-size: 12px; overflow-wrap: anywhere; } .worse { color: #b3261e; } svg { display: block; }
svg text { font: 12px system-ui, sans-serif; fill: #1b1f24; } .axis { stroke: #d0d7de; } .few { opacity: .45; }
.bar { stroke: #5b7fa6; stroke-width: 5; } .point { fill: #123a63; } summary { cursor: pointer; }
"""

_READ: Final = (
    "A row counts as found where at least one finding is of the category. Rows that could not be scanned are in no "
    "rate. A point is a rate, the line its 95 % interval (Wilson). Pale groups have fewer than {fewest} rows."
)


def page(done: Evaluation, worse: Sequence[Regression], *, compared: bool) -> str:
    """Return the page.

    Args:
        done: The result.
        worse: What got worse.
        compared: Whether there was a baseline to compare with.
    """
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Evaluation</title>',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<style>{_STYLE}</style></head><body>",
        "<h1>Evaluation</h1>",
        _facts(done),
        f"<p>{_said(_READ.format(fewest=FEWEST))}</p>",
        *(_regressions(worse) if compared else ()),
        *(piece for part in done.parts for piece in _part(part)),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _facts(done: Evaluation) -> str:
    rows = [*done.versions.items(), ("scanner digest", done.scanner_sha256), ("profile digest", done.profile_sha256)]
    cells = "".join(f"<tr><th>{_said(name)}</th><td><code>{_said(value)}</code></td></tr>" for name, value in rows)
    files = _table(
        ("file", "rows", "SHA-256"), ((file.name, str(file.rows), file.sha256) for file in done.files), numbers={1}
    )
    errors = _table(("not scanned", "rows"), ((code, str(count)) for code, count in done.errors.items()), numbers={1})
    failed = errors if done.errors else "<p>Every row was scanned.</p>"
    return f"<table>{cells}</table><details><summary>Files</summary>{files}</details>{failed}"


def _regressions(worse: Sequence[Regression]) -> Iterator[str]:
    yield "<h2>Against the baseline</h2>"
    if not worse:
        yield "<p>Nothing is worse beyond its interval.</p>"
        return
    rows = (
        (item.part.title, f"{BY[item.group.by]} {item.group.value}", item.what, _rate(item.before), _rate(item.after))
        for item in worse
    )
    yield f'<div class="worse">{_table(("part", "rows", "rate", "before", "now"), rows, numbers=set())}</div>'


def _part(part: Part) -> Iterator[str]:
    yield f"<h2>{_said(part.key.title)}</h2>"
    for by, items in groupby(part.groups.items(), key=lambda item: item[0].by):
        groups = list(items)
        if by in _PLOTTED:
            yield f"<h3>{_said(BY[by])}</h3>"
            yield _plot(groups, part.key.measure)
    rows = (
        (BY[group.by], group.value, str(tally.rows), _rate(tally.rate), str(tally.any), str(tally.errors))
        for group, tally in part.groups.items()
    )
    heads = ("by", "value", "rows", "found", "anything found", "not scanned")
    yield f"<details><summary>All figures</summary>{_table(heads, rows, numbers={2, 4, 5})}</details>"


def _plot(groups: Sequence[tuple[GroupKey, Tally]], measure: Measure) -> str:
    """Return one plot: a row a group, its rate as a point on its interval."""
    end = 1.0 if measure is Measure.RECALL else _end(tally for _, tally in groups)
    height = _ROW * len(groups) + 24
    total = _LABEL + _WIDTH + _NUMBERS
    pieces = [f'<svg width="{total}" height="{height}" viewBox="0 0 {total} {height}" role="img">']
    for quarter in range(5):
        x = _LABEL + _WIDTH * quarter / 4
        pieces.append(f'<line class="axis" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{height - 20}"/>')
        pieces.append(f'<text x="{x:.1f}" y="{height - 5}" text-anchor="middle">{_percent(end * quarter / 4)}</text>')
    for place, (group, tally) in enumerate(groups):
        pieces += _bar(_ROW * place + _ROW // 2, group, tally, end)
    return "".join([*pieces, "</svg>"])


def _bar(y: int, group: GroupKey, tally: Tally, end: float) -> Iterator[str]:
    name = group.value or BY[group.by]
    label = name if len(name) <= _LONGEST_LABEL else name[: _LONGEST_LABEL - 1] + "…"
    few = ' class="few"' if tally.rows < FEWEST else ""
    yield f"<g{few}><title>{_said(name)}: {_said(_rate(tally.rate))} of {tally.rows}</title>"
    yield f'<text x="{_LABEL - 8}" y="{y + 4}" text-anchor="end">{_said(label)}</text>'
    if tally.rows:
        low, high = (_LABEL + _WIDTH * min(1.0, value / end) for value in tally.rate.interval)
        x = _LABEL + _WIDTH * min(1.0, tally.rate.share / end)
        yield f'<line class="bar" x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}"/>'
        yield f'<circle class="point" cx="{x:.1f}" cy="{y}" r="4"/>'
    figures = f"{_percent(tally.rate.share)}, {tally.found} of {tally.rows}" if tally.rows else "unknown"
    yield f'<text x="{_LABEL + _WIDTH + 12}" y="{y + 4}">{figures}</text></g>'


def _end(tallies: Iterable[Tally]) -> float:
    """Return where the axis of small rates ends: what holds every group that is large enough to say something."""
    highest = max((tally.rate.interval.high for tally in tallies if tally.rows >= FEWEST), default=1.0)
    return next(step for step in _STEPS if step >= min(1.0, highest))


def _percent(share: float) -> str:
    return f"{share * 100:.3g} %"


def _rate(rate: Rate) -> str:
    if not rate.of:
        return "unknown"
    low, high = rate.interval
    return f"{rate.found} ({rate.share:.2%}, {low:.2%} to {high:.2%})"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: set[int]) -> str:
    def cell(tag: str, place: int, value: str) -> str:
        kind = ' class="n"' if place in numbers else ""
        return f"<{tag}{kind}>{_said(value)}</{tag}>"

    lines = [("th", heads), *(("td", row) for row in rows)]
    return (
        "<table>"
        + "".join(
            f"<tr>{''.join(cell(tag, place, value) for place, value in enumerate(row))}</tr>" for tag, row in lines
        )
        + "</table>"
    )


def _said(text: str) -> str:
    return escape(shown(text))
