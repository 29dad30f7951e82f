# SPDX-License-Identifier: MIT
"""Runs one program that nobody has read, apart from everything else: in a session of its own, with limits on time,
memory, output and processes, and with a channel over which the check tells its outcome (common/labs/channel.cpp says how)
whatever the program prints. When run() returns, none of its processes is left (on Linux)."""

import array
import contextlib
import ctypes
import os
import resource
import secrets
import select
import signal
import socket
import subprocess
import sys
import time

from ..tools.checks.terminal import share

LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # <linux/prctl.h>
CLONE_THREAD = 0x10000  # <linux/sched.h>
TICK = 0.02  # seconds between looks at memory and processes


class Limits:
    """wall, cpu: seconds; memory, output, file: bytes; processes: at a time. None: no limit. Without a limit of CPU time,
    wall time counts as on an idle machine."""

    def __init__(self, wall=None, cpu=None, memory=None, output=1 << 20, file=None, processes=None, space=True):
        self.wall, self.cpu, self.memory, self.output = wall, cpu, memory, output
        self.file, self.processes = file, processes
        self.space = space  # memory also limits the address space (a GPU's driver reserves far more than it uses)


COMPILE = Limits(wall=120, output=4 << 20)
LEARNER = Limits(wall=30, output=4 << 20)
PROOF = Limits(wall=60, output=4 << 20)  # sanitizers take their time


class Run:
    """How it ended: `ended_by` names the limit that it hit, '' when it ended by itself with `status` (negative: the
    signal). `forged`: what somebody did who is not the check, '' for nothing. `cases`: [(name, passed | failed | skipped)]
    told over the channel; `unfinished`: the case that ran when everything ended; `told`: [(case, key, value)];
    `complete`: the check came to its end."""

    def __init__(self):
        self.status, self.ended_by, self.output, self.seconds = None, "", "", 0.0
        self.cases, self.told, self.unfinished, self.complete, self.forged = [], [], None, False, ""


