# SPDX-License-Identifier: MIT
# Every .cu and header is mirrored through the pre-pass into build/cpu/src, launches turned into
# calls, lines kept; then it is plain C++. Variants differ in flags: cpu, cpu-debug, cpu-asan, cpu-tsan.

CPU_FLAGS := -std=c++17 -g $(WARNINGS) -Wno-unknown-pragmas -fno-strict-aliasing \
             $(if $(filter Darwin,$(shell uname -s)),,-fstack-clash-protection) -pthread \
             -D__CUDA_CPU__=1 -Icommon/cpu/cuda
# What nvcc defines for a .cu, and for nothing else.
AS_NVCC := -D__CUDACC__ -D__NVCC__
CU_AS_CPP := $(AS_NVCC) -include cuda_runtime.h -x c++

# The backend is compiled as three files, for much of what each source costs are standard headers that they share:
# `hot`, which runs whenever one CUDA thread follows another, and, not optimised, `calls`, which a program makes, and the
# rest. They are cut, and wait for the mirrored headers, so that two cores which also compile the pre-pass and a chapter
# end together. hot is first in the library, so that the linker takes its copies of what several instantiate.
# Debuggers are told of lines and functions (-g1), not of variables: that would cost a fourth more. It throws nothing
# and catches nothing.
ENGINE := common/cpu/engine
HOT := $(wildcard $(ENGINE)/meeting/*.cpp $(ENGINE)/scheduling/*.cpp) $(ENGINE)/memory/shared.cpp $(ENGINE)/state/current.cpp
REST := $(wildcard $(ENGINE)/arithmetic/*.cpp) $(ENGINE)/memory/symbols.cpp $(ENGINE)/state/settings.cpp
CALLS := $(filter-out $(HOT) $(REST),$(wildcard $(ENGINE)/*/*.cpp common/cpu/runtime/*.cpp common/cpu/report/*.cpp))
RUNTIME := $(HOT) $(REST) $(CALLS)
piece = $(if $(filter hot.o,$1),$(HOT),$(if $(filter rest.o,$1),$(REST),$(CALLS)))
PREPASS := $(wildcard common/cpu/prepass/*.cpp)
# cuBLAS is a library of its own, built for the first program that includes <cublas_v2.h>. What computes products
# is optimised.
CUBLAS := $(filter-out %/product_kernel.cpp,$(wildcard common/cpu/libs/cublas/*.cpp))
CUBLAS_USERS := $(shell common/cpu/libs/users.sh cublas $(HEADERS) $(CU_SOURCES))
# Graphs with the capture of streams, and textures with arrays, are compiled when a program uses them. Graphs also copy
# from arrays to arrays.
GRAPHS := $(wildcard common/cpu/libs/graphs/*.cpp)
TEXTURES := $(wildcard common/cpu/libs/textures/*.cpp)
GRAPH_USERS := $(shell common/cpu/libs/users.sh graphs $(CU_SOURCES))
TEXTURE_USERS := $(shell common/cpu/libs/users.sh textures $(CU_SOURCES))
# $(call programs_of,VARIANT,SOURCES)
programs_of = $(foreach u,$2,$(if $(filter $u,$(ZOO)),build/$1/zoo/$(basename $(notdir $u)),\
  $(if $(filter $u,$(CHAPTER_SOURCES)),build/$1/$(call program_of,$u) build/$1/tests/$(word 2,$(subst /, ,$u)).test,\
  $(call test_binary,$1,$u))))
# The compiler does not stop to look for memory that it could use again, which takes a tenth more of both.
NO_TIDYING := $(if $(is_clang),,--param ggc-min-heapsize=1048576)
# A source that is gone since the last build is no error: what was made of it is made anew.
common/cpu/%.cpp: ;
as_one = $(addprefix -include ,$(wordlist 2,999,$1)) -x c++ -c $(firstword $1)
as_one_part = $(NO_TIDYING) -fno-exceptions $(compiled) $(call as_one,$1) && $(put_compiled)

MIRRORED_HEADERS := $(addprefix build/cpu/src/,$(HEADERS))
MIRRORED_CHAPTERS := $(addprefix build/cpu/src/,$(CHAPTER_SOURCES))

# Not optimised: it runs for milliseconds.
build/cpu/prepass: $(PREPASS) build/cpu/flags | build/cpu/announced
	$(Q)$(CXX) $(COLOUR) -std=c++17 -O0 $(WARNINGS) $(NO_TIDYING) -MMD -MP -MF $(new).deps -MT $@ \
	  $(call as_one,$(PREPASS)) -o $(new).o && mv -f $(new).deps $@.d && $(CXX) -o $(new) $(new).o && rm -f $(new).o && $(put)

# One line for the backend as a whole, when any of it is about to be compiled.
build/cpu/announced: $(RUNTIME) $(PREPASS) $(wildcard common/cpu/*/*.h common/cpu/libs/*/*.h $(ENGINE)/*/*.h)
	+$(call say,c++,common/cpu: the CPU backend$(comma) compiled once)
	@mkdir -p $(@D) && touch $@

