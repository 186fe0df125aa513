"""`passlens records`: list, show, export and import what was measured."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from optimizer.errors import StudioError, plain, quoted
from optimizer.numbers import counted
from profiling.records import Filter, Listed, Recording, Records, hardware, origin
from profiling.records.bundle import SUFFIX, bundle_bytes, open_bundle
from profiling.records.recording import started
from profiling.records.recording_json import KINDS, recording_to_json
from profiling.records.tabular import recordings_csv, recordings_json
from studio.commands import DONE
from studio.commands.output import print_json, say, table
from studio.recordings.keeper import database_url

SCHEMA = "passlens.records/1"
_WRITERS: dict[str, Callable[[list[Recording]], bytes]] = {
    SUFFIX: bundle_bytes,
    ".csv": lambda recordings: recordings_csv(recordings).encode(),
    ".json": lambda recordings: recordings_json(recordings).encode(),
}


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="recordings, the newest first")
    listing.add_argument("--kind", choices=KINDS, action="append", default=[])
    listing.add_argument("--model", default="")
    listing.add_argument("--text", default="", help="in title, model or machine")
    listing.add_argument("--limit", type=int, default=20)
    listing.add_argument("--json", action="store_true", help="machine-readable, to stdout")
    listing.set_defaults(act=_list)
    showing = actions.add_parser("show", help="one recording's measurements")
    showing.add_argument("id", type=int)
    showing.add_argument("--json", action="store_true", help="everything, to stdout")
    showing.set_defaults(act=_show)
    exporting = actions.add_parser("export", help="write recordings to a file")
    exporting.add_argument("ids", type=int, nargs="+", metavar="ID")
    kinds = " or ".join(_WRITERS)
    exporting.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help=f"ends in {kinds}"
    )
    exporting.set_defaults(act=_export)
    importing = actions.add_parser("import", help="add the recordings of bundles")
    importing.add_argument("bundles", type=Path, nargs="+", metavar=f"FILE{SUFFIX}")
    importing.set_defaults(act=_import)


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked for.

    Raises:
        StudioError: the database or a file cannot be read or written.
    """
    return arguments.act(arguments)


def _list(arguments: argparse.Namespace) -> int:
    wanted = Filter(kinds=tuple(arguments.kind), model=arguments.model, text=arguments.text)
    with _records() as records:
        found, total = records.find(wanted, limit=max(0, arguments.limit)), records.count(wanted)
    if arguments.json:
        entries = [_listed_json(entry) for entry in found]
        print_json({"schema": SCHEMA, "total": total, "recordings": entries})
    elif found:
        print(_text(found))
    if not arguments.json:
        say(f"{len(found)} of {counted(total, 'recording')}")
    return DONE


def _show(arguments: argparse.Namespace) -> int:
    with _records() as records:
        recording = records.load(arguments.id)
    if arguments.json:
        print_json({"id": recording.id, **recording_to_json(recording)})
        return DONE
    say(plain(recording.title))
    say(plain(origin(recording)))
    rows = [["variant", "p50 ms", "p95 ms", "runs", "verdict"]]
    for measured in recording.measurements:
        times = [_ms(measured.p50_ms), _ms(measured.p95_ms), str(measured.runs)]
        rows.append([plain(measured.label), *times, plain(measured.error or measured.verdict)])
    print(table(rows, right=frozenset({1, 2, 3})))
    return DONE


def _export(arguments: argparse.Namespace) -> int:
    write = _WRITERS.get(arguments.output.suffix)
    if write is None:
        kinds = ", ".join(_WRITERS)
        raise StudioError(f"{quoted(arguments.output.name)} ends in none of {kinds}.")
    with _records() as records:
        data = write([records.load(identity) for identity in arguments.ids])
    try:
        arguments.output.write_bytes(data)
    except OSError as error:
        name = quoted(str(arguments.output))
        raise StudioError(f"{name} cannot be written: {error.strerror}.") from error
    say(f"Wrote {counted(len(arguments.ids), 'recording')} to {plain(str(arguments.output))}.")
    return DONE


def _import(arguments: argparse.Namespace) -> int:
    with _records() as records:
        for path in arguments.bundles:
            recordings = open_bundle(path)
            before = records.count()
            for recording in recordings:
                records.add(recording)
            new = records.count() - before
            say(f"{plain(path.name)}: {new} of {len(recordings)} are new.")
    return DONE


def _records() -> Records:
    return Records(database_url())


def _text(found: list[Listed]) -> str:
    rows = [["id", "recorded, UTC", "kind", "model", "machine", "finding"]]
    for entry in found:
        moment = f"{started(entry.started_at):%Y-%m-%d %H:%M}"
        texts = (entry.kind, entry.model, hardware(entry.machine), entry.title)
        rows.append([str(entry.id), moment, *map(plain, texts)])
    return table(rows, right=frozenset({0}))


def _listed_json(entry: Listed) -> dict[str, Any]:
    names = ("id", "kind", "title", "model", "model_hash", "started_at", "seconds", "bundle")
    fields = {name: getattr(entry, name) for name in names}
    return fields | {"machine": hardware(entry.machine), "variants": entry.variants}


def _ms(number: float | None) -> str:
    return "-" if number is None else f"{number:.4g}"
