"""The proof of an erasure: no table has the person's rows, and no file of the lake their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from python_ingest.erasure.landed import Landed
from python_ingest.erasure.person import Personal
from python_ingest.erasure.search import SHORTEST, copies_of, files_below, search
from python_ingest.erasure.tables import Dependent, has_values, rows_of
from python_ingest.lake.place import is_remote, lake_folder, lake_location

WRITTEN_BY_DBT = ("target", "logs")


@dataclass
class Proof:
    """What was searched, and where the person was found.

    Attributes:
        tables: the tables that were searched.
        files: the number of files of the lake that were searched.
        values: how many values were searched in files.
        short: the columns of the key whose value is too short to be searched in files.
        hits: where the person was found, in words.
        outside: files of the project's folders target and logs that have a value.
    """

    tables: list[str] = field(default_factory=list)
    files: int = 0
    values: int = 0
    short: list[str] = field(default_factory=list)
    hits: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)


def prove(landed: Landed, personal: Personal, tables: Sequence[Dependent], root: Path) -> Proof:
    """Search a person in tables and files.

    Args:
        landed: the person's rows in bronze, and the rejected records.
        personal: the values that are searched besides those of the key.
        tables: the tables that depend on the feed.
        root: the project's folder.
    """
    spark, person = landed.spark, landed.person
    proof = Proof([landed.bronze, landed.rejected, *(one.table for one in tables)])
    left = {landed.bronze: landed.rows().count()}
    if (records := landed.records()) is not None:
        left[landed.rejected] = records.count()
    left |= {one.table: rows_of(spark, person, one) for one in tables}
    proof.hits += [f"{table} ({number:,} rows by the key)" for table, number in left.items() if number]
    for table in (landed.bronze, *(one.table for one in tables)):
        for column, number in has_values(spark, table, personal.values).items():
            proof.hits.append(f"{table} ({number:,} rows by {column})")
    proof.short = [column for column, value in person.key.items() if len(value) < SHORTEST]
    texts = personal.texts(person)
    proof.values = len(texts)
    places = {str(lake_folder()): files_below(lake_folder())}  # of a lake at a URL, this has the catalog
    if is_remote():
        places[lake_location()] = copies_of(spark, lake_location())
    for place, files in places.items():
        found = search(place, files, texts)
        proof.files += found.files
        proof.hits += found.hits
    for name in WRITTEN_BY_DBT:
        proof.outside += search(str(root / name), files_below(root / name), texts).hits
    return proof