$(addprefix build/cpu/src/,$(CU_SOURCES)): build/cpu/src/%: % build/cpu/prepass
	$(Q)build/cpu/prepass $< $@

# All headers that changed at once, for one process; older than what it writes, so that these are up to date.
build/cpu/headers: $(HEADERS) build/cpu/prepass
	$(Q)touch $(new) && build/cpu/prepass --into=build/cpu/src $(if $(filter %/prepass,$?),$(HEADERS),$?) && $(put)
$(MIRRORED_HEADERS): build/cpu/headers
	$(if $(wildcard $@),,$(Q)build/cpu/prepass $(@:build/cpu/src/%=%) $@)

build/cpu/zoo/announced: $(ZOO)
	+$(call say,c++,tests/backend/zoo: $(words $(ZOO)) wrong programs)
	@mkdir -p $(@D) && touch $@

# In dependencies, build/cpu/src/chapters/05_x/../../common/a.cuh is the mirrored file build/cpu/src/common/a.cuh.
plain_paths = sed -E -e ':a' -e 's,[^/ ]*[^/. ]/[.][.]/,,' -e 'ta' $(new).deps >$(new).plain && mv -f $(new).plain $(new).deps

# The backend itself, compiled for a variant: $(call cpu_runtime,NAME,FLAGS,FLAGS OF hot,FLAGS OF rest). It jumps
# from a broken kernel's stack to the worker's own, which glibc takes for a mistake where fortified functions are
# the default (Ubuntu).
define cpu_runtime
$(call keep_flags,build/$1/runtime-flags,$(CXX) $(CPU_FLAGS) -g1 $2 / $3 / $4 / $(RUNTIME))

build/$1/hot.o build/$1/rest.o: | $(MIRRORED_HEADERS)
build/$1/calls.o: $(CALLS)
build/$1/hot.o: $(HOT)
build/$1/rest.o: $(REST)
build/$1/calls.o build/$1/hot.o build/$1/rest.o: build/$1/runtime-flags | build/cpu/announced
	$$(Q)$$(CXX) $$(COLOUR) $$(CPU_FLAGS) -g1 $2 $$(if $$(filter %/hot.o,$$@),$3,$4) -U_FORTIFY_SOURCE $$(call as_one_part,$$(call piece,$$(@F)))

build/$1/graphs.o: $(GRAPHS)
build/$1/textures.o: $(TEXTURES)
build/$1/graphs.o build/$1/textures.o: build/$1/runtime-flags
	+$$(call say,c++,common/cpu/libs: $$(basename $$(@F)) for the CPU backend$$(comma) compiled once)
	$$(Q)$$(CXX) $$(COLOUR) $$(CPU_FLAGS) -g1 $2 \
	  $$(if $$(filter %/graphs.o,$$@),$4 $$(call as_one_part,$(GRAPHS)),$3 $$(call as_one_part,$(TEXTURES)))

build/$1/libcudacpu.a: build/$1/calls.o build/$1/hot.o build/$1/rest.o
	$$(Q)rm -f $$(new) && ar rcs $$(new) $$(wordlist 2,3,$$^) $$< && $$(put)

build/$1/cublas/product_kernel.o: common/cpu/libs/cublas/product_kernel.cpp
build/$1/cublas/calls.o: $(CUBLAS)
build/$1/cublas/product_kernel.o build/$1/cublas/calls.o: build/$1/runtime-flags
	+$$(if $$(filter %/calls.o,$$@),$$(call say,c++,common/cpu/libs/cublas: cuBLAS for the CPU backend$$(comma) compiled once))
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) $$(COLOUR) $$(CPU_FLAGS) -g1 $2 \
	  $$(if $$(filter %/calls.o,$$@),-O1 $$(call as_one_part,$(CUBLAS)),-O3 $$(call as_one_part,common/cpu/libs/cublas/product_kernel.cpp))

build/$1/libcublas.a: build/$1/cublas/calls.o build/$1/cublas/product_kernel.o
	$$(Q)rm -f $$(new) && ar rcs $$(new) $$^ && $$(put)
endef

