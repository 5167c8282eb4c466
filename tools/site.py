"""The pages of docs/ as a site: `python3 tools/site.py FOLDER`, which needs mdbook on the PATH (.ci/site brings it).

Pages link to files of the repository, which no site has beside its pages: what they link to is put into it, folders as
lists. Afterwards every link of every page of the site is followed; one that leads nowhere is an error.
"""

import html
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Pages of the repository that are pages of the site, by the names that they have there.
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changes.md"}


def inside_links(text):
    """A text in which code, whose brackets are no links, is blanked: places stay the same."""
    code = re.compile(r"(?ms)^```.*?^```$|`[^`\n]*`")
    return code.sub(lambda found: " " * len(found.group()), text)


def shown_as(name):
    """The name of a file in the site. mdbook takes a link to a page for one of its own; these are shown as text."""
    return f"{name.removesuffix('.md')}.txt" if name.endswith(".md") else name


def moved(page, text, linked):
    """A page whose links lead to what stands in the site; `linked` gets the files that have to be there."""
    out, at = [], 0
    for found in LINK.finditer(inside_links(text)):
        link, anchor = urldefrag(found.group(1))
        if "://" in link or not link:
            continue
        target = (page.parent / link).resolve()
        name = target.relative_to(ROOT).as_posix()
        if name in PAGES:
            new = PAGES[name]
        elif target.parent == ROOT / "docs" and target.suffix == ".md":
            new = "index.md" if target.name == "SUMMARY.md" else target.name
        elif target.is_relative_to(ROOT / "docs"):
            new = target.relative_to(ROOT / "docs").as_posix()
        else:
            linked.add(target)
            new = f"files/{name}/index.html" if target.is_dir() else f"files/{shown_as(name)}"
        out += [text[at : found.start(1)], new, f"#{anchor}" if anchor else ""]
        at = found.end(1)
    return "".join([*out, text[at:]])


def put(target, files):
    """A file of the repository in the site; of a folder a list of what is in it, which is put there too."""
    place = files / target.relative_to(ROOT)
    if target.is_file():
        place = place.with_name(shown_as(place.name))
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(target, place)
        return
    tracked = subprocess.run(["git", "ls-files", "-z", target], cwd=ROOT, capture_output=True, check=True, text=True)
    names = sorted(filter(None, tracked.stdout.split("\0")))
    place.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in names:
        put(ROOT / name, files)
        shown = html.escape(os.path.relpath(ROOT / name, target))
        rows.append(f'<li><a href="{shown_as(shown)}">{shown}</a></li>')
    title = html.escape(target.relative_to(ROOT).as_posix())
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><h1>{title}</h1>'
    (place / "index.html").write_text(f"{head}<ul>{''.join(rows)}</ul></html>\n")


class Links(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors.update(given[key] for key in ("id", "name") if given.get(key))
        self.targets += [given[key] for key in ("href", "src") if given.get(key)]


def broken(site):
    """All links of a site that lead nowhere."""
    pages = {path: Links(path.read_text()) for path in site.rglob("*.html")}
    for page, links in sorted(pages.items()):
        # These are made for a server's root, and for a printer.
        if page.name in ("404.html", "print.html", "toc.html"):
            continue
        for link in links.targets:
            path, anchor = urldefrag(link)
            if re.match(r"[a-z]+:", path):
                continue
            target = (page.parent / unquote(path)).resolve() if path else page
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                yield f"{page.relative_to(site)}: {link} is not there"
            elif anchor and target in pages and unquote(anchor) not in pages[target].anchors:
                yield f"{page.relative_to(site)}: {link} names no place of that page"


def main():
    site = Path(sys.argv[1]).resolve()
    source = site.with_name(site.name + "-source")
    for folder in (site, source):
        shutil.rmtree(folder, ignore_errors=True)
    linked = set()
    (source / "docs").mkdir(parents=True)
    names = {**PAGES, **{f"docs/{path.name}": path.name for path in (ROOT / "docs").glob("*.md")}}
    for name, new in names.items():
        page = ROOT / name
        (source / "docs" / new).write_text(moved(page, page.read_text(), linked))
    shutil.copytree(ROOT / "docs/pictures", source / "docs/pictures")
    shutil.copyfile(ROOT / "book.toml", source / "book.toml")
    built = subprocess.run(["mdbook", "build", source, "--dest-dir", site], capture_output=True, text=True)
    sys.stderr.write(built.stderr)
    if built.returncode or "WARN" in built.stderr or "ERROR" in built.stderr:
        sys.exit("site: mdbook is not content with the pages")
    for target in sorted(linked):
        if not target.exists():
            sys.exit(f"site: {target.relative_to(ROOT)} is linked to and not there")
        put(target, site / "files")
    wrong = list(broken(site))
    for line in wrong:
        print(f"site: {line}", file=sys.stderr)
    pages = len(list(site.glob("*.html")))
    print(f"site: {pages} pages in {site}, {len(linked)} files and folders of the repository, {len(wrong)} broken links")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
