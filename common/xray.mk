# SPDX-License-Identifier: MIT
# X-ray: compiled for TSan, which calls a function at every load and store, and for coverage, which calls one at
# the beginning of every piece of code without a jump, but linked with functions of our own
# (common/cpu/watch/hooks.cpp). A load in the source stays one load: nothing is split, doubled or joined, and
# functions of up to 200 instructions are inlined, so that each place in the code is one line of the kernel;
# larger ones are told apart by their callers. (1000 count the same and compile twice as long.)
INLINE_MOST := -finline-functions $(if $(is_clang),,$(foreach p,inline-unit-growth=1000 \
                large-function-growth=10000 max-inline-insns-auto=200 max-inline-insns-single=200,--param $p))
KEEP_LOADS := $(if $(is_clang),,-fno-tree-sra -fno-ipa-sra -fno-store-merging)
# clang leaves out loads before a store to the same place unless it is told not to; of atomics it would
# tell twice, since CUDA's tell themselves; structures it copies by memcpy.
FOR_XRAY := $(if $(is_clang),-mllvm -tsan-instrument-read-before-write -mllvm -tsan-instrument-atomics=0,-Wno-tsan)
# The program's calls of these, and what clang makes of structures, come to functions of ours; the backend's own do not.
# Where functions are fortified by default (Ubuntu), others would be called in their place.
COPYING := memcpy memmove memset
PLAIN_CALLS := $(COPYING:%=-fno-builtin-%) -U_FORTIFY_SOURCE
XRAY_LINK := $(if $(filter Darwin,$(shell uname -s)),,$(COPYING:%=-Wl$(comma)--wrap=%))
# Debug information of version 4: of version 5's tables addr2line takes the wrong file where calls are inlined.
# Volatile accesses are told apart, for the race detector.
VOLATILES := $(if $(is_clang),-mllvm -tsan-distinguish-volatile=1,--param tsan-distinguish-volatile=1)
# clang would tell of a piece only where others do not tell of it already.
EVERY_PIECE := $(if $(is_clang),bb$(comma)no-prune$(comma))
XRAY := -O1 -gdwarf-4 $(INLINE_MOST) $(KEEP_LOADS) $(PLAIN_CALLS) -fsanitize=thread $(VOLATILES) -fsanitize-coverage=$(EVERY_PIECE)trace-pc $(FOR_XRAY) \
        -DCUDA_CPU_XRAY=1 -iquote common/cpu

cpu-xray.flags := $(XRAY)
cpu-xray.link := $(XRAY_LINK)
XRAY_SOURCES := $(wildcard common/cpu/xray/*.cpp common/cpu/races/*.cpp common/cpu/watch/*.cpp)
build/cpu-xray/xray.o: $(XRAY_SOURCES) build/cpu/runtime-flags | build/cpu/announced
	+$(call say,c++,common/cpu: X-ray and the race detector$(comma) compiled once)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(COLOUR) $(CPU_FLAGS) -g1 -O2 $(compiled) $(call as_one,$(XRAY_SOURCES)) && $(put_compiled)

build/cpu-xray/libcudacpu.a: build/cpu/hot.o build/cpu-xray/xray.o build/cpu/rest.o
	$(Q)rm -f $(new) && ar rcs $(new) $^$(if $(XRAY_LINK), && objcopy $(foreach f,$(COPYING),--redefine-sym $f=__real_$f) $(new)) && $(put)

# The chapters whose figures draw what X-ray counted.
TRACED := $(foreach c,$(CHOSEN),$(if $(shell grep -lE '^\[(traces|events|steps)\]' chapters/$c/settings 2>/dev/null),$c))
TRACED_PROGRAMS := $(foreach c,$(TRACED),$(addprefix build/cpu-xray/,$c $(filter $(call number_of,$c)_%,$(EXPERIMENTS))))
