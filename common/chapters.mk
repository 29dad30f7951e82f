# SPDX-License-Identifier: MIT
# The chapters there are, and the one that CH= names. A chapter is chapters/NN_name/name.cu.

name_of = $(subst $(firstword $(subst _, ,$1))_,,$1)
source_of = chapters/$1/$(call name_of,$1).cu
number_of = $(firstword $(subst _, ,$1))

CHAPTERS := $(notdir $(patsubst %/,%,$(sort $(wildcard chapters/[0-9][0-9]_*/))))
CHAPTERS := $(foreach c,$(CHAPTERS),$(if $(wildcard $(call source_of,$c)),$c))
CHOSEN := $(CHAPTERS)
there_are = there are: $(if $(CHAPTERS),$(CHAPTERS),none)

# CH=5, CH=05 and CH=05_name mean the same. Anything else ends here, before anything is built.
ONE :=
DECK := $(if $(filter slides slides-check,$(GOALS)),$(filter 00_course,$(CH)))
ifneq ($(DECK),)
# The opening deck belongs to no chapter.
else ifneq ($(strip $(CH)),)
CHOSEN := $(if $(findstring %,$(CH)),,$(foreach c,$(CHAPTERS),\
            $(if $(filter-out 1,$(words $(CH))),,\
              $(if $(filter $(CH),$c $(call number_of,$c) $(patsubst 0%,%,$(call number_of,$c))),$c))))
ONE := $(strip $(CHOSEN))
CHOSEN := $(ONE)
ifeq ($(ONE),)
$(error CH=$(CH): no such chapter; $(there_are))
endif
else ifeq ($(origin CH),command line)
$(error CH=: which chapter? $(there_are); without CH= a verb covers all)
endif

# SHARE=k/n: the k-th of n parts of what takes long, here of the chapters. Labs and site take their parts themselves.
ifneq ($(and $(SHARE),$(filter build sanitize,$(GOALS))),)
CHOSEN := $(shell echo $(CHOSEN) | common/tools/run/part_of.sh '$(subst ','\'',$(SHARE))')
ifeq ($(CHOSEN),)
$(error SHARE=$(SHARE): expected k/n, the k-th of n parts, as in 1/3)
endif
endif

# What verbs build and run: for a chapter. FILE= puts other programs in their place (own.mk).
PROGRAMS = $(CHOSEN:%=build/$(CHOSEN_BACKEND)/%)
DEBUGGED = $(CHOSEN:%=build/$(CHOSEN_BACKEND:cpu=cpu-debug)/%)
XRAY_PROGRAMS = $(CHOSEN:%=build/cpu-xray/%)
RUN = common/tools/run/run_programs.sh build/$(CHOSEN_BACKEND) '$(CHOSEN)'
DEBUG = common/tools/own/debug.sh '$(if $(ONE)$(OWN),$(DEBUGGED))' '$(wildcard chapters/$(ONE)/*.cu*)'
RUN_ARGS = $(if $(N),--n $(N)) $(ARGS)
