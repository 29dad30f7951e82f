# SPDX-License-Identifier: MIT
# BACKEND=auto|gpu|cpu: which it is here and why, the first line that a verb prints.

answer := $(shell common/tools/setup/backend.sh '$(BACKEND)' '$(NVCC)')
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
install := $(shell common/tools/setup/install.sh compiler)
ifeq ($(shell command -v $(firstword $(CXX)) 2>/dev/null),)
$(error no C++ compiler '$(CXX)' here. $(if $(install),Run: $(install),Its package is installed: is it on PATH?))
endif
endif
endif
ifneq ($(and $(filter gpu,$(CHOSEN_BACKEND)),$(if $(deaf),,$(SCHEDULE))),)
$(error SCHEDULE=$(SCHEDULE): on a GPU nobody can choose the order of threads; BACKEND=cpu can)
endif
# That there is no GPU is said with its reason once; then the backend's name is enough.
ifeq ($(BACKEND)-$(CHOSEN_BACKEND),auto-cpu)
said := $(shell cat build/why_cpu 2>/dev/null || true; mkdir -p build 2>/dev/null && echo '$(why)' 2>/dev/null >build/why_cpu || true)
endif
$(info backend $(CHOSEN_BACKEND)$(if $(filter-out $(subst $( ) ,_,$(said)),$(subst $( ) ,_,$(why))),: $(why)))
