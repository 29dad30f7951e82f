# SPDX-License-Identifier: MIT
"""Grades submissions that would forge a pass, with some of the lists of common/labs/audit.py switched off: no list
decides alone.

    without_lists.py FOLDER     one line per grade that is wrong, status 1 if there is one

FOLDER is empty, and on a path that other users may enter. Run it in the root of the repository."""

import os
import re
import sys
import types

sys.path.append(".")

import made_up_class as made
from common.labs import audit, build, catalogue, folders, grade, runner

FORGED = runner.FORGED
HEADERS = ("cstdio", "cstdlib", "cstring", "pthread.h", "unistd.h")
# A whole conversation: what the check's main does.
ANSWERED = made.EARLY.replace(
    "__read_chk(file, word, 32, 33);",
    'dprintf(file, "ask\\n"); iovec part = {word, 32}; alignas(cmsghdr) char rights[CMSG_SPACE(sizeof(int))] = {};'
    " msghdr got = {}; got.msg_iov = &part; got.msg_iovlen = 1; got.msg_control = rights; got.msg_controllen = sizeof rights;"
    " recvmsg(file, &got, 0); int lines; std::memcpy(&lines, CMSG_DATA(CMSG_FIRSTHDR(&got)), sizeof lines);"
).replace("dprintf(file, \"%s", "dprintf(lines, \"%s")  # fmt: skip
ANSWERED = "#include <sys/socket.h>\n#include <sys/uio.h>\n" + ANSWERED
PREINIT = f'__attribute__((unused, section(".preinit_array"))) {made.ENTRY}'
WRITES = made.EARLY.replace("__read_chk(file, word, 32, 33);", "")
WAITS = made.EARLY.replace(
    "__read_chk(file, word, 32, 33);",
    "(void)word; (void)file; pthread_t other;"
    " pthread_create(&other, nullptr, [](void*) -> void* { for (;;) sleep(1); }, nullptr); return;",
)
CONSTRUCTOR = "__attribute__((unused, constructor)) static void now() { early(0, nullptr, environ); }"

NAMES = ("look_at_source", "look_at")
OBJECT = (*NAMES, "look_at_object")
# (what it is, the lists that are off, what stands before the first kernel, verdict, what the message says)
TRIED = [
    ("only the names are not looked at", NAMES, ANSWERED + PREINIT, "refused", "calls 'recvmsg'"),
    ("only the names are not looked at", NAMES, made.EARLY + CONSTRUCTOR, "refused", "calls '__read_chk'"),
    ("no list: the word is not there yet", OBJECT, made.EARLY + PREINIT, "time", ""),
    ("no list: lines before the check", OBJECT, WRITES + PREINIT, "forged", FORGED["early"]),
    ("no list: the word without the socket", OBJECT, made.ASKED + PREINIT, "forged", FORGED["twice"]),
    *([("no list: a thread before main", OBJECT, WAITS + PREINIT, "forged", FORGED["threads"])] * runner.threads_are_told()),
    ("no list: constructors come after the question", OBJECT, ANSWERED + CONSTRUCTOR, "crash early", ""),
    ("no list: lines after the check", OBJECT,
     made.WORD.join(["__attribute__((destructor)) static void late() { ", made.EVERY_FILE + " std::_Exit(0); }"]), "failed", ""),
]  # fmt: skip


def main():
    place = sys.argv[1]
    [lab] = [lab for lab in catalogue.all_labs() if lab.label == "/".join(made.LAB)]
    builder = build.Builder({"CXX": "g++"})
    runner.become_subreaper()
    os.makedirs(f"{place}/scratch", mode=0o711)
    grader = grade.Grader(builder, "cpu", f"{place}/scratch", 5)
    grader.prepare([lab], lambda text: None)
    real = {name: getattr(audit, name) for name in OBJECT}
    problems = 0
    for number, (what, lists, code, verdict, says) in enumerate(TRIED):
        for name, function in real.items():
            setattr(audit, name, (lambda *_: None) if name in lists else function)
        text = "".join(f"#include <{name}>\n" for name in HEADERS) + made.before(code)
        folder = f"{place}/scratch/{number}"
        result = grader.grade(types.SimpleNamespace(lab=lab, text=text), 0, folder)
        folders.remove_tree(folder)
        if result["verdict"] not in verdict.split() or not re.search(re.escape(says), result["message"]):
            print(f"{what}: {result['verdict']}: {result['message']}, expected {verdict}: {says} {str(result['details'])[:600]}")
            problems = 1
    return problems


if __name__ == "__main__":
    sys.exit(main())
