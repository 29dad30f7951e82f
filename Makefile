# SPDX-License-Identifier: MIT
# Every verb of the tutorial; `make` alone prints them. Needs GNU make 3.81 and bash 3.2, or newer.

# ---- settings a user may give --------------------------------------------------------------------

BACKEND ?= auto
NVCC ?= nvcc
ifeq ($(origin CXX),default)
CXX := $(firstword $(foreach c,g++ clang++,$(shell command -v $c 2>/dev/null && echo $c)) g++)
CXX := $(notdir $(CXX))
endif
Q := $(if $(filter-out 0,$(V)),,@)

VERBS := help list doctor setup build run test test-tools sanitize xray xray-verify xray-traces bench profile notes figures slides slides-check site serve lab hint solution reset progress grade check-labs check clean
GOALS := $(if $(MAKECMDGOALS),$(MAKECMDGOALS),help)

# ---- how make itself behaves ---------------------------------------------------------------------

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: $(VERBS) test-programs

ifneq ($(word 2,$(MAKECMDGOALS)),)

# Several verbs: one after the other, in the order given.
.NOTPARALLEL:
.PHONY: $(MAKECMDGOALS)
$(sort $(MAKECMDGOALS)):
	@$(MAKE) --no-print-directory $@

else

# All cores, unless -j says otherwise; what one compiler prints stays together.
ifeq ($(filter -j% --jobserver%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
endif
ifneq ($(filter output-sync,$(.FEATURES)),)
MAKEFLAGS += --output-sync=target
endif

# ---- chapters: chapters/NN_name/name.cu ----------------------------------------------------------

name_of = $(subst $(firstword $(subst _, ,$1))_,,$1)
source_of = chapters/$1/$(call name_of,$1).cu
number_of = $(firstword $(subst _, ,$1))

CHAPTERS := $(notdir $(patsubst %/,%,$(sort $(wildcard chapters/[0-9][0-9]_*/))))
CHAPTERS := $(foreach c,$(CHAPTERS),$(if $(wildcard $(call source_of,$c)),$c))
CHOSEN := $(CHAPTERS)
there_are = there are: $(if $(CHAPTERS),$(CHAPTERS),none)

# Besides verbs, files below build/ can be made, and the test programs without running them.
unknown := $(filter-out $(VERBS) test-programs build/%,$(GOALS))
ifneq ($(unknown),)
$(error no verb '$(firstword $(unknown))'; there are: $(VERBS))
endif

# CH=5, CH=05 and CH=05_name mean the same. Anything else ends here, before anything is built.
ONE :=
DECK := $(if $(filter slides slides-check,$(GOALS)),$(if $(filter 0 00 00_course,$(CH)),00_course))
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

# ---- backend -------------------------------------------------------------------------------------

ifneq ($(filter build run test test-programs sanitize bench profile xray-verify lab solution progress grade check-labs \
    build/labs/gpu/ready,$(GOALS)),)
answer := $(shell common/tools/backend.sh '$(BACKEND)' '$(NVCC)')
CHOSEN_BACKEND := $(firstword $(answer))
ifeq ($(CHOSEN_BACKEND),error)
$(error $(wordlist 2,999,$(answer)))
endif
ifeq ($(CHOSEN_BACKEND),gpu)
ifeq ($(origin ARCH),undefined)
ARCH := $(word 2,$(answer))
endif
why := $(wordlist 3,999,$(answer))
else
why := $(wordlist 2,999,$(answer))
# No compiler at all: install one if that needs no question.
ifeq ($(shell command -v $(firstword $(CXX)) 2>/dev/null),)
ifneq ($(CXX),g++)
$(error CXX=$(CXX): no such compiler here; without CXX= make takes g++ or clang++)
endif
install := $(shell common/tools/install.sh compiler)
ifeq ($(shell command -v $(firstword $(CXX)) 2>/dev/null),)
$(error no C++ compiler '$(CXX)' here. Run: $(install))
endif
endif
endif
$(info backend $(CHOSEN_BACKEND): $(why))
endif

ifneq ($(filter run bench profile xray-verify,$(GOALS)),)
# A copy of the tree without its history is told the commit from outside.
TUTORIAL_COMMIT ?= $(shell git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
export TUTORIAL_COMMIT := $(TUTORIAL_COMMIT)
endif

# ---- Catch2, for the verbs that run tests --------------------------------------------------------

ifneq ($(or $(filter test test-programs build/labs/%,$(GOALS)),$(and $(filter sanitize,$(GOALS)),$(filter cpu,$(CHOSEN_BACKEND)))),)
answer := $(shell common/tools/catch2.sh '$(CXX)' '$(CATCH2_DIR)')
ifneq ($(firstword $(answer)),ok)
$(error $(wordlist 2,999,$(answer)))
endif
CATCH2 := $(wordlist 2,99,$(answer)) -
CATCH2_LIBS := $(filter -l% -L% %.a %.o %.so %.dylib,$(CATCH2))
CATCH2_FLAGS := $(filter -I% -D%,$(CATCH2))
endif

# ---- what there is to compile --------------------------------------------------------------------

CHAPTER_SOURCES := $(foreach c,$(CHAPTERS),$(call source_of,$c))
CHAPTER_TESTS := $(wildcard tests/[0-9][0-9]_*.test.cu)
COMMON_TESTS := $(wildcard tests/common/*.test.cu)
BACKEND_TESTS := $(wildcard tests/backend/*.test.cu tests/backend/*.test.cpp)
XRAY_TESTS := $(wildcard tests/xray/*.test.cu)
CLI_TESTS := $(wildcard tests/cli/*.test.sh)
TOOL_TESTS := $(wildcard tests/tools/*.test.sh)
ZOO := $(wildcard tests/backend/zoo/*.cu)
CPU_BENCHES := $(wildcard common/cpu/bench/*.cu)
HEADERS := $(wildcard common/*.cuh common/*.h tests/*.cuh tests/*.hpp tests/*.h tests/*/*.cuh \
             tests/*/*.h tests/*/*.hpp tests/backend/zoo/*.cuh common/cpu/bench/*.cuh chapters/*/*.cuh chapters/*/*.h)
TEST_SOURCES := $(filter %.cu,$(CHAPTER_TESTS) $(COMMON_TESTS) $(BACKEND_TESTS))
CU_SOURCES := $(CHAPTER_SOURCES) $(TEST_SOURCES) $(XRAY_TESTS) $(ZOO) $(CPU_BENCHES)

# Without CH everything is tested; with it that chapter's tests and command line.
CHOSEN_TESTS := $(if $(ONE),$(wildcard tests/$(ONE).test.cu),$(CHAPTER_TESTS))
CPU_TESTS := $(CHOSEN_TESTS) $(if $(ONE),,$(COMMON_TESTS) $(BACKEND_TESTS))
GPU_TESTS := $(CHOSEN_TESTS) $(if $(ONE),,$(COMMON_TESTS))

test_binary = build/$1/$(basename $2)
comma := ,
# What prints as it goes must not be held back by --output-sync; with -n it must not run either.
direct = $(if $(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS)))),@,+@)
COLOUR := $(if $(MAKE_TERMOUT),$(if $(NO_COLOR),,-fdiagnostics-color=always))
# Warnings are errors, but for those that a learner's experiment brings: a line commented out leaves
# something unused.
UNUSED := parameter variable but-set-variable but-set-parameter function
WARNINGS := -Wall -Wextra -Werror $(UNUSED:%=-Wno-error=unused-%)
say = @printf '  %-5s %s\n' '$1' '$2'

# build/VARIANT/flags holds the compiler and its flags. It changes only when they do, and then what was
# compiled with others is compiled again. $(call keep_flags,FILE,TEXT)
ifneq ($(filter build run test test-programs sanitize xray xray-verify xray-traces bench profile build/%,$(GOALS)),)
keep_flags = $(shell mkdir -p $(dir $1) && { echo '$(strip $2)' | cmp -s - $1 || echo '$(strip $2)' >$1; })
endif

# Catch2's own code is compiled once, for all variants and both backends.
CATCH_MAIN := build/tests/catch_main.o
$(if $(CATCH2),$(call keep_flags,build/tests/flags,$(CXX) $(CATCH2)))
$(CATCH_MAIN): tests/catch_main.cpp build/tests/flags
	+$(call say,c++,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O1 $(WARNINGS) $(CATCH2_FLAGS) -MMD -MP -c -o $@ $<

# ---- CPU backend ---------------------------------------------------------------------------------
# Every .cu and header is mirrored through the pre-pass into build/cpu/src, launches turned into
# calls, lines kept; then it is plain C++. Variants differ in flags: cpu, cpu-asan, cpu-tsan.

CPU_FLAGS := -std=c++17 -g $(WARNINGS) -Wno-unknown-pragmas -fno-strict-aliasing \
             $(if $(filter Darwin,$(shell uname -s)),,-fstack-clash-protection) -pthread \
             -D__CUDA_CPU__=1 -Icommon/cpu
CU_AS_CPP := -include cuda_runtime.h -x c++
RUNTIME := $(wildcard common/cpu/*.S) $(filter-out common/cpu/prepass.cpp,$(wildcard common/cpu/*.cpp))
MIRRORED := $(addprefix build/cpu/src/,$(CU_SOURCES) $(HEADERS))
MIRRORED_HEADERS := $(addprefix build/cpu/src/,$(HEADERS))
MIRRORED_CHAPTERS := $(addprefix build/cpu/src/,$(CHAPTER_SOURCES))

PREPASS := $(patsubst %,build/cpu/obj/%.o,$(wildcard common/cpu/prepass.cpp common/cpu/prepass/*.cpp))
$(PREPASS): build/cpu/obj/%.o: % build/cpu/flags | build/cpu/announced
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(COLOUR) -std=c++17 -O2 $(WARNINGS) -MMD -MP -c -o $@ $<

# One line for the backend as a whole, when any of it is about to be compiled.
build/cpu/announced: $(RUNTIME) $(wildcard common/cpu/*.h common/cpu/prepass/*)
	+$(call say,c++,common/cpu: the CPU backend$(comma) compiled once)
	@mkdir -p $(@D) && touch $@

build/cpu/prepass: $(PREPASS)
	$(Q)$(CXX) -o $@ $^

$(MIRRORED): build/cpu/src/%: % build/cpu/prepass
	$(Q)mkdir -p $(@D)
	$(Q)build/cpu/prepass $< $@

build/cpu/zoo/announced: $(ZOO)
	+$(call say,c++,tests/backend/zoo: $(words $(ZOO)) wrong programs)
	@mkdir -p $(@D) && touch $@

# In dependencies, build/cpu/src/chapters/05_x/../../common/a.cuh is the mirrored file build/cpu/src/common/a.cuh.
plain_paths = sed -E -e ':a' -e 's,[^/ ]*[^/. ]/[.][.]/,,' -e 'ta' $(@:.o=.d) >$@.deps && mv $@.deps $(@:.o=.d)

# The backend itself, compiled for a variant: $(call cpu_runtime,NAME,FLAGS). It jumps from a broken kernel's
# stack to the worker's own, which glibc takes for a mistake where fortified functions are the default (Ubuntu).
define cpu_runtime
$(call keep_flags,build/$1/runtime-flags,$(CXX) $(CPU_FLAGS) $2 -U_FORTIFY_SOURCE)

$(patsubst %,build/$1/obj/%.o,$(RUNTIME)): build/$1/obj/%.o: % build/$1/runtime-flags | build/cpu/announced
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) $$(COLOUR) $$(CPU_FLAGS) $2 -U_FORTIFY_SOURCE -MMD -MP -c -o $$@ $$<

build/$1/libcudacpu.a: $(patsubst %,build/$1/obj/%.o,$(RUNTIME))
	$$(Q)rm -f $$@
	$$(Q)ar rcs $$@ $$^
endef

# Programs for it: $(call cpu_variant,NAME,FLAGS,FLAGS OF THE LINKER)
define cpu_variant
$(call keep_flags,build/$1/flags,$(CXX) $(CPU_FLAGS) $2 / $3)

$(patsubst %,build/$1/obj/%.o,$(CU_SOURCES)): build/$1/obj/%.o: build/cpu/src/% build/$1/flags \
    | $(MIRRORED_HEADERS)
	+$$(if $$(filter tests/backend/zoo/%,$$*),@:,$$(call say,c++,$$*$(if $(filter-out cpu,$1), ($1))))
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) $$(COLOUR) $$(CPU_FLAGS) $2 $$(CATCH2_FLAGS) $$(CU_AS_CPP) -MMD -MP -c -o $$@ $$<
	@$$(plain_paths)
$(patsubst %,build/$1/obj/%.o,$(CHAPTER_TESTS) $(COMMON_TESTS)): | $(MIRRORED_CHAPTERS)

$(patsubst %,build/$1/obj/%.o,$(filter %.cpp,$(BACKEND_TESTS))): build/$1/obj/%.o: % build/$1/flags
	+$$(call say,c++,$$*$(if $(filter-out cpu,$1), ($1)))
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) $$(COLOUR) $$(CPU_FLAGS) $2 $$(CATCH2_FLAGS) -MMD -MP -c -o $$@ $$<

$(if $(CATCH2),$(patsubst %,build/$1/obj/%.o,$(TEST_SOURCES) $(BACKEND_TESTS)): build/tests/flags)

$(patsubst %,build/$1/obj/%.o,$(ZOO)): | build/cpu/zoo/announced
$(foreach c,$(CHAPTERS),$(eval build/$1/$c: build/$1/obj/$(call source_of,$c).o))
$(foreach z,$(ZOO),$(eval build/$1/zoo/$(basename $(notdir $z)): build/$1/obj/$z.o))
$(foreach b,$(CPU_BENCHES),$(eval build/$1/bench/$(basename $(notdir $b)): build/$1/obj/$b.o))
$1_PROGRAMS := $(patsubst %,build/$1/%,$(CHAPTERS) $(patsubst tests/backend/%.cu,%,$(ZOO)) \
    $(patsubst common/cpu/%.cu,%,$(CPU_BENCHES)))
$$($1_PROGRAMS): build/$1/libcudacpu.a
$$($1_PROGRAMS):
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) -pthread $3 -o $$@ $$(filter %.o,$$^) build/$1/libcudacpu.a -ldl

$(foreach t,$(CHAPTER_TESTS) $(COMMON_TESTS) $(BACKEND_TESTS),\
  $(eval $(call test_binary,$1,$t): build/$1/obj/$t.o))
$(foreach t,$(CHAPTER_TESTS) $(COMMON_TESTS) $(BACKEND_TESTS),$(call test_binary,$1,$t)): \
    $(CATCH_MAIN) build/$1/libcudacpu.a
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) -pthread $3 -o $$@ $$(filter %.o,$$^) build/$1/libcudacpu.a -ldl $$(CATCH2_LIBS)
endef

ASAN := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined \
        -DCUDA_CPU_ASAN=1
TSAN := -O1 -fno-omit-frame-pointer -fsanitize=thread -DCUDA_CPU_TSAN=1
$(eval $(call cpu_runtime,cpu,-O2))
$(eval $(call cpu_variant,cpu,-O2,))
ifneq ($(filter sanitize build/cpu-% build/labs/cpu-%,$(GOALS)),)
$(eval $(call cpu_runtime,cpu-asan,$(ASAN)))
$(eval $(call cpu_variant,cpu-asan,$(ASAN),$(ASAN)))
# The scheduler tells TSan about its fibers itself and must not be watched while it does.
$(eval $(call cpu_runtime,cpu-tsan,-O2 -fno-omit-frame-pointer -DCUDA_CPU_TSAN=1))
$(eval $(call cpu_variant,cpu-tsan,$(TSAN),$(TSAN)))
endif

# X-ray: compiled for TSan, which calls a function at every load and store, but linked with functions of
# our own (common/cpu/xray/hooks.cpp). A load in the source stays one load: nothing is split, doubled or
# joined, and functions of up to 200 instructions are inlined, so that each place in the code is one line of
# the kernel; larger ones are told apart by their callers. (1000 count the same and compile twice as long.)
INLINE_MOST := -finline-functions $(if $(filter clang%,$(notdir $(CXX))),,$(foreach p,inline-unit-growth=1000 \
                large-function-growth=10000 max-inline-insns-auto=200 max-inline-insns-single=200,--param $p))
KEEP_LOADS := $(if $(filter clang%,$(notdir $(CXX))),,-fno-tree-sra -fno-ipa-sra -fno-store-merging)
# clang leaves out loads before a store to the same place unless it is told not to; of atomics it would
# tell twice, since CUDA's tell themselves; structures it copies by memcpy.
FOR_XRAY := $(if $(filter clang%,$(notdir $(CXX))),-mllvm -tsan-instrument-read-before-write -mllvm -tsan-instrument-atomics=0,-Wno-tsan)
XRAY_LINK := $(if $(filter clang%,$(notdir $(CXX))),$(if $(filter Darwin,$(shell uname -s)),,-Wl$(comma)--wrap=memcpy))
XRAY := -O1 $(INLINE_MOST) $(KEEP_LOADS) -fsanitize=thread $(FOR_XRAY) -DCUDA_CPU_XRAY=1
XRAY_TEST_BINARIES := $(if $(filter test test-programs,$(GOALS)),$(if $(ONE),,$(if $(filter cpu,$(CHOSEN_BACKEND)),\
                        $(foreach t,$(XRAY_TESTS),$(call test_binary,cpu-xray,$t)))))
ifneq ($(XRAY_TEST_BINARIES)$(filter xray xray-verify xray-traces build/cpu-xray% build/labs/cpu-xray/%,$(GOALS)),)
$(eval $(call cpu_variant,cpu-xray,$(XRAY),$(XRAY_LINK)))
XRAY_RUNTIME := $(patsubst %,build/cpu-xray/obj/%.o,$(wildcard common/cpu/xray/*.cpp))
$(XRAY_RUNTIME): build/cpu-xray/obj/%.o: % build/cpu/runtime-flags | build/cpu/announced
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(COLOUR) $(CPU_FLAGS) -O2 -MMD -MP -c -o $@ $<

build/cpu-xray/libcudacpu.a: $(patsubst %,build/cpu/obj/%.o,$(RUNTIME)) $(XRAY_RUNTIME)
	$(Q)rm -f $@
	$(Q)ar rcs $@ $^

$(foreach t,$(XRAY_TESTS),$(eval $(call test_binary,cpu-xray,$t): build/cpu-xray/obj/$t.o))
$(if $(CATCH2),$(patsubst %,build/cpu-xray/obj/%.o,$(XRAY_TESTS)): build/tests/flags)
$(foreach t,$(XRAY_TESTS),$(call test_binary,cpu-xray,$t)): $(CATCH_MAIN) build/cpu-xray/libcudacpu.a
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -pthread $(XRAY_LINK) -o $@ $(filter %.o,$^) build/cpu-xray/libcudacpu.a -ldl $(CATCH2_LIBS)
endif

# ---- GPU -----------------------------------------------------------------------------------------

GPU_FLAGS := -std=c++17 -O3 -lineinfo -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror

ifeq ($(CHOSEN_BACKEND),gpu)
$(call keep_flags,build/gpu/flags,$(NVCC) -arch=$(ARCH) $(GPU_FLAGS))

GPU_SOURCES := $(CHAPTER_SOURCES) $(CHAPTER_TESTS) $(COMMON_TESTS)
$(patsubst %,build/gpu/obj/%.o,$(GPU_SOURCES)): build/gpu/obj/%.o: % build/gpu/flags
	+$(call say,nvcc,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(NVCC) $(GPU_FLAGS) -arch=$(ARCH) $(CATCH2_FLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

$(if $(CATCH2),$(patsubst %,build/gpu/obj/%.o,$(CHAPTER_TESTS) $(COMMON_TESTS)): build/tests/flags)

# cuBLAS only where it is used, which the dependencies tell: it is large and slow to load.
link_gpu = $(NVCC) -arch=$(ARCH) -o $@ $(filter %.o,$^) $$(grep -q cublas_v2.h $(patsubst %.o,%.d,$(filter %.cu.o,$^)) && echo -lcublas)

$(foreach c,$(CHAPTERS),$(eval build/gpu/$c: build/gpu/obj/$(call source_of,$c).o))
$(addprefix build/gpu/,$(CHAPTERS)):
	$(Q)mkdir -p $(@D)
	$(Q)$(link_gpu)

$(foreach t,$(CHAPTER_TESTS) $(COMMON_TESTS),$(eval $(call test_binary,gpu,$t): build/gpu/obj/$t.o))
$(foreach t,$(CHAPTER_TESTS) $(COMMON_TESTS),$(call test_binary,gpu,$t)): $(CATCH_MAIN)
	$(Q)mkdir -p $(@D)
	$(Q)$(link_gpu) $(CATCH2_LIBS)
endif

# ---- labs ----------------------------------------------------------------------------------------
# What every check of an exercise is built with; common/tools/labs/build.py asks for it and does the rest.

build/labs/report.o: tests/lab_report.cpp build/tests/flags
	+$(call say,c++,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O1 $(WARNINGS) $(CATCH2_FLAGS) -MMD -MP -c -o $@ $<

LAB_READY := $(foreach v,cpu cpu-asan cpu-tsan cpu-xray gpu,build/labs/$v/ready)
$(LAB_READY): $(CATCH_MAIN) build/labs/report.o
	@mkdir -p $(@D)
	@echo '$(CATCH2_LIBS)' >$@
$(filter build/labs/cpu%,$(LAB_READY)): build/labs/%/ready: build/%/libcudacpu.a $(MIRRORED_HEADERS)

LAB_SETTINGS = CH='$(ONE)' EX='$(EX)' LEVEL='$(LEVEL)' FORCE='$(FORCE)' SANITIZE='$(SANITIZE)' BACKEND='$(CHOSEN_BACKEND)' \
  CXX='$(CXX)' NVCC='$(NVCC)' ARCH='$(ARCH)' CATCH2_DIR='$(CATCH2_DIR)' DIR='$(DIR)' OUT='$(OUT)' JOBS='$(JOBS)' TIME='$(TIME)' SHARE='$(SHARE)'

-include $(shell find build -name '*.d' 2>/dev/null)

# ---- verbs ---------------------------------------------------------------------------------------

PROGRAMS = $(addprefix build/$(CHOSEN_BACKEND)/,$(CHOSEN))
RUN_ARGS = $(if $(N),--n $(N)) $(ARGS)

##@ Learn
help:  ## this list
	@common/tools/help.sh $(firstword $(MAKEFILE_LIST))

list:  ## the chapters and the question each answers
	@common/tools/list.sh $(CHOSEN)

doctor:  ## what is installed, what is missing, what works without it
	@common/tools/doctor.sh '$(CXX)' '$(NVCC)' '$(CATCH2_DIR)'

setup:  ## install what is missing, if that needs no password
	@common/tools/setup.sh '$(CXX)' '$(CATCH2_DIR)'

build: $(PROGRAMS)  ## compile the chapters' programs

run: $(PROGRAMS)  ## build and run, e.g. make run CH=05 ARGS="--n 1Mi"
	$(direct)common/tools/run_programs.sh build/$(CHOSEN_BACKEND) '$(CHOSEN)' $(RUN_ARGS)

##@ Labs
lab:  ## the next exercise: copy it to work/, check it; CH=05 EX=1 for a certain one
	$(direct)common/tools/labs.sh lab $(LAB_SETTINGS)

hint:  ## a hint, then the next one, e.g. make hint CH=05 EX=1
	$(direct)common/tools/labs.sh hint $(LAB_SETTINGS)

solution:  ## the solution of an exercise that you have solved, or with FORCE=1
	$(direct)common/tools/labs.sh solution $(LAB_SETTINGS)

reset:  ## a fresh copy of an exercise or of a chapter's; your own is kept beside it
	$(direct)common/tools/labs.sh reset $(LAB_SETTINGS)

progress:  ## all exercises: passed, failed, not started
	$(direct)common/tools/labs.sh progress $(LAB_SETTINGS)

grade:  ## grade a class: make grade DIR=submissions OUT=grades.json
	$(direct)common/tools/labs.sh grade $(LAB_SETTINGS)

##@ Check
ifneq ($(filter test test-programs,$(GOALS)),)
TEST_BINARIES := $(foreach t,$($(if $(filter gpu,$(CHOSEN_BACKEND)),GPU,CPU)_TESTS),\
                   $(call test_binary,$(CHOSEN_BACKEND),$t))
ZOO_BINARIES := $(if $(filter cpu,$(CHOSEN_BACKEND)),$(if $(ONE),,\
                  $(patsubst tests/backend/%.cu,build/cpu/%,$(ZOO))))
endif
test-programs: $(TEST_BINARIES) $(XRAY_TEST_BINARIES) $(ZOO_BINARIES)
test: $(TEST_BINARIES) $(XRAY_TEST_BINARIES) $(ZOO_BINARIES) $(PROGRAMS)  ## every test, or one chapter's
	$(direct)CXX='$(CXX)' common/tools/run_tests.sh $(CHOSEN_BACKEND) '$(CHOSEN)' $(TEST_BINARIES) \
	  $(XRAY_TEST_BINARIES) $(if $(ONE),$(filter %/programs.test.sh,$(CLI_TESTS)),$(CLI_TESTS))

ifneq ($(filter sanitize,$(GOALS)),)
ifeq ($(CHOSEN_BACKEND),gpu)
SANITIZED := $(PROGRAMS)
else
SANITIZED := $(foreach v,cpu-asan cpu-tsan,$(addprefix build/$v/,$(CHOSEN)) \
               $(foreach t,$(CHOSEN_TESTS) $(if $(ONE),,$(COMMON_TESTS)),$(call test_binary,$v,$t)))
endif
endif
# The bug zoo has programs that only a sanitizer sees through; without CH they are tried as well.
ifeq ($(ONE)$(CHOSEN_BACKEND),cpu)
SANITIZED_ZOO := $(foreach v,cpu-asan cpu-tsan,\
                   $(patsubst tests/backend/zoo/%.cu,build/$v/zoo/%,$(shell grep -l '^// BUILD: $v' $(ZOO))))
ZOO_TEST := build/cpu/tests/backend/zoo.test $(patsubst tests/backend/zoo/%.cu,build/cpu/zoo/%,$(ZOO))
endif
sanitize: $(SANITIZED) $(SANITIZED_ZOO) $(ZOO_TEST)  ## race, memory and undefined-behaviour checkers over every program
	$(direct)common/tools/sanitize.sh $(CHOSEN_BACKEND) '$(CHOSEN)' $(filter build/%.test,$(SANITIZED))
	$(if $(ZOO_TEST),$(direct)echo; ZOO_DIR=build/cpu/zoo build/cpu/tests/backend/zoo.test)

# Minutes, and Node.js, Chromium and matplotlib for some; what is missing is skipped. TOOLS="grade site" chooses.
test-tools:  ## the tests of what teachers and authors use: grading, proofs of labs, decks, site, figures
	$(direct)BUILD=build/tools CXX='$(CXX)' common/tools/run_tests.sh cpu '$(CHOSEN)' \
	  $(if $(TOOLS),$(TOOLS:%=tests/tools/%.test.sh),$(TOOL_TESTS))

check-labs:  ## every starter fails, every solution passes, every wrong solution is rejected
	$(direct)common/tools/labs.sh check-labs $(LAB_SETTINGS)

check:  ## formatting, notes, figures, links and labs are as they should be
	$(direct)status=0; common/tools/check.sh || status=1; $(MAKE) --no-print-directory check-labs || status=1; exit $$status

##@ Measure
xray: $(addprefix build/cpu-xray/,$(CHOSEN))  ## what each line asks of memory, without a GPU, e.g. make xray CH=03
	$(direct)CSV='$(CSV)' LINE='$(LINE)' SVG='$(SVG)' BLOCKS='$(BLOCKS)' \
	  common/tools/xray.sh build/cpu-xray '$(CHOSEN)' $(RUN_ARGS) $(if $(ONLY),--only '$(ONLY)')

xray-verify: $(PROGRAMS) $(addprefix build/cpu-xray/,$(CHOSEN))  ## X-ray's counts beside a GPU's counters (needs ncu)
	$(direct)common/tools/xray_verify.sh $(CHOSEN_BACKEND) '$(CHOSEN)'

# The chapters whose figures draw what X-ray counted.
TRACED := $(foreach c,$(CHOSEN),$(if $(wildcard chapters/$c/xray_traces),$c))
xray-traces: $(addprefix build/cpu-xray/,$(TRACED))  ## store X-ray's counts that figures draw
	$(direct)common/tools/xray_traces.sh build/cpu-xray '$(TRACED)'

bench: $(if $(filter gpu,$(CHOSEN_BACKEND)),$(PROGRAMS),$(patsubst common/cpu/%.cu,build/cpu/%,$(CPU_BENCHES)))  ## GPU: full sizes into results/; CPU: the backend's own speed
	$(direct)common/tools/bench.sh $(CHOSEN_BACKEND) '$(CHOSEN)' $(filter build/%,$^)

profile: $(PROGRAMS)  ## Nsight Compute: predicted beside measured, e.g. make profile CH=05
	$(direct)common/tools/profile.sh $(CHOSEN_BACKEND) '$(CHOSEN)'

##@ Write
notes:  ## refresh code, tables and numbers quoted in the notes
	@common/tools/notes.sh

figures:  ## redraw the figures
	@common/tools/figures.sh $(ONE)

slides:  ## the decks, e.g. make slides CH=05 FORMAT=pdf (html, pdf, png or all)
	$(direct)common/tools/slides.sh build '$(or $(FORMAT),html)' $(or $(DECK),$(ONE))

slides-check:  ## open every deck in Chromium and look at each slide
	$(direct)common/tools/slides.sh check $(or $(DECK),$(ONE))

site:  ## notes, labs, figures and built decks as a site in build/site/, e.g. make site BASE=/cuda/
	$(direct)common/tools/site.sh build '$(or $(BASE),/)'

serve:  ## the site on this machine, e.g. make serve PORT=8000
	$(direct)common/tools/site.sh serve '$(or $(PORT),8000)' '$(or $(BASE),/)'

clean:  ## remove build/, nothing else
	@rm -rf build

endif
