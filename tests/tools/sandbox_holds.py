# SPDX-License-Identifier: MIT
"""Tries, from inside of grading's sandbox, what a submission must not be able to do. One line per thing that it can.

FOLDER is where it works, SECRET a file that must not be readable. Status 77 without bubblewrap."""

import argparse
import os
import socket
import sys

sys.path.append(".")
from common.labs import runner, sandbox

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder")
parser.add_argument("secret")
given = parser.parse_args()
folder, secret = given.folder, given.secret
box = sandbox.Sandbox(folder, "cpu", os.environ.get("CXX", "g++"))
if not box.bwrap:
    print(box.why_not)
    sys.exit(77)
listener = socket.create_server(("127.0.0.1", 0))
port = listener.getsockname()[1]
TRIES = {
    "reads another's file": f"cat '{secret}'",
    "reads the list of users": "cat /etc/passwd",
    "sees processes": "ls /proc/1 /proc/self/environ",
    "signals a process outside": f"kill -0 {os.getpid()}",
    "reaches the network": f"exec 3<>/dev/tcp/127.0.0.1/{port}",
    "changes the tree": f"touch '{box.root}/common/x' || rm '{box.root}/build/cpu/prepass'",
    "writes to the root folder": "touch /x",
    "writes to /dev": "touch /dev/x",
    "writes to /usr": "touch /usr/x",
    "fills /tmp": f"head -c {sandbox.TEMPORARY + 1} /dev/zero >/tmp/left_by_a_student",
    "fills /dev/shm": f"head -c {sandbox.SHARED + 1} /dev/zero >/dev/shm/left_by_a_student",
    "sees the solutions": f"ls '{box.root}'/chapters/*/exercises/solutions",
    "mounts": "mount -t tmpfs none /tmp",
}
CAN = {
    "writes a file to /tmp": "head -c 1000000 /dev/zero >/tmp/left_by_a_student",
    "uses /dev/shm": "head -c 1000000 /dev/zero >/dev/shm/left_by_a_student",
    "reads the tree": f"test -r '{box.root}/common/labs/testing.cuh'",
}
wrong = 0
for tries, wanted in ((TRIES, False), (CAN, True)):
    for what, command in tries.items():
        prefix = [*box.walls(), *box.tree(None), *box.end("/tmp")]
        done = runner.run([*prefix, "bash", "-c", command], runner.Limits(wall=30), drop_to=box.user(0))
        if (done.status == 0) != wanted:
            wrong += 1
            print(f"{what}: {'it can' if not wanted else 'it cannot: ' + done.output.strip()[:200]}")
for path in ("/dev/shm/left_by_a_student", "/tmp/left_by_a_student", f"{box.root}/common/x"):
    if os.path.exists(path):
        wrong += 1
        print(f"{path} is left")
sys.exit(1 if wrong else 0)
