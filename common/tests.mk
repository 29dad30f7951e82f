# SPDX-License-Identifier: MIT
# What the verbs test and sanitize run. Without CH that is everything; with it that chapter's tests and command line.

CHOSEN_TESTS := $(wildcard $(CHOSEN:%=tests/%.test.cu)) $(if $(ONE),,$(COMMON_TESTS))
TESTS = $(foreach t,$(CHOSEN_TESTS) $(if $(ONE)$(filter gpu,$(CHOSEN_BACKEND)),,$(BACKEND_TESTS)),$(call test_binary,$(CHOSEN_BACKEND),$t)) \
  $(if $(ONE)$(filter gpu,$(CHOSEN_BACKEND)),,$(foreach t,$(XRAY_TESTS),$(call test_binary,cpu-xray,$t)) $(XRAY_SHOWN) $(ZOO_PROGRAMS))
# Programs and experiments, without a GPU under the race detector: what tests/cli/programs.test.sh runs.
TESTED_PROGRAMS = $(ALL_PROGRAMS:%=build/$(CHOSEN_BACKEND:cpu=cpu-xray)/%)
TEST_SCRIPTS = $(if $(ONE),tests/cli/programs.test.sh,$(wildcard tests/cli/*.test.sh))
# What tests/cli/xray.test.sh looks at.
XRAY_SHOWN = $(patsubst %,build/cpu-xray/%,$(filter 03_% 05_%,$(CHAPTERS)))
ZOO_PROGRAMS = $(ZOO:tests/backend/zoo/%.cu=build/cpu/zoo/%) $(call zoo_for,cpu-xray)
zoo_for = $(patsubst tests/backend/zoo/%.cu,build/$1/zoo/%,$(shell grep -l '^// BUILD: $1' $(ZOO)))

# Memory and undefined behaviour; races.
SANITIZER_VARIANTS := cpu-asan cpu-xray
# With options those programs that understand them, and no test.
SANITIZED_PROGRAMS = $(if $(N)$(ARGS),$(CHOSEN_PROGRAMS),$(ALL_PROGRAMS))
SANITIZED = $(if $(filter gpu,$(CHOSEN_BACKEND)),$(SANITIZED_PROGRAMS:%=build/gpu/%),$(foreach v,$(SANITIZER_VARIANTS),$(SANITIZED_PROGRAMS:%=build/$v/%) \
  $(if $(N)$(ARGS),,$(foreach t,$(CHOSEN_TESTS),$(call test_binary,$v,$t)))))
# The bug zoo has programs that only a sanitizer sees through; without CH they are tried as well.
ifeq ($(ONE)$(CHOSEN_BACKEND),cpu)
SANITIZED_ZOO = $(foreach v,$(SANITIZER_VARIANTS),$(call zoo_for,$v))
ZOO_TEST = build/cpu/tests/backend/zoo.test $(ZOO_PROGRAMS)
endif
