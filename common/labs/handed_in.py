# SPDX-License-Identifier: MIT
"""What Moodle and Canvas give out of an assignment: an archive of the class, or the folder that was in it, with files named
after students, and archives of students among them. It is laid out in a folder of our own as grading expects a class,
DIR/STUDENT/05_name/ex1_topic.cu. Only texts of exercises are taken out, and of other files the names.

    Moodle   Ada Lovelace_1234567_assignsubmission_file/ex1_topic.cu    (mod/assign/classes/downloader.php; before 4.1 the
             Ada Lovelace_1234567_assignsubmission_file_ex1_topic.cu    folder's name ended with _)
    Canvas   lovelaceada_LATE_12345_67890_ex1_topic-1.cu                (lib/content_zipper.rb; student, file, their name)
    others   ada.zip, ada/ex1_topic.cu

Archives are read by Python's zipfile in this process, and nothing in one says where a file goes or how long it is: a path
that leads out, a link and a password are told and left, what is unpacked is counted, and time and memory have an end."""

import contextlib
import io
import os
import re
import stat
import struct
import zipfile
import zlib

from . import runner
from .class_folder import DEEPEST, MACOS, MOST, ROSTER, shown
from .submission import MAX_BYTES

MIB = 1 << 20
LARGEST = 8 * MIB  # of an archive in an archive
UNPACKED = 8 * MIB  # of one student
ENTRIES = 200_000  # of a class
LONGEST = 200  # bytes of a name
READING = (20, 2 << 30)  # seconds of CPU time and memory for a student's archive
MOODLE = re.compile(r"(.+_\d+)_assignsubmission_([a-z]+)(?:_(.*))?", re.S)
CANVAS = re.compile(r"((?!LATE_)\w+?_)?(LATE_)?(anon_\w+?|\d+)_(\d+)_(.+)", re.S)
AGAIN = re.compile(r"(?: ?\((\d+)\)|-(\d+))?\.cu")  # Canvas, and browsers, number a name that comes again
BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OSError, RuntimeError, ValueError)


class Student:
    def __init__(self):
        self.files = {}  # {path: text of an exercise, or None}
        self.notes, self.unpacked, self.returns, self.number = [], 0, "", ""

    def note(self, text):
        if len(self.notes) < 20 and text not in self.notes:
            self.notes.append(text)


class Class:
    """`students`: {name: Student}, and `notes` about what belongs to none."""

    def __init__(self):
        self.students, self.notes, self.entries = {}, [], 0

    def note(self, text):
        if len(self.notes) < 20 and text not in self.notes:
            self.notes.append(text)

    def take(self, parts, size, read):
        """One file of the class: the parts of its path, its size, and read(most), its first bytes."""
        self.entries += 1
        if self.entries > ENTRIES or any(p.startswith(".") or p == MACOS for p in parts if p != ".."):
            return
        where, rest = self.owner(parts)
        if where is None:
            if rest:
                self.note(rest)
            return
        if len(where.files) >= MOST:
            where.note(f"more than {MOST} files: the rest was not looked at")
        elif rest[-1].lower().endswith(".zip"):
            unpack(where, rest, size, read)
        else:
            keep(where, rest, size, read)

    def owner(self, parts):
        """(the student, the path without the student), or (None, a note)."""
        top, below = parts[0], parts[1:]
        if len(os.fsencode(top)) > LONGEST:
            return None, f"{shown(top)[:80]}: its name is too long, ignored"
        moodle, canvas = MOODLE.fullmatch(top), None if below else CANVAS.fullmatch(top)
        if moodle:
            name, plugin, rest = moodle.groups()
            if plugin != "file":
                return None, ""  # what was typed into a form
            student = self.student(name)
            student.returns = f"{top}/" if below else f"{name}_assignsubmission_file_"
            below = below or [rest or ""]
        elif canvas:
            name, late, number, file, rest = canvas.groups()
            name = f"{name or ''}{number}"
            student = self.student(name)
            if late and not student.returns:
                student.note("handed in late, says Canvas")
            student.returns, student.number = f"{name}_{file}_", number if number.isdigit() else ""
            below = [rest]
        elif below:
            student = self.student(top)
        elif top.lower().endswith(".zip") and len(top) > 4:
            student, below = self.student(top[:-4]), [top]
        else:
            return None, "" if top == ROSTER else f"{shown(top)}: not a folder, ignored"
        if not below[-1]:
            return None, ""
        return student, below

    def student(self, name):
        return self.students.setdefault(name, Student())


