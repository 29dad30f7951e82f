# SPDX-License-Identifier: MIT
"""Files of results: read as rows, and written so that each is there as a whole, or as it was."""

import csv
import datetime
import io
import os


def today():
    """The date that results have in their column `date`."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def csv_text(rows, columns=None):
    """The rows as CSV. Where no columns are given they are dicts, and have those of all rows, in the order they come."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if columns is None:
        columns = list(dict.fromkeys(column for row in rows for column in row))
        rows = [[row.get(column, "") for column in columns] for row in rows]
    writer.writerows([columns, *rows])
    return text.getvalue()


def write_whole(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    new = f"{path}.{os.getpid()}"  # two makes may run in one tree
    with open(new, "w", newline="", encoding="utf-8") as file:
        file.write(text)
    os.replace(new, path)
