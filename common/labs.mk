# SPDX-License-Identifier: MIT
# Labs: what labs.sh is told, and what every check of an exercise is built with. common/labs/build.py
# asks for that, and compiles the exercises itself.

LAB_SETTINGS = CH='$(ONE)' EX='$(EX)' FORCE='$(FORCE)' GDB='$(GDB)' BACKEND='$(CHOSEN_BACKEND)' \
  CXX='$(CXX)' NVCC='$(NVCC)' ARCH='$(ARCH)' CATCH2_DIR='$(CATCH2_DIR)' DIR=$(call as_typed,DIR) OUT=$(call as_typed,OUT) JOBS='$(JOBS)' TIME='$(TIME)' SHARE='$(SHARE)'
labs_sh = $(direct)common/labs/labs.sh $1 $(LAB_SETTINGS)

ifneq ($(call is_needed,labs),)
LAB_READY := $(foreach v,cpu cpu-asan cpu-xray gpu,build/labs/$v/ready)
$(LAB_READY): $(CATCH_MAIN) $(LAB_PARTS)
	@mkdir -p $(@D)
	@echo '$(CATCH2_LIBS)' >$@
# Labs of chapter 13 have textures, those of chapter 16 tensor cores, those of chapter 17 NCCL, and those of chapter 18 contexts;
# X-ray does not look into them.
$(filter build/labs/cpu%,$(LAB_READY)): build/labs/%/ready: build/%/libcudacpu.a $(MIRRORED_HEADERS)
OF_LABS := textures.o driver.o nccl.o tensor.o
build/labs/cpu/ready build/labs/cpu-xray/ready: $(OF_LABS:%=build/cpu/%)
build/labs/cpu-asan/ready: $(OF_LABS:%=build/cpu-asan/%)
endif
