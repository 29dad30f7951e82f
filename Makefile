# SPDX-License-Identifier: MIT
# Every verb of the tutorial; `make` alone prints them, `make CH=05` runs a chapter. Needs GNU make 3.81 and bash 3.2, or newer.
#
# A verb is one paragraph below: the line `verb: ...  ## what it does` makes it one, `needs.verb` above that
# line says what it needs. The rules behind them are in common/*.mk, each read only by verbs that need it.

# ---- how make itself behaves ---------------------------------------------------------------------

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDEXPANSION:

include common/settings.mk
VERBS := $(shell common/tools/run/help.sh --verbs $(firstword $(MAKEFILE_LIST)))
# Without a verb: a chapter or a program is run.
.DEFAULT_GOAL := $(if $(filter CH FILE,$(given)),run,help)
GOALS := $(or $(MAKECMDGOALS),$(.DEFAULT_GOAL))
.PHONY: $(VERBS) test-programs

ifneq ($(word 2,$(MAKECMDGOALS)),)

# Several verbs: one after the other, in the order given.
.NOTPARALLEL:
.PHONY: $(MAKECMDGOALS)
$(sort $(MAKECMDGOALS)):
	@$(MAKE) --no-print-directory $@

else

include common/defaults.mk common/output.mk common/chapters.mk

# ---- verbs ---------------------------------------------------------------------------------------
# What a verb can need: `backend`, chosen and named in the first line; `commit`, which stored results name;
# `catch2`; `rules`, to compile chapters and tests; `sanitizers` and `xray`, for rules that those add.
# Prerequisites have two $: the rules that set these variables are read further down.

##@ Learn
help:  ## this list
	@common/tools/run/help.sh $(firstword $(MAKEFILE_LIST))

list:  ## the chapters and the question each answers
	@common/tools/run/list.sh $(CHOSEN)

doctor:  ## what is installed, what is missing, what works without it
	@common/tools/setup/doctor.sh '$(CXX)' '$(NVCC)' '$(CATCH2_DIR)'

setup:  ## install what is missing, if that needs no password
	@common/tools/setup/setup.sh '$(CXX)' '$(CATCH2_DIR)'

needs.build = backend rules $(if $(FILE),xray)
build: $$(PROGRAMS)  ## compile the chapters' programs

needs.run = backend rules $(if $(FILE),xray)
run: $$(PROGRAMS)  ## build and run, e.g. make run CH=05 ARGS="--n 1Mi", or FILE=work/hello.cu
	$(direct)$(RUN) $(RUN_ARGS)

single:  ## one file that nvcc compiles anywhere: make single CH=05 >sum.cu; EXPERIMENT=stray_bytes, or EX=1 for a solution
	@$(python) tools.run.single $(SINGLE)

new:  ## a small CUDA program to start from: make new NAME=hello makes work/hello.cu
	@common/tools/own/new.sh $(call as_typed,NAME) $(if $(filter EDITOR,$(given)),$(call as_typed,EDITOR))

needs.debug = backend rules
debug: $$(if $$(ONE)$$(FILE),$$(DEBUGGED))  ## in gdb, without a GPU: make debug FILE=work/hello.cu BLOCK=2 THREAD=5
	$(direct)$(call as_env,BLOCK THREAD) $(DEBUG) -- $(RUN_ARGS)

notebook:  ## a chapter and its labs as a notebook, for a borrowed GPU: make notebook CH=05 makes build/05.ipynb
	@$(python) tools.own.notebook $(or $(ONE),$(error make notebook: which chapter? CH=05)) build/$(call number_of,$(ONE)).ipynb

##@ Labs
needs.lab = backend
lab:  ## the next exercise: copy it to work/, check it; CH=05 EX=1 for a certain one
	$(call labs_sh,lab)

hint:  ## a hint, then the next one, e.g. make hint CH=05 EX=1
	$(call labs_sh,hint)

needs.solution = backend
solution:  ## the solution of an exercise that you have solved, or with FORCE=1
	$(call labs_sh,solution)

reset:  ## a fresh copy of an exercise or of a chapter's; your own is kept beside it
	$(call labs_sh,reset)

needs.progress = backend
progress:  ## all exercises: passed, failed, not started
	$(call labs_sh,progress)

needs.grade = backend
grade:  ## grade a class: make grade DIR=submissions OUT=grades.csv
	$(call labs_sh,grade)

##@ Check
needs.test = backend catch2 rules $(if $(filter gpu,$(CHOSEN_BACKEND)),,xray)
needs.test-programs = $(needs.test)
test: $$(TESTS) $$(TESTED_PROGRAMS)  ## every test, or one chapter's
	$(direct)CXX='$(CXX)' $(python) tools.checks.run_tests $(CHOSEN_BACKEND) --programs '$(ALL_PROGRAMS)' \
	  $(if $(filter-out 0,$(FORCE)),,--keep) $(if $(filter-out all,$(EXPERIMENT)),--tag $(EXPERIMENT)) \
	  $(filter %.test,$(TESTS)) $(TEST_SCRIPTS)
test-programs: $$(TESTS)

needs.races = rules xray
races: $$(XRAY_PROGRAMS)  ## races between threads, blocks and streams, without a GPU, e.g. make races CH=05
	$(direct)common/tools/run/races.sh build/cpu-xray '$(CHOSEN_PROGRAMS)' $(RUN_ARGS)

