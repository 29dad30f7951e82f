# SPDX-License-Identifier: MIT
# How many jobs make runs, and how they print.

# All cores, unless -j says otherwise; what one compiler prints stays together.
ifeq ($(filter -j% --jobserver%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
endif
# GNU make 4.3 holds output back in /tmp, whatever TMPDIR says, and crashes where it may not write there.
ifneq ($(filter output-sync,$(.FEATURES)),)
ifeq ($(shell test -w /tmp && echo yes),yes)
MAKEFLAGS += --output-sync=target
endif
endif
# What prints as it goes must not be held back by --output-sync; with -n it must not run either.
direct = $(if $(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS)))),@,+@)
# A line with $(MAKE) in it make runs with -n, too; this says the same.
this_make = $(MAKE)

# A setting as it was typed: make would take $x in a name for a variable, the shell its quote for an end.
as_typed = '$(subst ','\'',$(value $1))'
as_env = $(foreach v,$1,$v=$(call as_typed,$v))

# A module in Python, or the word where to get Python: $(python) tools.notes.notes ...
python = common/tools/setup/python.sh --run