def keep(student, parts, size, read):
    """Takes the file, if it can be an exercise; of another one its name."""
    path = "/".join(parts)
    if len(parts) > DEEPEST or any(len(os.fsencode(part)) > LONGEST for part in parts):
        student.note(f"{shown(path)[:80]}: its path is too long, ignored")
    elif path in student.files:
        student.note(f"{shown(path)}: comes twice, the second was ignored")
    elif not path.endswith(".cu"):
        student.files[path] = None
    elif student.unpacked + min(size, MAX_BYTES) > UNPACKED:
        student.note(f"{shown(path)}: more than {UNPACKED // MIB} MiB in all, ignored")
    else:
        try:
            # One byte more than a submission may have, so that it is refused by its length.
            student.files[path] = read(MAX_BYTES + 1)
            student.unpacked += len(student.files[path])
        except BROKEN as error:
            student.note(f"{shown(path)}: cannot be read: {shown(str(error))[:80]}")


def unpack(student, parts, size, read):
    """The files of a student's archive, as if they lay beside it."""
    path = "/".join(parts)
    if size > LARGEST:
        student.note(f"{shown(path)}: an archive of {size // MIB} MiB, at most {LARGEST // MIB}")
        return

    def take(inside, size_inside, read_inside):
        if any(part.startswith(".") or part == MACOS for part in inside):
            return
        if len(student.files) >= MOST:
            raise TooMany
        if inside[-1].lower().endswith(".zip"):
            student.note(f"{shown('/'.join(inside))}: an archive in an archive, ignored")
        else:
            keep(student, [*parts[:-1], *inside], size_inside, read_inside)

    try:
        with runner.reading(*READING), zipfile.ZipFile(io.BytesIO(read(LARGEST + 1))) as archive:
            for file in files_in(archive, student.note):
                take(*file)
    except TooMany:
        student.note(f"more than {MOST} files: the rest was not looked at")
    except runner.TooMuch:
        student.note(f"{shown(path)}: takes more time or memory to be read than any work needs")
    except BROKEN as error:
        student.note(f"{shown(path)}: no archive that can be read: {shown(str(error))[:80]}")


class TooMany(Exception):
    pass


def files_in(archive, note):
    """(parts, size, read) of each file in it; note(text) of what is none. The size is what the archive says."""
    for entry in archive.infolist():
        parts = entry.filename.replace("\\", "/").split("/")
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if not parts[-1]:
            continue  # a folder
        if "" in parts or "." in parts or ".." in parts or ":" in parts[0]:
            note(f"{shown(entry.filename)[:80]}: its path leads out of the archive, ignored")
        elif kind not in (0, stat.S_IFREG):
            note(f"{shown(entry.filename)[:80]}: not a regular file, ignored")
        elif entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            note(f"{shown(entry.filename)[:80]}: has a password, or is packed in a rare way, ignored")
        else:
            yield parts, entry.file_size, lambda most, entry=entry: beginning(archive, entry, most)


def beginning(archive, entry, most):
    """At most so many bytes, whatever the archive says of its length."""
    with archive.open(entry) as file:
        return file.read(most)


