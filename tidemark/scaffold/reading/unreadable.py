"""Formats that do not land: one sentence each, with a command that converts the file."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from python_ingest.feeds.file_formats import FILE_FORMATS
from tidemark.base.errors import TidemarkError
from tidemark.scaffold.reading.opening import SampleFile, without_ending

# Python code; {path} and {csv} are the file and the file to write, as Python texts.
PANDAS = {
    "xml": "import pandas; pandas.read_xml({path}, parser='etree', dtype=str).to_csv({csv}, index=False)",
    "html": "import pandas; pandas.read_html({path})[0].to_csv({csv}, index=False)  # needs lxml",
    "sas7bdat": "import pandas; pandas.read_sas({path}, encoding='latin-1').to_csv({csv}, index=False)",
    "xpt": "import pandas; pandas.read_sas({path}, format='xport').to_csv({csv}, index=False)",
    "dta": "import pandas; pandas.read_stata({path}, convert_categoricals=False).to_csv({csv}, index=False)",
    "sav": "import pandas; pandas.read_spss({path}).to_csv({csv}, index=False)  # needs pyreadstat",
    "feather": "import pandas; pandas.read_feather({path}).to_parquet({parquet})",
    "h5": "import pandas; pandas.read_hdf({path}).to_csv({csv}, index=False)  # needs tables",
    "sqlite": "import pandas, sqlite3; pandas.read_sql('select * from NAME', sqlite3.connect({path}))"
    ".to_csv({csv}, index=False)",
    "yaml": "import json, yaml; json.dump(yaml.safe_load(open({path})), open({json}, 'w'), default=str)",
    "fixed": "import pandas; pandas.read_fwf({path}, dtype=str, keep_default_na=False)"
    ".to_csv({csv}, index=False)",
}
SAME = {
    "htm": "html", "xhtml": "html", "arrow": "feather", "ipc": "feather", "hdf5": "h5", "hdf": "h5",
    "yml": "yaml", "db": "sqlite", "sqlite3": "sqlite", "fwf": "fixed", "rss": "xml", "gpx": "xml",
}  # fmt: skip
PROGRAMS = {
    "7z": "7z x {path}",
    "rar": "unrar x {path}",
    "tar": "tar -xf {path}",
    "tgz": "tar -xf {path}",
    "tbz2": "tar -xf {path}",
    "txz": "tar -xf {path}",
    "z": "uncompress {path}",
    "lz4": "lz4 -d {path}",
    "br": "brotli -d {path}",
    "mdb": "mdb-export {path} TABLE > {csv}",
    "accdb": "mdb-export {path} TABLE > {csv}",
    "dbf": "ogr2ogr -f CSV {csv} {path}",
    "shp": "ogr2ogr -f CSV {csv} {path}",
    "kml": "ogr2ogr -f CSV {csv} {path}",
    "geojson": "ogr2ogr -f CSV {csv} {path}",
    "gpkg": "ogr2ogr -f CSV {csv} {path}",
    "proto": "protoc --decode_raw < {path}",
}
NAMES = {
    "xml": "XML", "html": "HTML", "sas7bdat": "SAS", "xpt": "SAS", "dta": "Stata", "sav": "SPSS",
    "feather": "Arrow", "h5": "HDF5", "sqlite": "SQLite", "yaml": "YAML",
    "fixed": "text with columns of a fixed width",
}  # fmt: skip
NO_RECORDS = frozenset(
    ("pdf", "doc", "docx", "ppt", "pptx", "png", "jpg", "jpeg", "gif", "tif", "tiff", "mp3", "mp4", "exe")
) | {"pkl", "pickle"}
WHOLE = tuple(ending for one in FILE_FORMATS.values() if one.is_compressed for ending in one.endings)
MARKS = (  # first bytes
    *((one.magic, one.endings[0]) for one in FILE_FORMATS.values() if one.magic),
    (b"\xd0\xcf\x11\xe0", "xls"),
    (b"SQLite format 3", "sqlite"),
    (b"%PDF", "pdf"),
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"7z\xbc\xaf", "7z"),
    (b"Rar!", "rar"),
    (b"ARROW1", "feather"),
    (b"\x89HDF", "h5"),
)
SPECIAL = set('"$`!\\')  # in double quotes of a shell
COMPRESSED = ((b"\x1f\x8b", "gz"), (b"BZh", "bz2"), (b"\xfd7zXZ", "xz"), (b"\x28\xb5\x2f\xfd", "zst"))
ELEMENT = re.compile(rb"\s*(?:<\?xml|<!doctype|<html|<[a-z_][\w:.-]*[\s>])", re.IGNORECASE)


def unread_format(path: Path) -> TidemarkError | None:
    """Return the sentence about a file whose name shows a format that does not land; None for all others."""
    name = path.name.lower()
    inner = without_ending(name)
    suffix = inner.rpartition(".")[2]
    if name != inner and suffix in WHOLE and not name.endswith(".zip"):
        unpack = {"gz": "gunzip", "bz2": "bunzip2", "xz": "unxz", "zst": "unzstd"}[name.rpartition(".")[2]]
        return TidemarkError(
            f"{path.name}: {suffix} files land without another compression around them.",
            f"Unpack it: `{unpack} {shlex.quote(path.name)}`.",
        )
    if suffix == "tar":
        return _cannot(path, "tar")
    return _cannot(path, suffix) if "." in inner else None


def fixed_width(name: str) -> TidemarkError:
    """Return the sentence about a file whose fields are separated by runs of blanks."""
    error = _cannot(Path(name), "fixed")
    assert error is not None  # noqa: S101  # the format is in the table
    return error


def check_content(file: SampleFile, head: bytes) -> None:
    """Stop if a file that should be text begins as another format does.

    Raises:
        TidemarkError: when it does.
    """
    start = head[:512].removeprefix(b"\xef\xbb\xbf")
    for mark, ending in COMPRESSED:
        if start.startswith(mark):
            raise TidemarkError(
                f"{file} is compressed, but its name does not end in .{ending}.", f"Rename it: add .{ending}."
            )
    found = next((suffix for mark, suffix in MARKS if start.startswith(mark)), None)
    if start.startswith(b"PK\x03\x04"):
        found = "xlsx" if b"xl/" in head[:4096] or b"[Content_Types]" in head[:4096] else "zip"
    if found in (*WHOLE, "zip"):
        raise TidemarkError(
            f"{file} is not text: it begins as a .{found} file does.", f"Rename it: let it end in .{found}."
        )
    if found is None and ELEMENT.match(start):
        found = "html" if re.search(rb"(?i)<(!doctype )?html|<table", head[:4096]) else "xml"
    if found and (error := _cannot(file.path, found)):
        raise error


def content_suffix(head: bytes) -> str:
    """Return the suffix that fits a file's first bytes; csv for any text."""
    start = head[:512].removeprefix(b"\xef\xbb\xbf")
    found = next((suffix for mark, suffix in MARKS if start.startswith(mark)), None)
    if found:
        return found
    return "json" if re.match(rb"\s*[\[{]\s*[\[{\"]", start) else "csv"


