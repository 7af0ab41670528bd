"""The proof of an erasure: no table has the person's rows, and no file of the lake their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tidemark.lake.place import is_remote, lake_folder, lake_location
from tidemark.operate.erasure.landed import Landed
from tidemark.operate.erasure.person import Personal
from tidemark.operate.erasure.search import SHORTEST, copies_of, files_below, search
from tidemark.operate.erasure.tables import Dependent, has_values, rows_of
from tidemark.operate.erasure.written_files import FolderOfProject

STRAY = "no model writes it: delete them there, or drop the table"


@dataclass
class Proof:
    """What was searched, and where the person was found.

    Attributes:
        tables: the tables that were searched.
        files: the number of files of the lake that were searched.
        values: how many values were searched in files.
        short: the columns of the key whose value is too short to be searched in files.
        keyless: tables that no model writes and that lack a column of the key: they are searched in bytes.
        hits: where the person was found, in words.
    """

    tables: list[str] = field(default_factory=list)
    files: int = 0
    values: int = 0
    short: list[str] = field(default_factory=list)
    keyless: list[str] = field(default_factory=list)
    hits: list[str] = field(default_factory=list)


def prove(
    landed: Landed,
    personal: Personal,
    tables: Sequence[Dependent],
    unmanaged_tables: Sequence[Dependent],
    folders: Sequence[FolderOfProject],
) -> Proof:
    """Search a person in tables and files.

    Args:
        landed: the person's rows in bronze, and the rejected records.
        personal: the values that are searched besides those of the key.
        tables: the tables that depend on the feed.
        unmanaged_tables: tables that no model writes.
        folders: what else dbt and Tidemark have written.
    """
    spark, person = landed.spark, landed.person
    proof = Proof([landed.bronze, landed.rejected, *(one.table for one in (*tables, *unmanaged_tables))])
    left = {landed.bronze: landed.rows().count()}
    if (records := landed.records()) is not None:
        left[landed.rejected] = records.count()
    left |= {one.table: rows_of(spark, person, one) for one in tables}
    proof.hits += [f"{table} ({number:,} rows by the key)" for table, number in left.items() if number]
    for table in (landed.bronze, *(one.table for one in tables)):
        for column, number in has_values(spark, table, personal.values).items():
            proof.hits.append(f"{table} ({number:,} rows by {column})")
    proof.keyless = [stray.table for stray in unmanaged_tables if stray.columns is None]
    for stray in unmanaged_tables:
        found_by = {
            "the key": rows_of(spark, person, stray),
            **has_values(spark, stray.table, personal.values),
        }
        for column, number in found_by.items():
            if number:
                proof.hits.append(f"{stray.table} ({number:,} rows by {column}; {STRAY})")
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
    for folder in folders:
        files = folder.files()
        proof.hits += search(str(folder.path), files, personal.texts_of_project(person)).hits
    return proof