needs.sanitize = backend rules sanitizers xray $(if $(filter cpu,$(CHOSEN_BACKEND)),catch2)
sanitize: $$(SANITIZED) $$(SANITIZED_ZOO) $$(ZOO_TEST)  ## race, memory and undefined-behaviour checkers over every program
	$(direct)$(python) tools.checks.sanitize $(CHOSEN_BACKEND) --programs '$(SANITIZED_PROGRAMS)' $(filter build/%.test,$(SANITIZED)) --options $(RUN_ARGS)
	$(if $(ZOO_TEST),$(direct)echo; ZOO_DIR=build/cpu/zoo build/cpu/tests/backend/zoo.test)

# Minutes, and Node.js, Chromium and matplotlib for some; what is missing is skipped. TOOLS="grade site" chooses.
test-tools:  ## the tests of what teachers and authors use: grading, proofs of labs, decks, site, figures
	$(direct)CXX='$(CXX)' $(python) tools.checks.run_tests cpu --at-a-time 1 --build build/tools \
	  $(if $(TOOLS),$(TOOLS:%=tests/tools/%.test.sh),$(wildcard tests/tools/*.test.sh))

needs.check-labs = backend
check-labs:  ## every starter fails, every solution passes, every wrong solution is rejected
	$(call labs_sh,check-labs)

check:  ## formatting, notes, figures, links and labs are as they should be
	$(direct)status=0; common/tools/checks/check.sh || status=1; $(this_make) --no-print-directory check-labs || status=1; exit $$status

##@ Measure
needs.xray = $(if $(EX),,rules xray)
xray: $$(if $$(EX),,$$(XRAY_PROGRAMS))  ## what each line asks of memory, without a GPU, e.g. make xray CH=03; your lab: EX=1
	$(direct)$(call as_env,CSV EVENTS HTML BLOCKS BLOCK) $(OWN_TYPED) $(if $(EX),common/labs/labs.sh xray $(LAB_SETTINGS),\
	  common/tools/run/xray.sh build/cpu-xray '$(CHOSEN_PROGRAMS)' $(RUN_ARGS) $(if $(ONLY),--only '$(ONLY)'))

needs.xray-verify = backend rules xray
xray-verify: $$(VERIFIED)  ## X-ray's counts beside a GPU's counters (needs ncu)
	$(direct)$(OWN_TYPED) $(python) tools.measure.xray_verify --backend $(CHOSEN_BACKEND) $(CHOSEN)

needs.xray-traces = rules xray
xray-traces: $$(TRACED_PROGRAMS)  ## store X-ray's counts that figures draw
	$(direct)$(python) tools.measure.xray_traces build/cpu-xray $(TRACED)

needs.bench = backend commit rules
bench: $$(BENCHED)  ## GPU: full sizes into results/; CPU: the backend's own speed
	$(direct)$(if $(filter gpu,$(CHOSEN_BACKEND)),$(python) tools.measure.bench $(if $(EXPERIMENT),--only $(CHOSEN_PROGRAMS)) $(CHOSEN),$(BENCHED))

needs.profile = backend rules
profile: $$(if $$(filter gpu,$$(CHOSEN_BACKEND)),$$(if $$(OWN),$$(PROGRAMS),$$(PROFILED)))  ## Nsight Compute: predicted beside measured, e.g. make profile CH=05, or FILE=work/hello.cu
	$(direct)$(python) tools.measure.$(if $(OWN),own_profile,predictions) --backend $(CHOSEN_BACKEND) $(if $(OWN),$(PROGRAMS) $(RUN_ARGS),$(CHOSEN))

##@ Write
notes:  ## refresh code, tables and numbers quoted in the notes
	@$(python) tools.notes.notes

figures:  ## redraw the figures
	@common/tools/figures/figures.sh $(ONE)

slides:  ## the decks, e.g. make slides CH=05 FORMAT=pdf (html, pdf, png or all)
	$(direct)common/tools/slides/slides.sh '$(or $(FORMAT),html)' $(or $(DECK),$(ONE))

handout:  ## to print for a class: predictions, exam questions, a summary and a key, e.g. make handout CH=05
	$(direct)common/tools/slides/handout.sh $(CHOSEN)

exam:  ## an exam of TIME=60 minutes about some chapters, with drawn numbers, and a key: make exam CH=02-05 SEED=7
	$(direct)common/tools/slides/handout.sh exam '$(CH)' '$(SEED)' '$(TIME)'

site:  ## notes, labs, figures and built decks as a site in build/site/, e.g. make site BASE=/cuda/
	$(direct)SHARE='$(SHARE)' common/tools/site/site.sh build '$(or $(BASE),/)'

serve:  ## the site on this machine, e.g. make serve PORT=8000
	$(direct)common/tools/site/site.sh serve '$(or $(BASE),/)' '$(or $(PORT),8000)'

needs.compile_commands = rules
compile_commands:  ## for editors: clangd then understands the .cu files, without a GPU
	@CATCH2_DIR='$(CATCH2_DIR)' $(python) tools.editor.compile_commands $(CPU_FLAGS)

clean:  ## remove build/, nothing else
	@rm -rf build

include common/needs.mk

endif
