# SPDX-License-Identifier: MIT
# The settings that a command line may give, NAME=value: all of them stand here. Anything else is a slip, and make
# would run as if nothing had been said.

# Of every verb; of run, of labs, of X-ray, of checks, of decks and the site.
SETTINGS := CH BACKEND V CXX NVCC NCCL_HOME ARCH CATCH2_DIR TUTORIAL_COMMIT \
            ARGS N EXPERIMENT FILE DEFINE INCLUDE LIBS SCHEDULE RACES NAME EDITOR BLOCK THREAD \
            EX FORCE GDB DIR OUT JOBS TIME SHARE \
            CSV EVENTS HTML BLOCKS ONLY TOOLS STUDENTS NO_BWRAP SCHEDULES \
            FORMAT BASE PORT SEED INSTALL
# What make, compilers and programs know. A % stands for the rest of a name.
KNOWN := CC CPP LD AR AS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS NVCCFLAGS LDLIBS \
         CUDA_% CCACHE_% XRAY_% TEST_% ASAN_% UBSAN_% NO_COLOR CHROME_PATH \
         SHELL TERM TMPDIR HOME PATH LANG LC_% PREFIX MAKE% GNUMAKEFLAGS MFLAGS

# What a user types is text. Make would expand it wherever it is used, and run what stands in $(shell ...): so before
# anything else each setting, typed or from the environment, becomes the text that it is.

define newline


endef
hash := \#
signs := ' " ` $$ \ ; & | < > ( ) $(hash)
sign_in = $(firstword $(foreach s,$(signs),$(findstring $s,$1)) $(if $(findstring $(newline),$1),line-end))

given := $(foreach v,$(filter-out -% .%,$(.VARIABLES)),$(if $(filter command,$(firstword $(origin $v))),$v))
from_outside := $(given) $(foreach v,$(filter-out $(given),$(SETTINGS)),$(if $(filter environment,$(firstword $(origin $v))),$v))
$(foreach v,$(given),$(if $(call sign_in,$v),$(error $v=: there is no such setting)))
# Programs that are started still find them in their environment, as if they had been left alone.
as_text = $(eval override $1 := $$(value $1))$(eval export $1)
$(foreach v,$(filter-out MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEOVERRIDES,$(from_outside)),$(call as_text,$v))

# The shell reads it next. These settings may hold anything, for they are handed on in quotes (as_typed, as_env), and
# ARGS is words of the shell. No value of another one needs a sign that means something to the shell.
FREE := ARGS FILE DEFINE INCLUDE LIBS DIR OUT NAME EDITOR CSV EVENTS HTML
where_from = $(if $(filter $1,$(given)),, (it is from the environment))
refuse = $(error $1=$(subst $(newline), ,$(value $1)): no $1 has a $(call sign_in,$(value $1)) in it$(call where_from,$1))
$(foreach v,$(filter $(filter-out $(FREE),$(SETTINGS)) MAKE,$(from_outside)),$(if $(call sign_in,$(value $v)),$(call refuse,$v)))
$(foreach g,$(MAKECMDGOALS),$(if $(call sign_in,$g),$(error no verb '$g'; make alone lists them)))
