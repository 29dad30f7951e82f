# SPDX-License-Identifier: MIT
# The settings that a command line may give, NAME=value: all of them stand here. Anything else is a slip, and make
# would run as if nothing had been said.

# Of every verb; of run, of labs, of X-ray, of checks, of decks and the site.
SETTINGS := CH BACKEND V CXX NVCC ARCH CATCH2_DIR TUTORIAL_COMMIT \
            ARGS N EXPERIMENT FILE DEFINE INCLUDE LIBS SCHEDULE RACES NAME EDITOR BLOCK THREAD \
            EX LEVEL FORCE SANITIZE GDB DIR OUT JOBS TIME SHARE \
            LINE CSV SVG BLOCKS ONLY TSAN TOOLS STUDENTS NO_BWRAP SCHEDULES \
            FORMAT BASE PORT INSTALL
# What make, compilers and programs know. A % stands for the rest of a name.
KNOWN := CC CPP LD AR AS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS NVCCFLAGS LDLIBS \
         CUDA_% CCACHE_% XRAY_% TEST_% ASAN_% TSAN_% UBSAN_% NO_COLOR CHROME_PATH \
         SHELL TERM TMPDIR HOME PATH LANG LC_% PREFIX MAKE% GNUMAKEFLAGS MFLAGS
