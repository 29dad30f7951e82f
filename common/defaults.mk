# SPDX-License-Identifier: MIT
# What settings are that nobody typed, and what is wrong with those that somebody did.

BACKEND ?= auto
NVCC ?= nvcc
ifeq ($(origin CXX),default)
CXX := $(firstword $(foreach c,g++ clang++,$(shell command -v $c 2>/dev/null && echo $c)) g++)
CXX := $(notdir $(CXX))
endif
Q := $(if $(filter-out 0,$(V)),,@)

strange := $(firstword $(filter-out $(SETTINGS) $(KNOWN),$(given)))
ifneq ($(strange),)
$(error $(strange)=: there is no such setting; $(shell common/tools/run/near.sh '$(strange)' '$(SETTINGS)'))
endif

# Without a verb a chapter is run, and an exercise is for one of several.
ifeq ($(MAKECMDGOALS),)
ifneq ($(filter EX,$(given)),)
$(error EX=$(EX): which verb? make lab checks that exercise; it is also for hint, solution, reset, xray and single)
endif
endif

# SCHEDULE=: the order of threads on the CPU backend. `all`, five of them, is for common/tools/own/run.sh.
HEAR_SCHEDULE := run debug races sanitize xray
deaf := $(firstword $(filter-out $(HEAR_SCHEDULE),$(GOALS)))
orders := forward reverse random:% $(if $(and $(FILE),$(filter run,$(GOALS))),all)
ifneq ($(and $(deaf),$(filter SCHEDULE,$(given))),)
$(error SCHEDULE= is for: make $(HEAR_SCHEDULE); not for make $(deaf))
else ifneq ($(if $(deaf),,$(SCHEDULE)),)
ifeq ($(filter $(orders),$(SCHEDULE)),)
$(error SCHEDULE=$(SCHEDULE): expected forward, reverse or random:SEED; make run FILE=... also takes all)
endif
ifneq ($(SCHEDULE),all)
export CUDA_CPU_SCHEDULE := $(SCHEDULE)
endif
endif

# Settings of a program of one's own.
alone := $(if $(FILE),,$(firstword $(filter DEFINE INCLUDE LIBS,$(given))))
ifneq ($(alone),)
$(error $(alone)= is for a program of your own, and FILE= says which: FILE=work/hello.cu $(alone)=...)
endif