def become_subreaper():
    """Orphaned grandchildren become children of this process, so that none gets away."""
    if LIBC:
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with(parent):
    """This process, just forked, ends when `parent` does; at once if that has happened already."""
    if LIBC:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def threads_are_told():
    """Whether channel.cpp can tell here that a process has other threads: whether one without any may unshare them."""
    if LIBC is None:
        return False
    child = os.fork()
    if child == 0:
        os._exit(0 if LIBC.unshare(CLONE_THREAD) == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


def descendants(root):
    """{pid: bytes of memory in use} of all processes below `root`."""
    parents, memory = {}, {}
    page = os.sysconf("SC_PAGESIZE")
    try:
        names = os.listdir("/proc")
    except OSError:
        return {}
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        parents[int(name)] = int(fields[1])
        memory[int(name)] = int(fields[21]) * page if fields[0] != b"Z" else 0
    found, below = {}, {root}
    while below:
        below = {pid for pid, parent in parents.items() if parent in below and pid not in found}
        found.update({pid: memory[pid] for pid in below})
    return found


def end_all_below():
    """Ends every process below this one."""
    for _ in range(200):
        left = descendants(os.getpid())
        for pid in left:
            for act in (lambda p: os.kill(p, signal.SIGKILL), lambda p: os.waitpid(p, os.WNOHANG)):
                try:
                    act(pid)
                except OSError:
                    pass
        if not left:
            return
        time.sleep(0.005)


def kill_all(child, spared):
    """Ends the child's session and everything below this process that was not there before."""
    for _ in range(200):
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:
            pass
        left = [pid for pid in descendants(os.getpid()) if pid not in spared and pid != child.pid]
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        child.poll()
        reap(child, spared)
        if not left and child.poll() is not None:
            return
        time.sleep(0.005)


def reap(child, spared):
    """Collects orphans that became our children."""
    for pid in descendants(os.getpid()):
        if pid != child.pid and pid not in spared:
            try:
                os.waitpid(pid, os.WNOHANG)
            except OSError:
                pass


def unescape(text):
    return text.replace("\\\\", "\0").replace("\\n", "\n").replace("\\t", "\t").replace("\0", "\\")


ASKS, ASKS_AMONG_THREADS = b"ask\n", b"ask, and other threads run\n"  # common/labs/channel.cpp
FORGED = {
    "early": "writes to the check's channel before the check has begun",
    "threads": "starts a thread before the check has begun",
    "twice": "asks in the check's place for the word that its lines begin with",
    "lines": "writes to the channel over which the check tells its outcome",
}


class Channel:
    """What a check inherits is a door. Once it has asked there, it is given the word and the socket for its lines."""

    def __init__(self, threads):
        self.threads = threads  # whether other threads may run when it asks
        self.word = secrets.token_hex(16).encode()
        self.door, self.outside = socket.socketpair()
        self.lines = None

    def hear(self, data):
        """What to write down as forged, '' for nothing."""
        if self.lines:
            return FORGED["twice"]
        if data not in (ASKS, ASKS_AMONG_THREADS):
            return FORGED["early"]
        if data == ASKS_AMONG_THREADS and not self.threads:
            return FORGED["threads"]
        self.lines, theirs = socket.socketpair()
        try:
            rights = array.array("i", [theirs.fileno()])
            self.door.sendmsg([self.word], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        except OSError:
            pass  # it has ended meanwhile
        theirs.close()
        return ""

    def close(self):
        for end in (self.door, self.outside, self.lines):
            if end:
                end.close()


def read_channel(run, word, data):
    """Reads the lines that begin with the word, in the order that a check tells them. Any other line, and any that
    comes out of turn, is from the checked code."""
    started, names = None, []
    for line in data.decode("utf-8", "replace").split("\n"):
        fields = line.split("\t")
        if not line:
            continue
        if len(fields) < 3 or not secrets.compare_digest(fields[0].encode(), word) or run.complete:
            run.forged = FORGED["lines"]
            continue
        kind, values = fields[1], [unescape(f) for f in fields[2:]]
        if kind == "started" and started is None:
            started = run.unfinished = values[0]
            names.append(started)
        elif kind == "tell" and len(values) == 2:
            run.told.append((started or "", values[0], values[1]))
        elif kind in ("passed", "failed", "skipped") and values[0] == started:
            run.cases.append((started, kind))
            run.unfinished = started = None
        elif kind == "end" and started is None and values[0] == str(len(names)):
            run.complete = True
        else:
            run.forged = FORGED["lines"]


def limited(limits, drop_to):
    """A function that sets these limits in the child before it becomes the program."""

    def lower(which, soft, hard):
        try:
            resource.setrlimit(which, (soft, hard))
        except (ValueError, OSError):
            pass  # not every system knows every limit; memory and processes are also watched from outside

    parent = os.getpid()

    def apply():
        lower(resource.RLIMIT_CORE, 0, 0)
        if limits.cpu:
            lower(resource.RLIMIT_CPU, limits.cpu, limits.cpu + 1)
        most = limits.memory if limits.memory and limits.space else resource.getrlimit(resource.RLIMIT_AS)[1]
        lower(resource.RLIMIT_AS, most, most)
        if limits.file:
            lower(resource.RLIMIT_FSIZE, limits.file, limits.file)
        if drop_to is not None:
            if limits.processes:
                # The system counts all threads of that user; nothing else runs as this user.
                lower(resource.RLIMIT_NPROC, 8 * limits.processes, 8 * limits.processes)
            os.setgroups([])
            os.setgid(drop_to)
            os.setuid(drop_to)
        end_with(parent)  # after setuid, which would undo it

    return apply


class TooMuch(Exception):
    """What is read takes more time or memory than this process may use for it."""


@contextlib.contextmanager
def reading(seconds, memory):
    """Within it, this process itself may use so many seconds of CPU time and bytes of memory, else TooMuch is raised. What
    it runs meanwhile has limits of its own, and its time does not count."""

    def end(*_):
        raise TooMuch

    before, most = signal.signal(signal.SIGPROF, end), resource.getrlimit(resource.RLIMIT_AS)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        # Not every system knows this limit.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (memory, most[1]))
        yield
    except MemoryError:
        raise TooMuch from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, most)


def plain_status(command, status):
    """bubblewrap tells of a signal as a shell does, by 128 and more."""
    return 128 - status if os.path.basename(command[0]) == "bwrap" and status > 128 else status


def run(command, limits, environment=None, folder=None, channel=None, drop_to=None):
    """Runs `command` and returns a Run. `channel`: a Channel for a check; `drop_to`: a user and group number to run it as
    (only root can)."""
    left = signal.setitimer(signal.ITIMER_PROF, 0)[0]  # reading() does not count what follows
    try:
        return run_apart(command, limits, environment, folder, channel, drop_to)
    finally:
        signal.setitimer(signal.ITIMER_PROF, left)


def run_apart(command, limits, environment, folder, channel, drop_to):
    become_subreaper()
    spared = set(descendants(os.getpid()))
    result = Run()
    environment = dict(os.environ if environment is None else environment)
    environment.pop("LAB_CHANNEL", None)
    if channel:
        environment["LAB_CHANNEL"] = str(channel.outside.fileno())
    start = time.monotonic()
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            pass_fds=[channel.outside.fileno()] if channel else [],
            start_new_session=True,
            preexec_fn=limited(limits, drop_to),
        )
    except (OSError, subprocess.SubprocessError) as error:
        result.status, result.output = 127, f"{command[0]}: {error}"
        if channel:
            channel.close()
        return result
    watched = {child.stdout.fileno(): bytearray()}
    door = None
    if channel:
        channel.outside.close()
        door = channel.door.fileno()
        watched[door] = bytearray()
    open_ends = set(watched)

    def take(end, data):
        watched[end] += data
        if end == door:
            result.forged = result.forged or channel.hear(data)
            if channel.lines and channel.lines.fileno() not in watched:
                watched[channel.lines.fileno()] = bytearray()
                open_ends.add(channel.lines.fileno())

    heavy = limits.memory or limits.processes
    while True:
        ready = select.select(list(open_ends), [], [], TICK)[0] if open_ends else time.sleep(TICK) or []
        for end in ready:
            try:
                data = os.read(end, 1 << 16)
            except OSError:
                data = b""
            if not data:
                open_ends.discard(end)
                continue
            if len(watched[end]) <= limits.output:
                take(end, data)
        if any(len(data) > limits.output for data in watched.values()):
            result.ended_by = "output"
        elif limits.wall and time.monotonic() - start > limits.wall / (1 if limits.cpu else share()):
            result.ended_by = "time"
        elif heavy:
            below = {pid: size for pid, size in descendants(os.getpid()).items() if pid not in spared}
            if limits.processes and len(below) > limits.processes:
                result.ended_by = "processes"
            elif limits.memory and sum(below.values()) > limits.memory:
                result.ended_by = "memory"
        if result.ended_by or result.forged or (child.poll() is not None and not ready):
            break
    kill_all(child, spared)
    result.seconds = time.monotonic() - start
    for end in list(open_ends):  # what was written just before the end
        os.set_blocking(end, False)
        try:
            while len(watched[end]) <= limits.output:
                data = os.read(end, 1 << 16)
                if not data:
                    break
                take(end, data)
        except OSError:
            pass
    result.status = plain_status(command, child.wait())
    if not result.ended_by and result.status in (-signal.SIGXCPU, -signal.SIGKILL):
        # The system enforces limits by these signals; nothing else sends them.
        result.ended_by = "time" if limits.cpu else ""
    result.output = watched[child.stdout.fileno()].decode("utf-8", "replace")
    child.stdout.close()
    if channel:
        if channel.lines:
            read_channel(result, channel.word, bytes(watched[channel.lines.fileno()]))
        channel.close()
    return result