def python_command(code: str) -> str:
    """Return the command that runs Python code, quoted for a shell."""
    is_plain = not SPECIAL & set(code)
    return f'python -c "{code}"' if is_plain else f"python -c {shlex.quote(code)}"


def _cannot(path: Path, suffix: str) -> TidemarkError | None:
    of = SAME.get(suffix, suffix)
    if of in NO_RECORDS:
        return TidemarkError(
            f"{path.name}: the file name does not show the format of records.",
            f"Use files in one of these formats: {', '.join(one.title for one in FILE_FORMATS.values())}.",
        )
    if of in PANDAS:
        made = path.with_suffix("").name + "-converted" * (path.suffix.lower() == ".csv")
        values = {kind: repr(f"{made}.{kind}") for kind in ("csv", "json", "parquet")}
        code, _, remark = PANDAS[of].partition("  # ")
        command = python_command(code.format(path=repr(path.name), **values))
        what = f"{path.name} is {NAMES[of]}, which does not land."
        return TidemarkError(
            what, f"Convert it{f' ({remark} and pandas)' if remark else ' (pandas)'}: {command}"
        )
    if of in PROGRAMS:
        command = PROGRAMS[of].format(
            path=shlex.quote(path.name), csv=shlex.quote(f"{path.with_suffix('').name}.csv")
        )
        return TidemarkError(f"{path.name}: .{suffix} files do not land.", f"Convert it: `{command}`.")
    return None
