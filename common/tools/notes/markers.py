# SPDX-License-Identifier: MIT
"""Markers: their words and attributes, the files that they name, and the exception for a wrong one."""

import os
import re

ATTRIBUTE = re.compile(r'([a-z]+)="([^"]*)"')


class Problem(Exception):
    """One line: what is wrong with a region."""


def parse_marker(text):
    attributes = dict(ATTRIBUTE.findall(text))
    positional = ATTRIBUTE.sub("", text).split()
    return positional, attributes


def need(attributes, *names):
    for name in names:
        if name not in attributes:
            raise Problem(f'{name}="..." is missing')
    return [attributes[n] for n in names]


def allow(attributes, *names):
    unknown = sorted(set(attributes) - set(names))
    if unknown:
        raise Problem(f"unknown attribute {unknown[0]}; there are {', '.join(names)}")


def chapter_source(folder):
    name = os.path.basename(os.path.abspath(folder))
    match = re.match(r"\d\d_(.+)$", name)
    if not match:
        raise Problem('file="..." is missing: this is not a chapter\'s folder')
    return match.group(1) + ".cu"


def root_of(folder):
    """The repository's root, from the folder that a marker's paths start at."""
    while not os.path.isdir(os.path.join(folder, "chapters")):
        if os.path.dirname(os.path.abspath(folder)) == os.path.abspath(folder):
            raise Problem("no folder chapters/ above this file")
        folder = os.path.join(folder, os.pardir)
    return folder


def title_of(notes):
    """A chapter's title, without its number."""
    title = re.search(r"^# +(?:\d+ *[-:.·]* *)?(.*)$", read_text(notes), re.M)
    return title[1] if title else os.path.basename(os.path.dirname(notes))[3:].replace("_", " ")


def read_text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise Problem(f"{os.path.normpath(path)}: {error.strerror}") from error
