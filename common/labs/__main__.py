# SPDX-License-Identifier: MIT
"""The labs' verbs, as make calls them through labs.sh:

python3 common labs VERB [NAME=VALUE...]
"""

import argparse
import errno
import os
import sys

from . import build, catalogue

LEARNERS = ("lab", "xray", "hint", "solution", "reset", "progress")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=(*LEARNERS, "grade", "check-labs", "page", "starters"))
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE", type=lambda text: text.partition("=")[::2])
    options = parser.parse_args()
    verb, settings = options.verb, dict(options.settings)
    builder = build.Builder({k: settings.get(k, "") for k in ("CXX", "NVCC", "ARCH", "CATCH2_DIR")})
    try:
        labs = catalogue.all_labs()
        if verb in LEARNERS:
            from .learner import Learner

            return getattr(Learner(labs, settings, builder), verb)()
        if verb == "check-labs":
            from . import check_labs

            return check_labs.main(labs, settings, builder)
        if verb == "grade":
            from . import grade

            return grade.main(labs, settings, builder)
        if verb == "starters":
            from . import starters

            return starters.main(labs, settings, builder)
        from . import page

        return page.main(labs)
    except (catalogue.UsageError, build.Failure) as problem:
        print(problem, file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as problem:  # a read-only tree, a full disk
        full_or_closed = (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM)
        if problem.filename is None and problem.errno not in full_or_closed:
            raise
        what = f"{problem.filename or 'output'}: {problem.strerror}"
        print(f"make {verb}: {what}; make needs to write here", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