def files_below(root, note):
    """The same of a folder."""
    for folder, below, files in os.walk(root):
        below.sort(key=os.fsencode)
        inside = os.path.relpath(folder, root)
        parts = [] if inside == "." else inside.split(os.sep)
        if len(parts) >= DEEPEST:
            below.clear()
        for name in sorted(files, key=os.fsencode):
            path = os.path.join(folder, name)
            info = os.lstat(path)
            if stat.S_ISREG(info.st_mode):
                yield [*parts, name], info.st_size, lambda most, path=path: beginning_of(path, most)
            else:
                note(f"{shown(os.path.relpath(path, root))[:80]}: not a regular file, ignored")


def beginning_of(path, most):
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        return file.read(most)


def is_given_out(source):
    """Whether it is an archive, or a folder in which files or folders are named as Moodle and Canvas name them, or with
    archives in it."""
    if os.path.isfile(source):
        return True
    for entry in os.scandir(source):
        names = [entry.name]
        if entry.is_dir(follow_symlinks=False):
            with contextlib.suppress(OSError):
                names = [entry.name, *(name for name in os.listdir(entry.path) if name.lower().endswith(".zip"))]
        if any(MOODLE.fullmatch(name) or name.lower().endswith(".zip") for name in names):
            return True
        if entry.name.endswith(".cu") and CANVAS.fullmatch(entry.name):
            return True
    return False


def without_wrapping(files):
    """The files without the one folder that all of them are in, if it is no student's."""
    tops = {parts[0] for parts, _, _ in files}
    if len(tops) != 1 or any(len(parts) < 2 for parts, _, _ in files) or MOODLE.fullmatch(next(iter(tops))):
        return files
    inside = {parts[1] for parts, _, _ in files}
    if any(re.match(r"\d\d_|work$", name) for name in inside):
        return files  # the folder is the only student's
    return [(parts[1:], size, read) for parts, size, read in files]


def lay_out(source, labs, folder):
    """Writes the class into the folder. Returns a Class; zipfile.BadZipFile and its like where the source is none."""
    found = Class()
    if os.path.isfile(source):
        with zipfile.ZipFile(source) as archive:
            for file in without_wrapping(list(files_in(archive, found.note))):
                found.take(*file)
    else:
        for file in files_below(source, found.note):
            found.take(*file)
    if found.entries > ENTRIES:
        found.note(f"more than {ENTRIES} files: the rest was not looked at")
    for name, student in sorted(found.students.items()):
        write(f"{folder}/{name}", student, labs)
    return found


def write(root, student, labs):
    """An exercise to its place, wherever the student's files lie; of all others the names, so that they are told."""
    os.makedirs(root, 0o700)
    taken = set()
    for lab in labs:
        paths = files_of(student, lab, [other for other in labs if other.number == lab.number] == [lab])
        taken.update(paths)
        if paths:
            put(f"{root}/{lab.chapter}/{lab.name}.cu", student.files[paths[0]])
    for path in student.files:
        if path not in taken:
            put(f"{root}/{path}", b"")


def put(path, data):
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(path, "xb") as file:
            file.write(data)
    except OSError:
        pass  # a file is where another one's folder should be


def files_of(student, lab, is_only):
    """The paths of files that are this exercise. The first is graded: the one in its chapter's folder, else one of its name, of
    several the one that was numbered last. `is_only`: no other exercise that is graded has its number, so ex1.cu is it."""
    found = []
    for path, data in student.files.items():
        *folders, name = path.split("/")
        if data is None or path.endswith(".check.cu"):
            continue
        for stem, rank in ((lab.name, 1), (f"ex{lab.number}", 0)):
            again = AGAIN.fullmatch(name[len(stem) :]) if name.startswith(stem) else None
            if again and (rank or is_only):
                found.append((folders[-1:] == [lab.chapter], rank, int(again[1] or again[2] or 0), path))
                break
    paths = [path for *_, path in sorted(found, reverse=True)]
    for other in paths[1:]:
        student.note(f"{shown(other)}: another {lab.name}, {shown(paths[0])} was graded")
    return paths
