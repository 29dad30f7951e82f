# SPDX-License-Identifier: MIT
# Programs for the CPU backend. Every .cu and header is mirrored through the pre-pass into build/cpu/src, launches turned
# into calls, lines kept; then it is plain C++. Variants differ in flags, and each has its folder: build/VARIANT/05_name is
# linked from build/VARIANT/obj/chapters/05_name/name.cu.o and the backend (runtime.mk).

CPU_FLAGS := -std=c++17 -g $(WARNINGS) -Wno-unknown-pragmas -fno-strict-aliasing \
             $(if $(filter Darwin,$(shell uname -s)),,-fstack-clash-protection) -pthread \
             -D__CUDA_CPU__=1 -Icommon/cpu/cuda
# What nvcc defines for a .cu, and for nothing else.
AS_NVCC := -D__CUDACC__ -D__NVCC__

# ---- the variants ----------------------------------------------------------------------------------

VARIANTS := cpu $(if $(filter debug build/cpu-debug/%,$(GOALS)),cpu-debug) \
            $(if $(call is_needed,sanitizers),cpu-asan) $(if $(call is_needed,xray),cpu-xray)
# Of the target at hand; and the same names in the folder of each variant.
variant = $(word 2,$(subst /, ,$@))
in_each = $(foreach v,$(VARIANTS),$(addprefix build/$v/,$1))
objects = $(call in_each,$(1:%=obj/%.o))

# What programs are compiled with, and linked with. Those of the chapters run for less than a second, and tests for a
# second or two: optimising them (-O2) takes longer than it saves. Optimising what ASan and UBSan add takes longer than
# the small sizes run. X-ray's flags are in xray.mk.
# Arrays of known length that have no guard page: each index is compared, and engine/diagnosis/bounds.cpp is called.
BOUNDS := $(if $(is_clang),-fsanitize=array-bounds,-fsanitize=bounds)
ASAN_BUILD := -O0 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined \
        -DCUDA_CPU_ASAN=1
cpu.flags := -Og $(BOUNDS)
cpu-debug.flags := -O0 $(BOUNDS)
cpu-asan.flags := $(ASAN_BUILD)
cpu-asan.link := $(ASAN_BUILD)

$(foreach v,$(VARIANTS),$(call keep_flags,build/$v/flags,$(CXX) $(CPU_FLAGS) $($v.flags) / $($v.link)))

# Reports need lines, and no more of -g, in version 4, whose tables also tell right which file a shared header's lines
# are of. A debugger wants variables, too: they are a fourth of the time to compile a chapter, so make debug has a variant
# of its own. X-ray says for each line how many lanes pass it, so there g++ marks where statements begin, as it does for
# variables. The benchmarks of the backend itself are optimised.
LINES_ONLY := -gdwarf-4 -g1
MARKED_LINES := $(LINES_ONLY) $(if $(is_clang),,-gstatement-frontiers)
$(patsubst %,build/cpu/obj/%.o,$(CHAPTER_SOURCES)): ITS_FLAGS := $(LINES_ONLY)
$(patsubst %,build/cpu-xray/obj/%.o,$(CHAPTER_SOURCES)): ITS_FLAGS := $(MARKED_LINES)
$(call objects,$(TEST_SOURCES) $(XRAY_TESTS) $(CPP_TESTS)): ITS_FLAGS := $(LINES_ONLY)
$(call objects,$(ZOO)): ITS_FLAGS := -g1
$(call objects,$(CPU_BENCHES)): ITS_FLAGS := -O2
# The backend's own tests may name its insides, as "engine/memory/memory.h".
$(call objects,$(BACKEND_TESTS)): INSIDE := -iquote common/cpu

# ---- mirrored sources ------------------------------------------------------------------------------

MIRRORED_HEADERS := $(addprefix build/cpu/src/,$(HEADERS))
MIRRORED_CHAPTERS := $(addprefix build/cpu/src/,$(CHAPTER_SOURCES))

$(addprefix build/cpu/src/,$(CU_SOURCES)): build/cpu/src/%: % build/cpu/prepass
	$(Q)build/cpu/prepass $< $@

