# SPDX-License-Identifier: MIT
# What all compile rules share: the sources there are, warnings, and flags whose change compiles again.

CHAPTER_PROGRAMS := $(CHAPTERS) $(EXPERIMENTS)
CHAPTER_SOURCES := $(foreach p,$(CHAPTER_PROGRAMS),$(call source_of,$p))
CHAPTER_TESTS := $(wildcard tests/[0-9][0-9]_*.test.cu)
COMMON_TESTS := $(wildcard tests/common/*.test.cu)
BACKEND_TESTS := $(wildcard tests/backend/*.test.cu tests/backend/*.test.cpp)
CPP_TESTS := $(filter %.cpp,$(BACKEND_TESTS))
XRAY_TESTS := $(wildcard tests/xray/*.test.cu)
ZOO := $(wildcard tests/backend/zoo/*.cu)
CPU_BENCHES := $(wildcard common/cpu/bench/*.cu)
HEADERS := $(wildcard common/*.cuh common/*.h common/labs/*.cuh common/labs/*.h tests/*.cuh tests/*.hpp tests/*.h tests/*/*.cuh \
             tests/*/*.h tests/*/*.hpp tests/backend/zoo/*.cuh common/cpu/bench/*.cuh chapters/*/*.cuh chapters/*/*.h \
             chapters/*/experiments/*.cuh)
TEST_SOURCES := $(filter %.cu,$(CHAPTER_TESTS) $(COMMON_TESTS) $(BACKEND_TESTS))
CU_SOURCES := $(CHAPTER_SOURCES) $(TEST_SOURCES) $(XRAY_TESTS) $(ZOO) $(CPU_BENCHES)

test_binary = build/$1/$(basename $2)
comma := ,
is_clang := $(filter clang%,$(notdir $(CXX)))
COLOUR := $(if $(MAKE_TERMOUT),$(if $(NO_COLOR),,-fdiagnostics-color=always))
# Warnings are errors, but for those that a learner's experiment brings: a line commented out leaves
# something unused.
UNUSED := parameter variable but-set-variable but-set-parameter function
WARNINGS := -Wall -Wextra -Werror $(UNUSED:%=-Wno-error=unused-%)
say = @printf '  %-5s %s\n' '$1' '$2'

# Two makes may run in one tree, so whatever is compiled or linked is written beside its place and then put there,
# whole: `compile -o $(new) && $(put)`, or, with dependencies, `compile $(compiled) && $(put_compiled)`.
new = $@.$$$$
put = mv -f $(new) $@
compiled = -MMD -MP -MF $(new).deps -MT $@ -o $(new)
put_compiled = mv -f $(new).deps $(basename $@).d && $(put)

# build/VARIANT/flags holds the compiler and its flags. It changes only when they do, and then what was
# compiled with others is compiled again. $(call keep_flags,FILE,TEXT)
keep_flags = $(shell mkdir -p $(dir $1) && { echo '$(strip $2)' | cmp -s - $1 || \
  { echo '$(strip $2)' >$1.$$$$ && mv -f $1.$$$$ $1; }; })

# What make bench runs: the chapters, or the benchmarks of the CPU backend itself.
BENCHED = $(if $(filter gpu,$(CHOSEN_BACKEND)),$(ALL_PROGRAMS:%=build/gpu/%),$(CPU_BENCHES:common/cpu/%.cu=build/cpu/%))
# What make profile and make xray-verify run: settings may name any of a chapter's experiments.
PROFILED = $(ALL_PROGRAMS:%=build/gpu/%)
VERIFIED = $(if $(filter gpu,$(CHOSEN_BACKEND)),$(PROFILED) $(ALL_PROGRAMS:%=build/cpu-xray/%))
