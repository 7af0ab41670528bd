"""Write the software bill of materials of Tidemark, in CycloneDX 1.6: `python -m scripts.sbom FILE`.

It names what the locks name, with hashes. The same locks give the same bytes: there is no time in it, and its
serial number is made from its content. docs/release.md says what `scope` means.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from scripts.locked import Package, below, direct_names, extras_of_users, locked_jars, locked_packages
from tidemark.base.distribution import NAME, address, version
from tidemark.spark.jars import Jar


def sbom() -> str:
    """Return the bill of materials of this checkout as JSON."""
    packages, jars = locked_packages(), locked_jars()
    required = below(direct_names([""]), packages)
    optional = below(direct_names(extras_of_users()), packages)
    found: dict[str, list[Component]] = {}
    for package in packages:
        scope = ComponentScope.REQUIRED if package.name in required else ComponentScope.EXCLUDED
        if package.name in optional - required:
            scope = ComponentScope.OPTIONAL
        found.setdefault(package.name, []).append(_of_package(package, scope))
    ours = Component(
        name=NAME,
        version=version(),
        type=ComponentType.APPLICATION,
        bom_ref=NAME,
        purl=PackageURL("pypi", None, NAME, version()),
        licenses=[LicenseExpression("Apache-2.0")],
        external_references=[ExternalReference(type=ExternalReferenceType.WEBSITE, url=XsUri(address()))],
    )
    bom = Bom(components=[one for several in found.values() for one in several])
    bom.components.update(map(_of_jar, jars))
    bom.metadata.component = ours
    bom.metadata.timestamp = None  # type: ignore[assignment]  # the library writes no time then
    _connect(bom, {**found, NAME: [ours]}, packages)
    bom.register_dependency(ours, [one for one in bom.components if one.purl and one.purl.type == "maven"])
    bom.serial_number = uuid5(NAMESPACE_URL, "")
    bom.serial_number = uuid5(NAMESPACE_URL, _text(bom))
    return _text(bom)


def _of_package(package: Package, scope: ComponentScope) -> Component:
    purl = PackageURL("pypi", None, package.name, package.version)
    files = (
        ExternalReference(  # each package has several files: a hash of the component would be none of them
            type=ExternalReferenceType.DISTRIBUTION,
            url=XsUri(f"https://pypi.org/project/{package.name}/{package.version}/"),
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=content) for content in package.hashes],
        )
    )
    return Component(
        name=package.name,
        version=package.version,
        type=ComponentType.LIBRARY,
        scope=scope,
        bom_ref=str(purl),
        purl=purl,
        external_references=[files],
        properties=[Property(name=f"{NAME}:marker", value=package.marker)] if package.marker else [],
    )


def _of_jar(jar: Jar) -> Component:
    qualifiers = {"type": "jar", **({"classifier": jar.classifier} if jar.classifier else {})}
    purl = PackageURL("maven", jar.group, jar.artifact, jar.version, qualifiers)
    return Component(
        group=jar.group,
        name=jar.artifact,
        version=jar.version,
        type=ComponentType.LIBRARY,
        scope=ComponentScope.REQUIRED,
        bom_ref=str(purl),
        purl=purl,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=jar.sha256)],
    )


def _connect(bom: Bom, found: dict[str, list[Component]], packages: Iterable[Package]) -> None:
    """Register what needs what; of a package with several locked versions, each."""
    for package in packages:
        for parent in package.needed_by:
            for component in found[parent]:
                bom.register_dependency(component, found[package.name])


def _text(bom: Bom) -> str:
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def main() -> None:
    """Write the bill of materials to the file that the command line names."""
    file = Path(sys.argv[1])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(sbom(), encoding="utf-8")
    print(file)


if __name__ == "__main__":
    main()