# Programs of the chapters run for less than a second, and tests for a second or two: optimising them (-O2) takes
# longer than it saves. Lines are all that reports need of -g, in version 4, whose tables also tell right which file a
# shared header's lines are of. A debugger wants variables, too: they are a fourth of the time to compile a chapter,
# so make debug has a variant of its own. The benchmarks of the backend itself are optimised.
LINES_ONLY := -gdwarf-4 -g1
# X-ray says for each line how many lanes pass it, so there g++ marks where statements begin, as it does for variables.
with_lines = $(if $(filter cpu cpu-xray,$1),$(LINES_ONLY) $(if $(filter cpu,$1)$(is_clang),,-gstatement-frontiers))
BENCH_FLAGS := -O2

# Where a variant's libraries are: X-ray does not look into them.
library_of = build/$(if $(filter cpu-xray cpu-races cpu-debug,$1),cpu,$1)
cublas_for = $(library_of)/libcublas.a
# What many sources include, g++ reads once for all of them, and before the first line of each: $(call read_compiled,
# VARIANT,NAME,HEADER,FLAGS,SOURCES,|). With the bar, a source that was compiled without it is not compiled again for its
# sake. ccache would remember nothing of such sources, so with it each reads for itself. Two tests are about what headers
# bring. Chapters share where all of them are compiled: for one it would take longer.
SHARING_TESTS := $(filter-out %/standard_headers.test.cu %/toolkit_headers.test.cu,$(TEST_SOURCES) $(XRAY_TESTS))
SHARING_CHAPTERS := $(if $(ONE),,$(shell grep -l 'common[.]cuh"' $(CHAPTER_SOURCES)))
define read_compiled
ifeq ($(filter clang% ccache,$(notdir $(CXX))),)
$(patsubst %,build/$1/obj/%.o,$5): $6 build/$1/first/$2.h.gch
$(patsubst %,build/$1/obj/%.o,$5): CU_AS_CPP := $(AS_NVCC) -fpch-deps -include build/$1/first/$2.h -x c++
build/$1/first/$2.h.gch: $3 build/$1/flags | $(MIRRORED_HEADERS)
	$$(Q)mkdir -p $$(@D)
	$$(Q)printf '#include "%s"\n' cuda_runtime.h ../../../$3 >$$(new) && mv -f $$(new) $$(@:.gch=)
	$$(Q)$$(CXX) $$(COLOUR) $$(CPU_FLAGS) $4 $(AS_NVCC) -x c++-header $$(compiled) $$(@:.gch=) && $$(plain_paths) && $$(put_compiled)
endif
endef

# What X-ray counts has tests of its own.
tests_of = $(CHAPTER_TESTS) $(COMMON_TESTS) $(BACKEND_TESTS) $(if $(filter cpu-xray,$1),$(XRAY_TESTS))

# Programs for it: $(call cpu_variant,NAME,FLAGS,FLAGS OF THE LINKER)
define cpu_variant
$(call keep_flags,build/$1/flags,$(CXX) $(CPU_FLAGS) $2 / $3)

$(patsubst %,build/$1/obj/%.o,$(CU_SOURCES)): build/$1/obj/%.o: build/cpu/src/% build/$1/flags \
    | $(MIRRORED_HEADERS)
	+$$(if $$(filter tests/backend/zoo/%,$$*),@:,$$(call say,c++,$$*$(if $(filter-out cpu,$1), ($1))))
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) $$(COLOUR) $$(CPU_FLAGS) $2 $$(ITS_FLAGS) $$(CATCH2_FLAGS) $$(INSIDE) $$(CU_AS_CPP) $$(compiled) -c $$< \
	  && $$(plain_paths) && $$(put_compiled)
$(patsubst %,build/$1/obj/%.o,$(CHAPTER_TESTS) $(COMMON_TESTS)): | $(MIRRORED_CHAPTERS)
$(patsubst %,build/$1/obj/%.o,$(TEST_SOURCES) $(XRAY_TESTS) $(filter %.cpp,$(BACKEND_TESTS))): ITS_FLAGS := $(LINES_ONLY)
$(if $(call with_lines,$1),$(patsubst %,build/$1/obj/%.o,$(CHAPTER_SOURCES)): ITS_FLAGS := $(call with_lines,$1))
$(patsubst %,build/$1/obj/%.o,$(CPU_BENCHES)): ITS_FLAGS := $(BENCH_FLAGS)
# The backend's own tests may name its insides, as "engine/memory/memory.h".
$(patsubst %,build/$1/obj/%.o,$(BACKEND_TESTS)): INSIDE := -iquote common/cpu

