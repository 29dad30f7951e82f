# SPDX-License-Identifier: MIT
# The CPU backend itself: the pre-pass, build/VARIANT/libcudacpu.a, and the libraries that some programs use.

# It is compiled as two files, for much of what each source costs are standard headers that they share: `hot`, which runs
# whenever one CUDA thread follows another, and, not optimised, the rest. hot waits for the mirrored headers, so that two
# cores which also compile the pre-pass and a chapter end together. It is first in the library, so that the linker takes
# its copies of what both instantiate.
# Debuggers are told of lines and functions (-g1), not of variables: that would cost a fourth more. It throws nothing
# and catches nothing.
ENGINE := common/cpu/engine
HOT := $(wildcard $(ENGINE)/meeting/*.cpp $(ENGINE)/scheduling/*.cpp) $(ENGINE)/memory/shared.cpp $(ENGINE)/state/current.cpp
REST := $(filter-out $(HOT),$(wildcard $(ENGINE)/*/*.cpp common/cpu/runtime/*.cpp common/cpu/report/*.cpp))
PREPASS := $(wildcard common/cpu/prepass/*.cpp)
# Compiled when a program uses them: cuBLAS, whose products are optimised; and as NAME.o all of common/cpu/libs/NAME, the
# driver API's contexts, graphs with the capture of streams, NCCL, the instructions of tensor cores, textures with arrays.
CUBLAS := $(filter-out %/product_kernel.cpp,$(wildcard common/cpu/libs/cublas/*.cpp))
LIBRARIES := driver graphs nccl tensor textures
said.driver := contexts of the driver API
said.graphs := graphs
said.nccl := NCCL
said.tensor := instructions of tensor cores
said.textures := textures

# Variants with a backend of their own. X-ray's (xray.mk) has parts of cpu's, and does not look into its libraries.
RUNTIMES := $(filter cpu cpu-asan,$(VARIANTS))
libraries = build/$(or $(filter cpu-asan,$(variant)),cpu)

# What it is compiled with: all of it, `hot`, and the rest.
cpu.hot := -O2
cpu.rest := -O0
cpu-asan.runtime := $(ASAN_BUILD)
cpu-asan.hot := -O1

$(foreach v,$(RUNTIMES),$(call keep_flags,build/$v/runtime-flags,\
  $(CXX) $(CPU_FLAGS) -g1 $($v.runtime) / $($v.hot) / $($v.rest) / $(HOT) $(REST)))

# The compiler does not stop to look for memory that it could use again, which takes a tenth more of both.
NO_TIDYING := $(if $(is_clang),,--param ggc-min-heapsize=1048576)
# A source that is gone since the last build is no error: what was made of it is made anew.
common/cpu/%.cpp: ;
# Several sources as one: $(call as_one,SOURCES). $(call compile_runtime,FLAGS,SOURCES)
as_one = $(addprefix -include ,$(wordlist 2,999,$1)) -x c++ -c $(firstword $1)
compile_runtime = $(Q)$(CXX) $(COLOUR) $(CPU_FLAGS) -g1 $($(variant).runtime) $1 $(NO_TIDYING) -fno-exceptions $(compiled) \
  $(call as_one,$2) && $(put_compiled)
say_library = $(call say,c++,common/cpu/libs: $1 for the CPU backend$(comma) compiled once)

# One line for the backend as a whole, when any of it is about to be compiled.
build/cpu/announced: $(HOT) $(REST) $(PREPASS) $(wildcard common/cpu/*/*.h common/cpu/libs/*/*.h $(ENGINE)/*/*.h)
	+$(call say,c++,common/cpu: the CPU backend$(comma) compiled once: that takes up to a minute)
	@mkdir -p $(@D) && touch $@

# Not optimised: it runs for milliseconds.
build/cpu/prepass: $(PREPASS) build/cpu/flags | build/cpu/announced
	$(Q)$(CXX) $(COLOUR) -std=c++17 -O0 $(WARNINGS) $(NO_TIDYING) -MMD -MP -MF $(new).deps -MT $@ \
	  $(call as_one,$(PREPASS)) -o $(new).o && mv -f $(new).deps $@.d && $(CXX) -o $(new) $(new).o && rm -f $(new).o && $(put)

# A jump from a broken kernel's stack to the worker's own is what glibc takes for a mistake where fortified functions are
# the default (Ubuntu).
$(RUNTIMES:%=build/%/hot.o) $(RUNTIMES:%=build/%/rest.o): | build/cpu/announced
$(RUNTIMES:%=build/%/hot.o): | $(MIRRORED_HEADERS)
$(RUNTIMES:%=build/%/hot.o): $(HOT) build/$$(variant)/runtime-flags
	$(call compile_runtime,$($(variant).hot) -U_FORTIFY_SOURCE,$(HOT))
$(RUNTIMES:%=build/%/rest.o): $(REST) build/$$(variant)/runtime-flags
	$(call compile_runtime,$($(variant).rest) -U_FORTIFY_SOURCE,$(REST))

$(RUNTIMES:%=build/%/libcudacpu.a): $$(@D)/hot.o $$(@D)/rest.o
	$(Q)rm -f $(new) && ar rcs $(new) $^ && $(put)
build/cpu-debug/libcudacpu.a: build/cpu/libcudacpu.a
	$(Q)cp $< $(new) && $(put)

library = $(basename $(@F))
library_sources = $(wildcard common/cpu/libs/$(library)/*.cpp)
$(foreach v,$(RUNTIMES),$(LIBRARIES:%=build/$v/%.o)): $$(library_sources) build/$$(variant)/runtime-flags
	+$(call say_library,$(said.$(library)))
	$(call compile_runtime,$($(variant).$(if $(filter driver graphs,$(library)),rest,hot)),$(library_sources))

$(RUNTIMES:%=build/%/cublas/calls.o): $(CUBLAS) build/$$(variant)/runtime-flags
	+$(call say_library,cuBLAS)
	$(Q)mkdir -p $(@D)
	$(call compile_runtime,-O1,$(CUBLAS))
$(RUNTIMES:%=build/%/cublas/product_kernel.o): common/cpu/libs/cublas/product_kernel.cpp build/$$(variant)/runtime-flags
	$(Q)mkdir -p $(@D)
	$(call compile_runtime,-O3,common/cpu/libs/cublas/product_kernel.cpp)
$(RUNTIMES:%=build/%/libcublas.a): $$(@D)/cublas/calls.o $$(@D)/cublas/product_kernel.o
	$(Q)rm -f $(new) && ar rcs $(new) $^ && $(put)
