# SPDX-License-Identifier: MIT
# Chapters and their tests, compiled by nvcc.

GPU_SOURCES := $(CHAPTER_SOURCES) $(CHAPTER_TESTS) $(COMMON_TESTS)

# NCCL comes with some toolkits only. Without it programs that use it are left out.
NCCL_USERS := $(filter $(GPU_SOURCES),$(shell common/cpu/libs/users.sh nccl $(HEADERS) $(GPU_SOURCES)))
nccl_to = $(if $(NCCL_USERS),$(shell common/tools/setup/nccl.sh $1 '$(NVCC)' '$(NCCL_HOME)'))
COMPILE_NCCL := $(call nccl_to,compile)
LINK_NCCL := $(call nccl_to,link)
ifneq ($(if $(LINK_NCCL),,$(NCCL_USERS)),)
NO_NCCL := there is no NCCL here$(NCCL_HOME:%=, nor in %): install it, or say where it is: NCCL_HOME=FOLDER with include/ and lib/
WITHOUT_NCCL := $(foreach s,$(filter chapters/%,$(NCCL_USERS)),$(call program_of,$s))
ifneq ($(filter $(WITHOUT_NCCL),$(CHOSEN_PROGRAMS)),)
ifeq ($(filter-out $(WITHOUT_NCCL),$(CHOSEN_PROGRAMS)),)
$(error $(CHOSEN_PROGRAMS) needs NCCL, and $(NO_NCCL))
endif
$(info without $(filter $(WITHOUT_NCCL),$(CHOSEN_PROGRAMS)): $(NO_NCCL))
endif
CHOSEN_PROGRAMS := $(filter-out $(WITHOUT_NCCL),$(CHOSEN_PROGRAMS))
EXPERIMENTS := $(filter-out $(WITHOUT_NCCL),$(EXPERIMENTS))
CHOSEN_TESTS := $(filter-out $(NCCL_USERS),$(CHOSEN_TESTS))
endif

# Products of warp groups are Hopper's alone, sm_90a, which is no sm_90 and which no ARCH of all GPUs names. So where ARCH
# covers Hopper the sources with such products are compiled for it in addition; a driver takes the code that fits best.
TENSOR_USERS := $(filter $(GPU_SOURCES),$(shell common/cpu/libs/users.sh tensor $(HEADERS) $(GPU_SOURCES)))
COMPILE_TENSOR := $(if $(filter native all all-major sm_90,$(ARCH)),-gencode arch=compute_90a$(comma)code=sm_90a)
$(call keep_flags,build/gpu/tensor-flags,$(COMPILE_TENSOR))

GPU_FLAGS := -std=c++17 -O3 -lineinfo -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror

$(call keep_flags,build/gpu/flags,$(NVCC) -arch=$(ARCH) $(GPU_FLAGS))

$(patsubst %,build/gpu/obj/%.o,$(GPU_SOURCES)): build/gpu/obj/%.o: % build/gpu/flags
	+$(call say,nvcc,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(NVCC) $(GPU_FLAGS) $(if $(filter $(NCCL_USERS),$<),$(COMPILE_NCCL)) $(if $(filter $(TENSOR_USERS),$<),$(COMPILE_TENSOR)) -arch=$(ARCH) $(CATCH2_FLAGS) $(compiled) -c $< && $(put_compiled)

$(if $(CATCH2),$(patsubst %,build/gpu/obj/%.o,$(CHAPTER_TESTS) $(COMMON_TESTS)): build/tests/flags)

# cuBLAS only where it is used, which the dependencies tell: it is large and slow to load. The driver API only where a
# source of ours includes <cuda.h>, since the toolkit's headers do: without a driver its library is missing. NCCL where
# the source itself includes it, or one that it includes.
its_deps = $(patsubst %.o,%.d,$(filter %.cu.o,$^))
link_gpu = $(NVCC) -arch=$(ARCH) -o $(new) $(filter %.o,$^) $$(grep -q cublas_v2.h $(its_deps) && echo -lcublas) \
  $$(grep -q cublasLt.h $(its_deps) && echo -lcublasLt) \
  $$(grep -qsE '^\#include <cuda[.]h>' $$(grep -ohE '(chapters|tests|common)/[^ :\\]+' $(its_deps)) && echo -lcuda) \
  $(if $(filter $(NCCL_USERS:%=build/gpu/obj/%.o),$^),$(LINK_NCCL))

GPU_TEST_BINARIES := $(foreach t,$(CHAPTER_TESTS) $(COMMON_TESTS),$(call test_binary,gpu,$t))
$(addprefix build/gpu/,$(CHAPTER_PROGRAMS)): build/gpu/obj/$$(call source_of,$$(@F)).o
$(GPU_TEST_BINARIES): build/gpu/%.test: build/gpu/obj/%.test.cu.o $(CATCH_MAIN)
$(addprefix build/gpu/,$(CHAPTER_PROGRAMS)) $(GPU_TEST_BINARIES):
	$(Q)mkdir -p $(@D)
	$(Q)$(link_gpu) $(if $(filter %.test,$@),$(CATCH2_LIBS)) && $(put)
