# SPDX-License-Identifier: MIT
# FILE=: a program of one's own in place of a chapter's. It may have several files, anywhere, with any names; make
# cannot have such names in rules, so common/tools/own/own_programs.py compiles them and decides what has to be.

OWN_VERBS := build run debug races sanitize xray xray-verify profile
ifneq ($(filter-out $(OWN_VERBS),$(GOALS)),)
$(error FILE= is for: make $(OWN_VERBS); not for make $(firstword $(filter-out $(OWN_VERBS),$(GOALS))))
endif
ifneq ($(strip $(CH)),)
$(error FILE= and CH=: one of them, a program of your own or a chapter)
endif
OWN_TYPED := $(call as_env,FILE DEFINE INCLUDE LIBS)
answer_own := $(shell $(OWN_TYPED) $(python) tools.own.own_programs name)
ifneq ($(firstword $(answer_own)),ok)
$(error $(or $(wordlist 2,999,$(answer_own)),FILE=: the line above says what is missing))
endif
OWN := $(word 2,$(answer_own))
CHOSEN := $(OWN)
CHOSEN_PROGRAMS := $(OWN)
EXPERIMENTS :=

# Without a GPU a program of one's own runs under the race detector; RACES=0 runs it as chapters run, faster.
# A debugger is for the latter.
OWN_VARIANT = $(if $(filter gpu,$(CHOSEN_BACKEND)),gpu,$(if $(filter 0,$(RACES))$(filter debug,$(GOALS)),cpu,cpu-races))
PROGRAMS = build/$(OWN_VARIANT)/$(OWN)
RUN = $(call as_env,SCHEDULE RACES) common/tools/own/run.sh $(OWN_VARIANT) $(PROGRAMS)
DEBUGGED = $(PROGRAMS)
DEBUG = $(OWN_TYPED) common/tools/own/debug.sh $(PROGRAMS) ''
SANITIZED = $(if $(filter gpu,$(CHOSEN_BACKEND)),$(PROGRAMS),build/cpu-asan/$(OWN) build/cpu-xray/$(OWN))
VERIFIED = $(if $(filter gpu,$(CHOSEN_BACKEND)),build/gpu/$(OWN) build/cpu-xray/$(OWN))
SANITIZED_ZOO :=
ZOO_TEST :=

# Warnings that a careful reader wants, and none of style.
OWN_FLAGS = $(filter-out -W%,$(CPU_FLAGS)) -Wall -Wno-unknown-pragmas -Wno-sign-compare $(UNUSED:%=-Wno-unused-%)
OWN_XRAY = $(filter-out -iquote common/cpu,$(XRAY))
# The race detector needs to hear of accesses only, not of code between jumps nor of calls; g++ 10 tells of these.
NO_CALLS = $(if $(is_clang),-mllvm -tsan-instrument-func-entry-exit=0,$(addprefix --param=,\
  $(addsuffix =0,$(shell $(CXX) -Q --help=param 2>/dev/null | grep -o 'tsan-instrument-func-entry-exit'))))
OWN_RACES = $(filter-out -fsanitize-coverage=%,$(OWN_XRAY)) $(NO_CALLS)

own_build = $(direct)$(OWN_TYPED) CUBLAS=$(libraries)/libcublas.a MAKE='$(MAKE)' \
  $(python) tools.own.own_programs build $@

$(addprefix build/,$(addsuffix /$(OWN),cpu cpu-races cpu-xray cpu-asan gpu)): .FORCE
.PHONY: .FORCE
build/gpu/$(OWN):
	$(own_build) '' $(NVCC) -arch=$(ARCH) -std=c++17 -O3 -lineinfo -- -arch=$(ARCH)
$(addprefix build/,$(addsuffix /$(OWN),cpu cpu-xray cpu-asan)): build/cpu/prepass build/$$(variant)/libcudacpu.a
build/cpu-races/$(OWN): build/cpu/prepass build/cpu-xray/libcudacpu.a
build/cpu/$(OWN):
	$(own_build) build/cpu/libcudacpu.a $(CXX) $(OWN_FLAGS) -Og $(BOUNDS) --
build/cpu-xray/$(OWN):
	$(own_build) build/cpu-xray/libcudacpu.a $(CXX) $(OWN_FLAGS) $(OWN_XRAY) -- $(XRAY_LINK)
build/cpu-races/$(OWN):
	$(own_build) build/cpu-xray/libcudacpu.a $(CXX) $(OWN_FLAGS) $(OWN_RACES) $(BOUNDS) -- $(XRAY_LINK)
build/cpu-asan/$(OWN):
	$(own_build) build/cpu-asan/libcudacpu.a $(CXX) $(OWN_FLAGS) $(ASAN_BUILD) -- $(ASAN_BUILD)
