# SPDX-License-Identifier: MIT
"""Reads a file that a student handed in: is it a source text, and what does it say?"""

import codecs
import os
import re
import stat

MAX_BYTES = 256 * 1024
MARKS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]


class Refused(Exception):
    """Why a file gets no points whatever it computes."""


def fetch(path, root):
    """The text of a regular file that really lies below `root`; None when there is none."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISREG(info.st_mode):
        raise Refused("not a regular file")
    if not os.path.realpath(path).startswith(os.path.realpath(root) + os.sep):
        raise Refused("leads out of the student's folder")
    if info.st_size > MAX_BYTES:
        raise Refused(f"{info.st_size} bytes: at most {MAX_BYTES}")
    try:
        # A pipe put in its place meanwhile must not hold up the class.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}") from error
    return re.sub(r"\r\n?", "\n", decoded(data)).rstrip("\n") + "\n"


def decoded(data):
    """Text in UTF-8, or in what editors on other systems write: UTF-16 with its mark, or Latin-1."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            try:
                text = data[len(mark) :].decode(encoding) if encoding == "utf-8" else data.decode(encoding)
            except UnicodeDecodeError:
                raise Refused(f"not a source text: it begins as {encoding.upper()} and goes on otherwise") from None
            break
    else:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    if re.search(r"[\0-\x08\x0e-\x1f\x7f]", text):
        looks_wide = len(data) > 3 and (data[1::2].count(0) > len(data) // 4 or data[::2].count(0) > len(data) // 4)
        raise Refused("not a source text: " + ("save it as UTF-8" if looks_wide else "it holds binary data"))
    return text