$(patsubst %,build/$1/obj/%.o,$(filter %.cpp,$(BACKEND_TESTS))): build/$1/obj/%.o: % build/$1/flags
	+$$(call say,c++,$$*$(if $(filter-out cpu,$1), ($1)))
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) $$(COLOUR) $$(CPU_FLAGS) $2 $$(ITS_FLAGS) $$(CATCH2_FLAGS) $$(compiled) -c $$< && $$(put_compiled)

$(if $(CATCH2),$(patsubst %,build/$1/obj/%.o,$(TEST_SOURCES) $(call tests_of,$1)) build/$1/first/tests.h.gch: build/tests/flags)

# Headers are most of what a program of the zoo costs, and a third of a test. Reports of the zoo name lines (-g1).
$(patsubst %,build/$1/obj/%.o,$(ZOO)): | build/cpu/zoo/announced
$(patsubst %,build/$1/obj/%.o,$(ZOO)): ITS_FLAGS := -g1
$(call read_compiled,$1,first,common/cpu/cuda/cuda_runtime.h,$2 -g1,$(ZOO))
$(if $(ONE)$(filter build/%,$(GOALS)),,$(call read_compiled,$1,chapters,build/cpu/src/common/common.cuh,$2 $(call with_lines,$1),$(SHARING_CHAPTERS),|))
$(if $(CATCH2),$(call read_compiled,$1,tests,build/cpu/src/tests/kernel_testing.cuh,$2 $(LINES_ONLY) $(CATCH2_FLAGS),$(SHARING_TESTS)))
$(foreach c,$(CHAPTER_PROGRAMS),$(eval build/$1/$c: build/$1/obj/$(call source_of,$c).o))
$(foreach z,$(ZOO),$(eval build/$1/zoo/$(basename $(notdir $z)): build/$1/obj/$z.o))
$(foreach b,$(CPU_BENCHES),$(eval build/$1/bench/$(basename $(notdir $b)): build/$1/obj/$b.o))
$1_PROGRAMS := $(patsubst %,build/$1/%,$(CHAPTER_PROGRAMS) $(patsubst tests/backend/%.cu,%,$(ZOO)) \
    $(patsubst common/cpu/%.cu,%,$(CPU_BENCHES)))
$(call programs_of,$1,$(CUBLAS_USERS)): $(call cublas_for,$1)
$(call programs_of,$1,$(GRAPH_USERS)): $(call library_of,$1)/graphs.o
$(call programs_of,$1,$(TEXTURE_USERS)): $(call library_of,$1)/textures.o

$(foreach t,$(call tests_of,$1),$(eval $(call test_binary,$1,$t): build/$1/obj/$t.o))
$1_TESTS := $(foreach t,$(call tests_of,$1),$(call test_binary,$1,$t))
$$($1_TESTS): $(CATCH_MAIN)
$$($1_PROGRAMS) $$($1_TESTS): build/$1/libcudacpu.a
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) -pthread $3 -o $$(new) $$(filter %.o %/libcublas.a,$$^) build/$1/libcudacpu.a -ldl \
	  $$(if $$(filter %.test,$$@),$$(CATCH2_LIBS)) && $$(put)
endef

# Reports name lines and functions (-g1). Optimising what ASan and UBSan add takes longer than the small sizes run.
ASAN_BUILD := -O0 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined \
        -DCUDA_CPU_ASAN=1
TSAN_BUILD := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread -DCUDA_CPU_TSAN=1
# Arrays of known length that have no guard page: each index is compared, and report/bounds.cpp is called.
BOUNDS := $(if $(is_clang),-fsanitize=array-bounds,-fsanitize=bounds)
$(eval $(call cpu_runtime,cpu,,-O2,-O0))
$(eval $(call cpu_variant,cpu,-Og $(BOUNDS),))
ifneq ($(filter debug build/cpu-debug/%,$(GOALS)),)
$(eval $(call cpu_variant,cpu-debug,-O0 $(BOUNDS),))
build/cpu-debug/libcudacpu.a: build/cpu/libcudacpu.a
	$(Q)cp $< $(new) && $(put)
endif
ifneq ($(call is_needed,sanitizers),)
$(eval $(call cpu_runtime,cpu-asan,$(ASAN_BUILD),-O1))
$(eval $(call cpu_variant,cpu-asan,$(ASAN_BUILD),$(ASAN_BUILD)))
# The scheduler tells TSan about its fibers itself and must not be watched while it does.
$(eval $(call cpu_runtime,cpu-tsan,-fno-omit-frame-pointer -DCUDA_CPU_TSAN=1,-O2,-O0))
$(eval $(call cpu_variant,cpu-tsan,$(TSAN_BUILD),$(TSAN_BUILD)))
endif
