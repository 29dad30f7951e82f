# SPDX-License-Identifier: MIT
"""The folders that grading makes: each attempt has a fresh one, and whatever a submission leaves there can be removed."""

import fcntl
import os
import tempfile

PREFIX = "grade."
HERE = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def open_folder(name, parent=None):
    """A descriptor of a folder, made accessible first: its owner may have taken all rights away."""
    try:
        return os.open(name, HERE, dir_fd=parent)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=parent)
        return os.open(name, HERE, dir_fd=parent)


def remove_tree(path):
    """Removes the folder and all below it; False when something is left. Never raises, follows no link, and needs the
    same depth of calls for any depth of folders: those within a folder are moved up beside it."""
    try:
        top = open_folder(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        empty(top)
    except OSError:
        pass
    os.close(top)
    try:
        os.rmdir(path)
    except OSError:
        return False
    return True


def empty(top):
    os.fchmod(top, 0o700)
    serial, stuck = 0, set()
    while True:
        names = [n for n in os.listdir(top) if n not in stuck]
        if not names:
            return
        for name in names:
            try:
                os.unlink(name, dir_fd=top)
                continue
            except OSError:
                pass  # a folder
            try:
                inner = open_folder(name, top)
                try:
                    os.fchmod(inner, 0o700)
                    for below in os.listdir(inner):
                        try:
                            os.unlink(below, dir_fd=inner)
                        except OSError:
                            os.chmod(below, 0o700, dir_fd=inner)  # a folder, which moves only if it may be written
                            serial += 1
                            os.rename(below, f".moved-{serial}", src_dir_fd=inner, dst_dir_fd=top)
                finally:
                    os.close(inner)
                os.rmdir(name, dir_fd=top)
            except OSError:
                stuck.add(name)


def remove_stale(where):
    """Removes what runs left that were killed: their lock is free. Another's folder, or one in use, stays."""
    try:
        entries = [e.path for e in os.scandir(where) if e.name.startswith(PREFIX)]
    except OSError:
        return
    for path in entries:
        try:
            if os.lstat(path).st_uid != os.geteuid():
                continue
            with open(f"{path}/lock", "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(path)
        except OSError:
            continue


class Scratch:
    """A folder of this run, removed at its end."""

    def __init__(self):
        where = tempfile.gettempdir()
        remove_stale(where)
        self.path = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX, dir=where))
        os.chmod(self.path, 0o711)
        self.lock = open(f"{self.path}/lock", "wb")  # noqa: SIM115  held as long as this process lives
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def remove(self):
        """False when something of it is left."""
        self.lock.close()
        return remove_tree(self.path)


def copy_text(text, path):
    """Writes a text that only its owner reads."""
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.chmod(path, 0o600)
