# SPDX-License-Identifier: MIT
# Catch2, found or installed, and its own code: compiled once, for all variants and both backends. Not optimised, for
# tests spend their time elsewhere. What every lab's check holds is compiled like it.

answer := $(shell common/tools/setup/catch2.sh '$(CXX)' '$(CATCH2_DIR)')
ifneq ($(firstword $(answer)),ok)
$(error $(wordlist 2,999,$(answer)))
endif
CATCH2 := $(wordlist 2,99,$(answer)) -
CATCH2_LIBS := $(filter -l% -L% %.a %.o %.so %.dylib,$(CATCH2))
CATCH2_FLAGS := $(filter -I% -D%,$(CATCH2))

CATCH_MAIN := build/tests/catch_main.o
$(call keep_flags,build/tests/flags,$(CXX) $(CATCH2))
$(CATCH_MAIN): tests/catch_main.cpp build/tests/flags
LAB_PARTS := build/labs/channel.o build/labs/report.o
$(LAB_PARTS): build/labs/%.o: common/labs/%.cpp build/tests/flags
$(CATCH_MAIN) $(LAB_PARTS):
	+$(call say,c++,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(if $(filter $(CATCH_MAIN),$@),-O0,-O1) $(WARNINGS) $(CATCH2_FLAGS) $(compiled) -c $< && $(put_compiled)