# All headers that changed at once, for one process; older than what it writes, so that these are up to date.
build/cpu/headers: $(HEADERS) build/cpu/prepass
	$(Q)touch $(new) && build/cpu/prepass --into=build/cpu/src $(if $(filter %/prepass,$?),$(HEADERS),$?) && $(put)
$(MIRRORED_HEADERS): build/cpu/headers
	$(if $(wildcard $@),,$(Q)build/cpu/prepass $(@:build/cpu/src/%=%) $@)

# In dependencies, build/cpu/src/chapters/05_x/../../common/a.cuh is the mirrored file build/cpu/src/common/a.cuh.
plain_paths = sed -E -e ':a' -e 's,[^/ ]*[^/. ]/[.][.]/,,' -e 'ta' $(new).deps >$(new).plain && mv -f $(new).plain $(new).deps

# ---- objects ---------------------------------------------------------------------------------------

# build/VARIANT/obj/SOURCE.o
its_source = $(patsubst build/$(variant)/obj/%.o,%,$@)
say_source = $(call say,c++,$(its_source)$(if $(filter-out cpu,$(variant)), ($(variant))))

$(call objects,$(CU_SOURCES)): | $(MIRRORED_HEADERS)
$(call objects,$(CU_SOURCES)): build/cpu/src/$$(its_source) build/$$(variant)/flags
	+$(if $(filter $(ZOO),$(its_source)),@:,$(say_source))
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(COLOUR) $(CPU_FLAGS) $($(variant).flags) $(ITS_FLAGS) $(CATCH2_FLAGS) $(INSIDE) \
	  $(AS_NVCC) $(or $(READ_FIRST),-include cuda_runtime.h) -x c++ $(compiled) -c build/cpu/src/$(its_source) \
	  && $(plain_paths) && $(put_compiled)

$(call objects,$(CPP_TESTS)): $$(its_source) build/$$(variant)/flags
	+$(say_source)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(COLOUR) $(CPU_FLAGS) $($(variant).flags) $(ITS_FLAGS) $(CATCH2_FLAGS) $(compiled) -c $(its_source) && $(put_compiled)

$(call objects,$(CHAPTER_TESTS) $(COMMON_TESTS)): | $(MIRRORED_CHAPTERS)
$(call objects,$(ZOO)): | build/cpu/zoo/announced
ifdef CATCH2
$(call objects,$(TEST_SOURCES) $(XRAY_TESTS) $(CPP_TESTS)): build/tests/flags
endif

build/cpu/zoo/announced: $(ZOO)
	+$(call say,c++,tests/backend/zoo: $(words $(ZOO)) wrong programs)
	@mkdir -p $(@D) && touch $@

# ---- headers that are compiled once ----------------------------------------------------------------

# What many sources include, g++ reads once for all of them, and before the first line of each (READ_FIRST): headers are
# most of what a program of the zoo costs, and a third of a test. ccache would remember nothing of such sources, so with it
# each reads for itself. Two tests are about what headers bring. Chapters share where all of them are compiled, for one it
# would take longer; one that was compiled without (|) is not compiled again for its sake.
ifeq ($(filter clang% ccache,$(notdir $(CXX))),)
SHARING_TESTS := $(filter-out %/standard_headers.test.cu %/toolkit_headers.test.cu,$(TEST_SOURCES) $(XRAY_TESTS))
SHARING_CHAPTERS := $(if $(ONE)$(filter build/%,$(GOALS)),,$(shell grep -l 'common[.]cuh"' $(CHAPTER_SOURCES)))

$(call in_each,first/zoo.h.gch): HEADER := common/cpu/cuda/cuda_runtime.h
$(call in_each,first/zoo.h.gch): ITS_FLAGS := -g1
$(call objects,$(ZOO)): build/$$(variant)/first/zoo.h.gch
$(call objects,$(ZOO)): READ_FIRST = -fpch-deps -include build/$(variant)/first/zoo.h

$(call in_each,first/chapters.h.gch): HEADER := build/cpu/src/common/common.cuh
build/cpu/first/chapters.h.gch: ITS_FLAGS := $(LINES_ONLY)
build/cpu-xray/first/chapters.h.gch: ITS_FLAGS := $(MARKED_LINES)
$(call objects,$(SHARING_CHAPTERS)): | build/$$(variant)/first/chapters.h.gch
$(call objects,$(SHARING_CHAPTERS)): READ_FIRST = -fpch-deps -include build/$(variant)/first/chapters.h

