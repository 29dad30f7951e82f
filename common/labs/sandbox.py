# SPDX-License-Identifier: MIT
"""What keeps a submission to itself while it is compiled and while it runs: bubblewrap where it is installed and
allowed, else what the system gives without it. As root, each slot has a user of its own as well."""

import os
import shutil
import sys

from . import runner

FIRST_USER = 61000  # root runs each submission as a user of its own
MIB = 1 << 20
TEMPORARY, SHARED = 256 * MIB, 64 * MIB  # bytes for /tmp and for /dev/shm
PROBE = runner.Limits(wall=20)
SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
FOR_PROGRAMS = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")


def read_only(path):
    return ["--ro-bind", path, path]


def system_folders(compiler):
    """The system's programs and libraries, and the compiler where it stands elsewhere."""
    arguments = read_only("/usr")
    for path in SYSTEM:
        if os.path.islink(path):
            arguments += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            arguments += read_only(path)
    for path in FOR_PROGRAMS:
        arguments += ["--ro-bind-try", path, path]
    found = shutil.which(compiler)
    if found and not os.path.realpath(found).startswith(("/usr/", "/bin/")):
        programs = os.path.dirname(os.path.realpath(found))
        around = os.path.dirname(programs)
        # Its libraries are beside its programs, but nobody's home is shown for that.
        arguments += read_only(programs if around in ("/", os.path.realpath(os.path.expanduser("~"))) else around)
    return arguments


class Sandbox:
    """Decides once, by trying. `bwrap`: whether bubblewrap is used; `users`: whether slots have users of their own."""

    def __init__(self, scratch, backend, compiler):
        self.scratch, self.compiler, self.gpu = scratch, compiler, backend == "gpu"
        self.root = os.getcwd()
        self.is_root = os.geteuid() == 0
        self.users = self.is_root and self.can_read("/" if self.gpu else f"{self.root}/build/cpu/prepass")
        self.bwrap, self.why_not = False, ""
        self.look_for_bwrap()
        if not self.bwrap and self.is_root and not self.users:
            self.users = self.can_read("/")  # it is at least run as somebody else
        self.namespace = [] if self.bwrap or self.is_root else self.own_namespace()

    def can_read(self, path):
        """Whether another user could read what is built in the scratch folder, and the path."""
        probe = f"{self.scratch}/probe"
        with open(probe, "w", encoding="utf-8"):
            pass
        os.chmod(probe, 0o644)
        done = runner.run(["test", "-r", probe, "-a", "-r", path], PROBE, drop_to=FIRST_USER)
        os.remove(probe)
        return done.status == 0

    def look_for_bwrap(self):
        if sys.platform != "linux":
            self.why_not = "bubblewrap is for Linux"
        elif self.gpu:
            self.why_not = "a GPU's driver needs more than bubblewrap lets through"
        elif not shutil.which("bwrap"):
            self.why_not = "bubblewrap is not installed (make setup)"
        else:
            folder = f"{self.scratch}/try"
            os.makedirs(folder)
            os.chmod(folder, 0o711)
            # With a user of its own, else as this one: root may have a tree that nobody else may read.
            for users in [True, False] if self.users else [False]:
                self.users = users
                if self.works(folder):
                    self.bwrap = True
                    break
            os.rmdir(folder)

    def works(self, folder):
        """Whether a program can be started in a sandbox that sees the tree."""
        command = [*self.walls(), *self.tree(None), *self.end("/tmp"), "test", "-r", f"{self.root}/common/labs/testing.cuh"]
        done = runner.run(command, PROBE, drop_to=self.user(0))
        said = done.output.strip().split("\n")[0] or f"it ends with status {done.status}"
        self.why_not = f"bubblewrap does not work here ({said[:100]})" if done.status != 0 else ""
        return done.status == 0

    def own_namespace(self):
        """A command prefix that keeps a submission's signals to itself, where the system lets everybody have one."""
        prefix = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
        if sys.platform == "linux" and shutil.which("unshare") and runner.run([*prefix, "true"], PROBE).status == 0:
            return prefix
        return []

    # ---- what each attempt asks

    def user(self, slot):
        """The user for this slot's programs; None: this process's own."""
        return FIRST_USER + slot if self.users else None

    def to_build(self, folder, lab, path):
        """The command prefix to compile the file at `path` in folder/build."""
        if not self.bwrap:
            return self.namespace
        inside = ["--ro-bind", path, path, "--bind", f"{folder}/build", f"{folder}/build"]
        return [*self.walls(), *self.tree(lab), *inside, *self.end(self.root)]

    def to_run(self, folder):
        """The command prefix to run folder/build/check."""
        if not self.bwrap:
            return self.namespace
        check = f"{folder}/build/check"
        # There is no /proc, where a program can read and write its own memory. The backend finds its lines by this one.
        return [*self.walls(), *read_only(check), "--symlink", check, "/proc/self/exe", *self.end("/tmp")]

    def walls(self):
        return [
            "bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--hostname", "grading",
            *system_folders(self.compiler),
            "--size", str(TEMPORARY), "--tmpfs", "/tmp",
            "--dev", "/dev", "--size", str(SHARED), "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
            "--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp", "--setenv", "CCACHE_DISABLE", "1",
            "--cap-drop", "ALL",
        ]  # fmt: skip

    def tree(self, lab):
        """What a check is compiled from: no solution, no other check, nobody's work."""
        arguments = []
        for name in ("common", "tests", "build"):
            arguments += read_only(f"{self.root}/{name}")
        return arguments + (read_only(f"{self.root}/{lab.check}") if lab else [])

    def end(self, folder):
        return ["--remount-ro", "/", "--chdir", folder]

    def still_works(self, said):
        """Whether a run that ended at once ended for reasons of its own."""
        if not self.bwrap or not said.startswith("bwrap:"):
            return True
        return runner.run([*self.walls(), *self.end("/tmp"), "true"], PROBE, drop_to=self.user(0)).status == 0

    def what_is_not_kept_out(self):
        """One line for the table; '' when everything is."""
        if self.bwrap:
            return ""
        if self.users:
            left = "a submission can reach the network and read files that everybody may read"
        else:
            left = "a submission can reach the network and has all of your own rights"
        return f"{self.why_not}: {left}"
