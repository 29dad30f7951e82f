# SPDX-License-Identifier: MIT
# Chapters and their tests, compiled by nvcc.

GPU_FLAGS := -std=c++17 -O3 -lineinfo -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror

$(call keep_flags,build/gpu/flags,$(NVCC) -arch=$(ARCH) $(GPU_FLAGS))

GPU_SOURCES := $(CHAPTER_SOURCES) $(CHAPTER_TESTS) $(COMMON_TESTS)
$(patsubst %,build/gpu/obj/%.o,$(GPU_SOURCES)): build/gpu/obj/%.o: % build/gpu/flags
	+$(call say,nvcc,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(NVCC) $(GPU_FLAGS) -arch=$(ARCH) $(CATCH2_FLAGS) $(compiled) -c $< && $(put_compiled)

$(if $(CATCH2),$(patsubst %,build/gpu/obj/%.o,$(CHAPTER_TESTS) $(COMMON_TESTS)): build/tests/flags)

# cuBLAS only where it is used, which the dependencies tell: it is large and slow to load. The driver API only where a
# source of ours includes <cuda.h>, since the toolkit's headers do: without a driver its library is missing.
its_deps = $(patsubst %.o,%.d,$(filter %.cu.o,$^))
link_gpu = $(NVCC) -arch=$(ARCH) -o $(new) $(filter %.o,$^) $$(grep -q cublas_v2.h $(its_deps) && echo -lcublas) \
  $$(grep -qsE '^\#include <cuda[.]h>' $$(grep -ohE '(chapters|tests|common)/[^ :\\]+' $(its_deps)) && echo -lcuda)

GPU_TEST_BINARIES := $(foreach t,$(CHAPTER_TESTS) $(COMMON_TESTS),$(call test_binary,gpu,$t))
$(addprefix build/gpu/,$(CHAPTER_PROGRAMS)): build/gpu/obj/$$(call source_of,$$(@F)).o
$(GPU_TEST_BINARIES): build/gpu/%.test: build/gpu/obj/%.test.cu.o $(CATCH_MAIN)
$(addprefix build/gpu/,$(CHAPTER_PROGRAMS)) $(GPU_TEST_BINARIES):
	$(Q)mkdir -p $(@D)
	$(Q)$(link_gpu) $(if $(filter %.test,$@),$(CATCH2_LIBS)) && $(put)
