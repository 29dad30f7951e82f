# SPDX-License-Identifier: MIT
"""Colours when a person is looking, commands that are stopped when they take too long or when this one is, and whether
there is a GPU."""

import os
import signal
import subprocess
import sys
import threading
import time

_looking = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
GREEN, RED, PLAIN = ("\033[32m", "\033[31m", "\033[0m") if _looking else ("",) * 3

_running, _lock = set(), threading.Lock()


def cores():
    """As the Makefile counts them."""
    return os.cpu_count() or 2


def share():
    """The share of a core that each running process gets, a tenth at least: seconds of a limit count so much, since on a
    busy machine a right program takes as much longer."""
    try:
        return min(1.0, max(0.1, cores() / os.getloadavg()[0]))
    except (OSError, ZeroDivisionError):
        return 1.0


def has_gpu(verb, without):
    """Whether nvidia-smi lists a GPU; a verb that needs one says what BACKEND=cpu does `without`."""
    listed = subprocess.run("nvidia-smi -L", shell=True, capture_output=True, text=True, check=False).stdout
    if listed.startswith("GPU"):
        return True
    print(f"make {verb} BACKEND=gpu needs a GPU, and nvidia-smi lists none; BACKEND=cpu {without} without one", file=sys.stderr)
    return False


def _end_group(process, how):
    try:
        os.killpg(process.pid, how)
    except ProcessLookupError:
        pass


def limited(command, seconds, log, environment=None, mode="wb"):
    """Runs a command without input and with its output in the file `log`. Returns its exit status as a shell tells it:
    128 and more for a signal, 124 when it took longer than so many seconds of an idle machine."""
    with open(log, mode) as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
        with _lock:
            _running.add(process)
        try:
            status = None
            while status is None:
                began = time.monotonic()
                try:
                    status = process.wait(timeout=min(1, seconds))
                except subprocess.TimeoutExpired:
                    seconds -= (time.monotonic() - began) * share()
                    if seconds <= 0:
                        _end_group(process, signal.SIGKILL)
                        process.wait()
                        return 124
        finally:
            with _lock:
                _running.discard(process)
    return 128 - status if status < 0 else status


def stop_on_interrupt():
    """From now on Ctrl-C, or a request to end, also ends what limited() has started."""

    def stop(*_):
        for process in list(_running):
            _end_group(process, signal.SIGTERM)
        os._exit(130)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)


def signal_in(status):
    """The name of the signal in an exit status above 128, or nothing."""
    try:
        return signal.Signals(status - 128).name if status > 128 else ""
    except ValueError:
        return ""