ifdef CATCH2
$(call in_each,first/tests.h.gch): HEADER := build/cpu/src/tests/kernel_testing.cuh
$(call in_each,first/tests.h.gch): ITS_FLAGS := $(LINES_ONLY) $(CATCH2_FLAGS)
$(call in_each,first/tests.h.gch): build/tests/flags
$(call objects,$(SHARING_TESTS)): build/$$(variant)/first/tests.h.gch
$(call objects,$(SHARING_TESTS)): READ_FIRST = -fpch-deps -include build/$(variant)/first/tests.h
endif

$(call in_each,first/zoo.h.gch first/chapters.h.gch first/tests.h.gch): | $(MIRRORED_HEADERS)
$(call in_each,first/zoo.h.gch first/chapters.h.gch first/tests.h.gch): build/$$(variant)/flags
	$(Q)mkdir -p $(@D)
	$(Q)printf '#include "%s"\n' cuda_runtime.h ../../../$(HEADER) >$(new) && mv -f $(new) $(@:.gch=)
	$(Q)$(CXX) $(COLOUR) $(CPU_FLAGS) $($(variant).flags) $(ITS_FLAGS) $(AS_NVCC) -x c++-header $(compiled) $(@:.gch=) && $(plain_paths) && $(put_compiled)
endif

# ---- programs and tests ----------------------------------------------------------------------------

ZOO_NAMES := $(ZOO:tests/backend/%.cu=%)
BENCH_NAMES := $(CPU_BENCHES:common/cpu/%.cu=%)
CU_TEST_NAMES := $(basename $(TEST_SOURCES) $(XRAY_TESTS))
CPP_TEST_NAMES := $(basename $(CPP_TESTS))

# Each of its object ...
its_folder = build/$(variant)
$(call in_each,$(CHAPTER_PROGRAMS)): $$(its_folder)/obj/$$(call source_of,$$(@F)).o
$(call in_each,$(ZOO_NAMES)): $$(its_folder)/obj/tests/backend/zoo/$$(@F).cu.o
$(call in_each,$(BENCH_NAMES)): $$(its_folder)/obj/common/cpu/bench/$$(@F).cu.o
$(call in_each,$(CU_TEST_NAMES)): $$(patsubst $$(its_folder)/%,$$(its_folder)/obj/%.cu.o,$$@)
$(call in_each,$(CPP_TEST_NAMES)): $$(patsubst $$(its_folder)/%,$$(its_folder)/obj/%.cpp.o,$$@)
$(call in_each,$(CU_TEST_NAMES) $(CPP_TEST_NAMES)): $(CATCH_MAIN)

# ... and of the libraries that it uses. A chapter's test uses those of all the chapter's programs.
users_of = $(shell common/cpu/libs/users.sh $1 $(HEADERS) $(CU_SOURCES))
binaries_of = $(foreach s,$(filter %.cu,$1),$(if $(filter chapters/%,$s),$(call program_of,$s) tests/$(call chapter_of,$s).test,\
  $(if $(filter $(ZOO),$s),$(s:tests/backend/%.cu=%),$(basename $s))))
$(call in_each,$(call binaries_of,$(call users_of,cublas))): $$(libraries)/libcublas.a
$(call in_each,$(call binaries_of,$(call users_of,driver))): $$(libraries)/driver.o
$(call in_each,$(call binaries_of,$(call users_of,graphs))): $$(libraries)/graphs.o
$(call in_each,$(call binaries_of,$(call users_of,nccl))): $$(libraries)/nccl.o
$(call in_each,$(call binaries_of,$(call users_of,tensor))): $$(libraries)/tensor.o
$(call in_each,$(call binaries_of,$(call users_of,textures))): $$(libraries)/textures.o

$(call in_each,$(CHAPTER_PROGRAMS) $(ZOO_NAMES) $(BENCH_NAMES) $(CU_TEST_NAMES) $(CPP_TEST_NAMES)): build/$$(variant)/libcudacpu.a
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -pthread $($(variant).link) -o $(new) $(filter %.o %/libcublas.a,$^) build/$(variant)/libcudacpu.a -ldl \
	  $(if $(filter %.test,$@),$(CATCH2_LIBS)) && $(put)
