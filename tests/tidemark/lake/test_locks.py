"""What the project says about the packages and jars of others: notices and the bill of materials."""

from __future__ import annotations

import json
import re

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from scripts.locked import direct_names, extras_of_users, locked_jars, locked_packages
from scripts.notices import FILE, spdx
from scripts.sbom import sbom


def test_the_notices_name_what_is_locked() -> None:
    """Each package of pyproject.toml and each jar, with its version and a licence; if not: `make notices`."""
    names = set(direct_names(["", *extras_of_users()]))
    wanted: dict[str, str] = {}
    for package in locked_packages():
        if package.name in names:
            known = wanted.get(package.name)
            wanted[package.name] = f"{known}, {package.version}" if known else package.version
    wanted |= {f"{jar.group}:{jar.artifact}": jar.version for jar in locked_jars()}
    rows = re.findall(r"^\| (\S+) \| ([^|]*\d[^|]*) \| (\S[^|]*) \|", FILE.read_text(), re.MULTILINE)
    assert {name: version for name, version, _ in rows} == wanted
    assert names <= set(wanted)


def test_a_licence_is_read_where_it_is_named() -> None:
    """Expressions, classifiers, URLs and the first lines of a licence; anything else is not guessed."""
    assert spdx(["Apache-2.0 OR BSD-2-Clause"]) == "Apache-2.0 OR BSD-2-Clause"
    assert spdx(["", "Apache Software License"]) == "Apache-2.0"
    assert spdx(["https://www.apache.org/licenses/LICENSE-2.0.txt"]) == "Apache-2.0"
    assert spdx(["\n    Apache License\n  Version 2.0, January 2004\n TERMS AND CONDITIONS"]) == "Apache-2.0"
    assert spdx(["ISC License (ISCL)"]) == "ISC"
    assert spdx(["Copyright (c) 2015, somebody"]) == ""


def test_the_bill_of_materials_is_complete_and_valid() -> None:
    """Every entry of both locks, with its hashes; valid CycloneDX; the same bytes, without a time."""
    text = sbom()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert text == sbom()
    found = json.loads(text)
    assert "timestamp" not in found["metadata"]
    packages, jars = locked_packages(), locked_jars()
    components = {one["purl"]: one for one in found["components"]}
    assert len(components) == len(found["components"]) == len(packages) + len(jars)
    for package in packages:
        (files,) = components[f"pkg:pypi/{package.name}@{package.version}"]["externalReferences"]
        assert package.hashes
        assert {one["content"] for one in files["hashes"]} == set(package.hashes)
    for jar in jars:
        (one,) = components[f"pkg:maven/{jar.group}/{jar.artifact}@{jar.version}?type=jar"]["hashes"]
        assert one == {"alg": "SHA-256", "content": jar.sha256}
    scopes = {one["name"]: one["scope"] for one in found["components"]}
    assert (scopes["jinja2"], scopes["dagster"], scopes["pytest"]) == ("required", "optional", "excluded")
    needs = {one["ref"].split("@")[0]: one.get("dependsOn", []) for one in found["dependencies"]}
    assert any(ref.startswith("pkg:pypi/agate@") for ref in needs["pkg:pypi/dbt-core"])
