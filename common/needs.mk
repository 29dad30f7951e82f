# SPDX-License-Identifier: MIT
# Reads the rules that the verb or file at hand needs (needs.VERB in the Makefile). A file below build/ is
# asked for by name, and its folder says what it needs. Nothing is written before every need is met.

# Besides verbs, files below build/ can be made, and the test programs without running them.
unknown := $(filter-out $(VERBS) test-programs build/%,$(GOALS))
ifneq ($(unknown),)
$(error no verb '$(firstword $(unknown))'; there are: $(VERBS))
endif

needs_of_file = rules $(if $(filter build/gpu/% build/labs/gpu/%,$1),backend) $(if $(filter build/labs/%,$1),labs) \
  $(if $(filter build/labs/% %.test,$1),catch2) $(if $(filter build/cpu-xray/% build/labs/cpu-xray/%,$1),xray) \
  $(if $(filter build/cpu-asan/% build/labs/cpu-asan/%,$1),sanitizers)
needed = $(foreach g,$(GOALS),$(if $(filter build/%,$g),$(call needs_of_file,$g),$(needs.$g)))
is_needed = $(filter $1,$(needed))

ifneq ($(call is_needed,backend),)
include common/backend.mk
endif

ifneq ($(call is_needed,commit),)
# A copy of the tree without its history is told the commit from outside.
TUTORIAL_COMMIT ?= $(shell git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
export TUTORIAL_COMMIT := $(TUTORIAL_COMMIT)
endif

ifneq ($(call is_needed,rules),)
include common/compile.mk
ifneq ($(call is_needed,catch2),)
include common/catch2.mk
endif
include common/tests.mk
ifneq ($(call is_needed,xray),)
include common/xray.mk
endif
include common/cpu.mk common/runtime.mk
ifeq ($(CHOSEN_BACKEND),gpu)
include common/gpu.mk
endif
endif

include common/labs.mk
ifneq ($(filter FILE,$(given)),)
include common/own.mk
endif
-include $(if $(call is_needed,rules),$(shell find build -name '*.d' 2>/dev/null))
