# SPDX-License-Identifier: MIT
"""The folders that grading makes: each attempt has a fresh one, and whatever a submission leaves there can be removed."""

import fcntl
import os
import subprocess
import tempfile

PREFIX = "grade."


def remove_tree(path):
    """Removes the folder and all below it; False when something is left. Follows no link, and stops at no depth of folders
    and at none whose rights were taken away."""
    for command in (["rm", "-rf", path], ["chmod", "-R", "u+rwx", path], ["rm", "-rf", path]):
        if os.path.lexists(path):
            subprocess.run(command, stderr=subprocess.DEVNULL, check=False)
    return not os.path.lexists(path)


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
