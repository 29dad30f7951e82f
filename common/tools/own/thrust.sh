# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# Sourced by build.sh: Thrust for programs of one's own on the CPU backend, with its own system for the host, and
# headers of cuda::std.

# thrust_home: the folder where Thrust's headers are: the toolkit's, or the system's
thrust_home() {
  local nvcc folder toolkit=/usr/local/cuda
  nvcc=$(command -v nvcc) && toolkit=$(dirname "$(dirname "$nvcc")")
  for folder in "$toolkit"/include/cccl "$toolkit"/include /usr/local/cuda/include/cccl /usr/local/cuda/include /usr/include; do
    if [ -f "$folder/thrust/version.h" ]; then echo "$folder" && return 0; fi
  done
  return 1
}

# thrust_header NAME: makes build/own/library/NAME, by which a program's <thrust/...> goes to Thrust's own. Meanwhile
# nobody is nvcc, since Thrust would then ask for a GPU's code. The array `thrust_flags` says where to look.
thrust_header() {
  local home part name=$1 header=build/own/library/$1
  thrust_flags=(-Ibuild/own/library -Icommon/cpu/thrust -isystem build/own/library/home
    -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP -DTHRUST_IGNORE_CUB_VERSION_CHECK -DCCCL_DISABLE_FP16_SUPPORT)
  mkdir -p "$(dirname "$header")" build/own/library/home || exit 2
  {
    if [ "${name#cub/}" != "$name" ]; then
      echo "#error \"<$name>: CUB has nothing for the host and is not supported on the CPU backend; Thrust is\""
    elif ! home=$(thrust_home); then
      echo "#error \"<$name>: Thrust is not here; the CUDA toolkit has it, and so has Debian's libthrust-dev\""
    else
      for part in thrust cuda nv; do
        [ ! -d "$home/$part" ] || ln -sfn "$home/$part" "build/own/library/home/$part"
      done
      printf '#pragma push_macro("%s")\n#undef %s\n' __CUDACC__ __CUDACC__ __NVCC__ __NVCC__
      echo "#include_next <$name>"
      printf '#pragma pop_macro("%s")\n' __CUDACC__ __NVCC__
    fi
  } >"$header.$$" && mv -f "$header.$$" "$header"
}

# standard_header NAME: makes build/own/standard/NAME, where a program's <cuda/std/array> is the standard library's:
# one compilation serves host and device. With Thrust come NVIDIA's own, which then go before.
standard_header() {
  local name=$1 header=build/own/standard/$1
  mkdir -p "$(dirname "$header")" || exit 2
  case ${name#cuda/std/} in
    array | bit | cmath | complex | cstddef | cstdint | cstdlib | cstring | functional | initializer_list | iterator | \
      limits | numeric | optional | ratio | string_view | tuple | type_traits | utility | variant)
      printf '#include <%s>\nnamespace cuda::std {\nusing namespace ::std;\n}\n' "${name#cuda/std/}"
      ;;
    *) echo "#pragma GCC error \"<$name>: the CPU backend has no such header of cuda::std\"" ;;
  esac >"$header.$$" && mv -f "$header.$$" "$header"
}
