# SPDX-License-Identifier: MIT
# The programs there are, and those that CH= and EXPERIMENT= choose. A chapter's program is chapters/NN_name/name.cu and
# is called NN_name. An experiment is chapters/NN_name/experiments/topic.cu and is called NN_topic; it is compiled only
# when it is asked for.

number_of = $(firstword $(subst _, ,$1))
topic_of = $(patsubst $(call number_of,$1)_%,%,$1)
# Of a source: its chapter, and the name of its program.
chapter_of = $(word 2,$(subst /, ,$1))
program_of = $(call number_of,$(call chapter_of,$1))_$(basename $(notdir $1))

CHAPTERS := $(notdir $(patsubst %/,%,$(sort $(wildcard chapters/[0-9][0-9]_*/))))
CHAPTERS := $(foreach c,$(CHAPTERS),$(if $(wildcard chapters/$c/$(call topic_of,$c).cu),$c))
CHOSEN := $(CHAPTERS)
there_are = there are: $(if $(CHAPTERS),$(CHAPTERS),none)

# CH=5, CH=05 and CH=05_name mean the same. Anything else ends here, before anything is built.
ONE :=
DECK := $(if $(filter slides,$(GOALS)),$(filter 00_course,$(CH)))
ifneq ($(DECK),)
# The opening deck belongs to no chapter.
else ifneq ($(and $(CH),$(filter exam,$(GOALS))),)
# An exam is about several, as in 02-05 (handout.sh).
else ifneq ($(strip $(CH)),)
CHOSEN := $(if $(findstring %,$(CH)),,$(foreach c,$(CHAPTERS),\
            $(if $(filter-out 1,$(words $(CH))),,\
              $(if $(filter $(CH),$c $(call number_of,$c) $(patsubst 0%,%,$(call number_of,$c))),$c))))
ONE := $(strip $(CHOSEN))
CHOSEN := $(ONE)
ifeq ($(ONE),)
$(error CH=$(CH): no such chapter; $(there_are))
endif
else ifneq ($(filter CH,$(given)),)
$(error CH=: which chapter? $(there_are); without CH= a verb covers all)
endif

# EXPERIMENT=topic takes the place of the chapter's program, EXPERIMENT=all comes beside it.
SOURCES := $(foreach c,$(CHAPTERS),chapters/$c/$(call topic_of,$c).cu) $(sort $(wildcard $(CHOSEN:%=chapters/%/experiments/*.cu)))
EXPERIMENTS := $(foreach s,$(SOURCES),$(if $(findstring /experiments/,$s),$(call program_of,$s)))
source_of = $(filter chapters/$(call number_of,$1)_%,$(filter %/$(call topic_of,$1).cu,$(SOURCES)))
CHOSEN_PROGRAMS = $(CHOSEN)
ifeq ($(EXPERIMENT),all)
CHOSEN_PROGRAMS = $(CHOSEN) $(EXPERIMENTS)
else ifneq ($(EXPERIMENT),)
CHOSEN_PROGRAMS := $(strip $(foreach e,$(EXPERIMENTS),$(if $(filter $(EXPERIMENT),$(call topic_of,$e)),$e)))
ifneq ($(words $(CHOSEN_PROGRAMS)),1)
$(error EXPERIMENT=$(EXPERIMENT): no such experiment$(if $(ONE), of $(ONE)); there are: $(or $(strip \
  $(foreach e,$(EXPERIMENTS),$(call topic_of,$e))),none))
endif
EXPERIMENTS := $(CHOSEN_PROGRAMS)
CHOSEN := $(call chapter_of,$(call source_of,$(CHOSEN_PROGRAMS)))
ONE := $(CHOSEN)
endif
# What tests, checkers and measurements run: everything, or the experiment alone.
ALL_PROGRAMS = $(sort $(CHOSEN_PROGRAMS) $(EXPERIMENTS))

# SHARE=k/n: the k-th of n parts of what takes long, here of the chapters. Labs and site take their parts themselves.
ifneq ($(and $(SHARE),$(filter build sanitize,$(GOALS))),)
CHOSEN := $(shell echo $(CHOSEN) | common/tools/run/part_of.sh '$(subst ','\'',$(SHARE))')
ifeq ($(CHOSEN),)
$(error SHARE=$(SHARE): expected k/n, the k-th of n parts, as in 1/3)
endif
endif

# What verbs build and run. FILE= puts other programs in their place (own.mk).
PROGRAMS = $(CHOSEN_PROGRAMS:%=build/$(CHOSEN_BACKEND)/%)
DEBUGGED = $(CHOSEN_PROGRAMS:%=build/$(CHOSEN_BACKEND:cpu=cpu-debug)/%)
XRAY_PROGRAMS = $(CHOSEN_PROGRAMS:%=build/cpu-xray/%)
RUN = common/tools/run/run_programs.sh build/$(CHOSEN_BACKEND) '$(CHOSEN_PROGRAMS)'
DEBUG = common/tools/own/debug.sh '$(if $(ONE)$(OWN),$(DEBUGGED))' '$(if $(ONE),$(foreach p,$(CHOSEN_PROGRAMS),$(call source_of,$p)))'
RUN_ARGS = $(if $(N),--n $(N)) $(ARGS)
SINGLE = $(if $(EX),$(or $(wildcard $(ONE:%=chapters/%/exercises/solutions/ex$(EX)_*.cu)),$(error EX=$(EX): no such exercise; \
  make single wants CH= beside it)),$(if $(ONE),$(call source_of,$(CHOSEN_PROGRAMS)),$(error make single: which program? CH=05)))
