#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What nvcc made of the accesses in each line, read from its machine code without a disassembler.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

if ! python=$(common/tools/setup/python.sh); then
  test_case "the machine code of accesses"
  skip "python3 is not here"
  exit
fi
export PYTHONDONTWRITEBYTECODE=1

mkdir "$scratch/fake"
cat >"$scratch/kernels.cu" <<'CU'
__constant__ float table[64];
__global__ void corners(const float4* x, float* y) {
  const float4 v = x[threadIdx.x];
  y[threadIdx.x] = v.w - v.x;
}
__global__ void neighbours(float* y) {
  __shared__ float s[128];
  s[threadIdx.x] = y[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += s[8 * (threadIdx.x % 16) + i];
  y[threadIdx.x] = sum * table[threadIdx.x % 7];
}
__global__ void rows(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += x[i];
  y[threadIdx.x] = sum;
}
__global__ void matches(const int* x, int* total, int key) {
  if (x[threadIdx.x] == key) atomicAdd(total, 1);
}
CU
# The columns behind the file: space, operation, line, count, bytes, parts, uniform, unrolled, one_lane, once, stores, with, store
cat >"$scratch/expected" <<'TSV'
corners arguments load 2 3 0 0 0 0 0 0 0 0 -
corners global load 3 2 4 2 0 0 0 1 1 4 global
corners global store 4 1 4 1 0 0 0 1 0 0 -
matches arguments load 19 3 0 0 0 0 0 0 0 0 -
matches global atomic 20 1 1 1 0 0 1 1 0 0 -
matches global load 20 1 4 1 0 0 0 1 0 0 -
neighbours arguments load 6 2 0 0 0 0 0 0 0 0 -
neighbours const load 12 1 4 1 0 0 0 1 1 12 global
neighbours global load 8 1 4 1 0 0 0 1 1 8 shared
neighbours global store 12 1 4 1 0 0 0 1 0 0 -
neighbours shared load 11 2 16 1 0 0 0 1 1 12 global
neighbours shared store 8 1 4 1 0 0 0 1 0 0 -
rows arguments load 14 5 0 0 0 0 0 0 0 0 -
rows global load 16 29 4 1 0 16 0 0 0 0 -
rows global store 17 1 4 1 0 0 0 1 0 0 -
TSV
# accesses COMMAND...: reads the program's machine code; the rows without the file, sorted
accesses() {
  run env FILE="$scratch/kernels.cu" "$@" "$python" common/tools/measure/accesses.py "$scratch/rows" own/kernels
  expect_status 0
  sed 1d "$scratch/rows" | cut -f1,3- | tr '\t' ' ' | LC_ALL=C sort >"$scratch/sorted"
}

# What nvcc 13.0 -arch=sm_90 -O3 -lineinfo -cubin made of it, by `xz -9 | base64`.
cat >"$scratch/kernels.base64" <<'BASE64'
/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4EePDqFdAD+RRYRoPYmv2/G7y/KieK7m/PvBcvtLJiU72MaWY8YUA1W1nD60GFONhfNj
si8Kizxl7yz+uvcyJu7WkjsJUDdgO6NWMSXGZNKz/kblDu2rbZImd/khVuk1EX4GddWJM1CAS7hcg+r7YNG1YevHP2ECwYzWbIgx
fogTePATiC7NXgRSM47J+0+ymZhaVYJmtPnlyi9kiCWqHHqGrssGcHFiTXVZhy6GLEmwppy5cNOkP7z+1MBXgV3tdLv0IVmIspmz
Rpg/LUW/ALXx68Q5otS0XLpqzf6lm2WbyMyJzl4KMy+EVLUwOIbOIZWEqOJQelBR7hCTLFuM+L+0tHiJd67L/R29s2CoIlZ0MQOJ
hxwtlWM6iGEdPvUMH3ss3KZfa2DQV7fYYxefW17mDhNDSr8Be9bJ0cB59B9fO0gAJaI2Dcocj+LtWRTyEsWquq79GM4B4idSHf4j
H9HDBEPEib7uOB2O6VTLPX24eGjMDF2mBIYuVI2pEc0lxXxwqbiry76wBfQ0k5CJmB84r7vbJ1HXibTqLCwB6xSRpGiWpmtP9hNo
5xltC1+VltJdLdtk8bDupgrnczx/EdISAYpC91JQfI4YbDKTsfapNI3d7Ka4nH6ReMt+ejNNWa0WauLqkji7htN6Hvkk6ccQ9QJi
0Z9KmMfGEIBNHC+m7ePf1/bxMaN0HvpFwD9D5eHbqlad7U9dFNIxYgRRRLTK43SR5Lnfix3okXpagzQjhGv+nIwCThwTILpJIEwS
HB4IyC1IivVLIlXAhyfbwRTciVjSg2Flm5bUx7XPwC7b8HMjGjKzd2/a8efY+95xBpSL6U0HnDmlpqxVpKC44+0mugEahrptEETe
B17d1vnG9hbuTjHUwaKmzeFVFpnO/XLW0FzSbGpONWW3ZdxNHvU7ZesPL79ilcdUQeloxEKUyx3hOaenOkvcUROuBYOWrX1Jz+LT
28EeuIW3jG/RoDnRLbhRk9YTr9f7ENWvEYWdHtqtg+LxOy1MwcBiJr6oUqAp8V0fPKT7X8SbQVZIZRu4SYZUYB68Q7YH395dhDQs
+MYP3DOBBGhSa422R0BU9IZOV4Y3YbI8wTC7ZTUIUsTY/dr+vEhOLaGr4NL2nmLeRYuzznE4cec+kwBjn9t3Z9IvLLNlMaFcWy37
ssoM89ax5mD096hZjxJ+uvZoRc/MwCsWnCilIoBl/DZZU8PwlXa1SDGR5X01gQl6nWfGickLKOwad/0nlY3EAKN/qf7uQ0x6l8sh
OZZj208IbTqTcDV0cv/qR5+xuqp1sQfwXvp6WszkXYZzhNF72o394dNMdp2LAA5DiBP4x0WIC1WSepGmP+YQaWZaaf7NjHP06qrl
EHxrMwxhN9lVl3mege3deqGMwuJUw1SRNEWYZBi01W1j303Ou40BKv3DtjUhI5xWJaPFC11Tz5GMx8guLZSPOhCRd4OJCJxXBUUc
FbrRd9g6+F+b7W7cE09NP0OMHT+GQG0TBRWhvUW6KiIEPmY/t3Camn+1Q5of4L/tj6J6AI0eR2WQwiMuYp8OeR7gwBa3Aq9GPXBM
6NAdKLVW8FPYJFgSxPleTJkyBRVTPs98BKRZKgExfrFnCLfddz6/qKVFsTTkUE5denLospKqSpht5XDOBZdZBbwCxcfZRWSUFHZW
CL2BnoZyJ+kNcWBZgK8YEpv4WAiPQL2aP0MYZsVFYgXUfkWyW8xci7ZJw/R1GaDUW1szJf0EdC/zJXiZa443lkONmdaT3EvTzQfQ
uPciL7UxFKU9Hq7iEPWcARvGvkgIrysXA2YHaAj2bS+K9iqtbdV4WfyLz0vuElF/gjgSMjU2sVsJlUG6Pb/4lorDkp1BLgGyr0vG
aA8RKAOuLguJ7CWaZXHdgfkZWEx5rbu/QTZg5srrKiPEKUYaaFBCm61MQsMgcX5eypWsqJURP1zv97PKBrVsX1ZuGO+Tq8pWUZdW
a29R9rVcV+0cy6V1hU18er6D2LZ8oZujXQXtPiJeZzZw1vAkgZq8JskSiXkJAfvyzo0FMvR8ZANB8S95SGGvDW8we5R97u6wyr0w
7c+bgyhD56xus768zHHCy/sIVz7hjZydSBbh6/BUmAj+lhlz2Lw90ZSSsMt3sewAR9J6pYrUD5/yaSvUSdiAQ1Rkg8dUOBSzLUIB
Ex2c+NuERkaKJVuyuxeC0pIrO3VrmUM3RISLR1L2ffRfOOFbf+hAnZbCQImM8eP6IL/6622d9N1eP1Kdw+pzEm9IsNpZiDlBoRD+
nDTW1d+wc58yhJQWLxJE9d+aqbc37Q5+gauVUDGVb1ySZlxinW/naYhmO5yead1UxLktSBhEjrEVp6MBqFtk3z5u/HZAP5oWgSEf
uNXF1sNxAmy1midsl9ZH3U2VPu9+3fgX/PVh2wQJD4eKgn8J1ULEvX2uGlYSLMTMPOmL+E7nExlUhTyHBOkvRAKHZkDuqIZXXwwb
1ekLHumBWPQ/V78O2Rj7oX+tcBy4H8LjOOYYPK+BjYW51z4VYNvnoo2ZXamvxIKtpHrPuEOpipCU10m03ETfBVkVyTtr6LWwx5RJ
e42vGVXAjVJoyMNFA2po6Eu3gJAJCNYgCF/YoHkrQ9w+66s3eqxKV5rsKOoYeDlWE5zFvUN/FXSSAwUnA9a/yvdlWGYD07ZolmRU
I+nW034dcQ757pRZponzIbB/ExeXiQRLe5gV1xSprbriCH9aO7NkU6J+ysHaWSq2ssln8LFKq23hJ+d6EPgoOUQU5IslP4rsj7m+
+wdQUW+Slz2Vk2LWz6L8zAPsgHrF2LyNSePjmT8WgvM3c6fqbSGWAH27wVeT+9dxsT+MC+unfwUTSCtdTgRd7Vwtadn2gU0PzOAu
ZAqgCjTi/ORvfuio+kvijzO7BnIzp3w7zo0pwZHDGbBliSkjOxCj9p5KGMvJi0XwRqOoch55m68ifbT134kZoJ6dHc8CeOT6GmId
QkZCJBBazfhsp1tUpWL2SLHXRkvJehrgMe55317JA0RCqbTgBouEuNJK1lzxWUOftVKFphF5yAgxqwcXRaDBdoHVI13GBsQBmJNA
jBd5f2S3cdca55C65/FNNo20BxC9q5Jc48GpbdAYz0iZdwjDBlkBuoy5g/tnB4qBsZ82CuAKwUCPtT+cfOjhNousX3hiMbJ/vknW
LkJkz9+PIR8VlnRnQdmc4C9q89Zh3aKBA/BfR+lvip5EhmuQ3KcMdhv9S7fw6Fg8svR11nXZlJz9U4yl2yVzoOPdS4nhIuns7LhC
IWcQ3kcIkQhZRmHYWMl2XgWSah0OdLTrm5Eq5ZCzj1t089uJfIaKPYYOploMTA5T5X6CiRRYZTn6NjkOYtuLproJBQ2nCGr1aSnL
spMSewcIlFcChvjxAzgmmgKVdrj9WN9CoIkwNU9SaaKQ4op5xwGXNMZbKq67JHsEg2aTdCMVQmTWH+Dwq4CovAoiqxM3XRfgynyJ
aHNfyd4KCowNXVfnFl9aO50jH9i3IPdedl0KaOggSf8ry7CQs757SvHKGaVHB33ItwZzDIYLKgQFHkqT/S5L6WH050jt6hntaoAY
NGF9SasrremdJ4GyK3m2fYLUybOpUFfNFieStu3jdrb9jmnzJWuz1LBzTd8xAB9yGXqP3gT3Cktk8I8ypPk2+djgx37zCcnvynpS
xRFVF1eftxnUnWZW9zh+ZYN6JVQjXyUNN8WC1UEMEOQL9FVr9a+HXjwLPVBOgJ3GLoz9Ls2BlwRmYd4bRtAftrsdPm7sbfyL1POR
ILfn+ZX8Tz2uTyu2xhwJZ7LdpqacSmp/2vEjqwrzU7Svdoz6MiIwbPXWNn1mL1u4in+7yg4QTIpORJMDWbcwMaDsRxwv3mxoxxx6
VNVBpFl1t0bVmo93mulqPCBtfOjZXX6CZjiPRiC0vXAjxTqCMhJ63o942tLB+qbLrLfmMZoMU6CnA76qrtrrIgIHOaAo/wagc0Rl
9QNu/gCjv1RQwR/P/Dbr3whVAPsoTkDIHH5gXAkEJ64zxMFumLupBgb/+LxX8AgEH9EjMbvZ6bU2+LIbdAfodgpGRHRzQ1KSKWNf
//asD0scxFiu/WDtJiiqM3br/IrAEN1P+0IYugwLVSQlw18CXGHzmFVO4GBV2rW8RjdzhFTflnFg3U2vdlqdvFP0OuR+pdEhWJMZ
zCs+UvV7kp05Uc8dE4ZaHL4g/P7m9i4bJMdkvFYzBkTeM5gq/sUulCauboPwvMYmrylDvOXyb0P3sYLjOg5wvE9Guc1grl9+6IUp
BSdeclG+0sENbFRZsAu7NnVz0UQSg1xaAVdv4nrRgwO0UBBKbmJJlIhjKP7irpaGQwRFVv6TibDnfVZYn4XeYt+Mf86wzuiPzLe6
1Go7ZrHrF60CBfwSpBI/d1rDJqczov6LF/Fy5syJsiGZj94McGlg2cRr4ryTh/byckD6/+nYJePzNrO9SytHw/EdhBhD/g47KwCU
WZihCJm5o4qn9Ai5m6LOuiMyDVhzyY66wgTgUPC9VNP+UMrnPejcf1X4YENXDj7/7JqlII6XiGhyBoBtmc8S9oHNEHvZ22wu+GTB
wOkkPfuMZ62zLnqvwRa4UqxfSoOYh7GnYjviMrQ5lfcEuFIE9rrIXqy9BJOGNvm/EBp5z4fIpuzH/H3vyaMjSH95L9cqsFcB1uH0
6uteI3bopdSxqPa9Toc6We6F3PMm5jyz2RCI9SKk2RLxVLa2Hsf+I/+MG6XhC1jDhTh9ytIOgMIWiUBhSu7tNdj6EB318HL2wt+S
kjMrNI5Q1sXmr9TiapgpYj3/rElYh2fLotbZBK9jEu6gytKxmrsfGQe7NPmoB0vDHZVJP/Q2t90+5K1zTYIrGUERSeb3m5avrIhs
DEnd4UgQATNWKq5+mCX3w1vmtsLCuRDUb8bd3+GuwEu4kPe3IDr1a2xgTNGEYFbzvazP8+srOwiL3OWHe7VzEzcbXSzhzEw/babS
Kx9E7Js1zhhphsutZvlBlLXWa5c5VDVhhgAAAAAA/8SQ0IgBZ70AAb0dkI8BAB0LQ7OxxGf7AgAAAAAEWVo=
BASE64
cat >"$scratch/fake/nvcc" <<SH
#!/usr/bin/env bash
while [ "\$1" != -o ]; do shift; done
"$python" -c 'import base64, lzma, sys; sys.stdout.buffer.write(lzma.decompress(base64.b64decode(sys.stdin.read())))' \
  <"$scratch/kernels.base64" >"\$2"
SH
chmod +x "$scratch/fake/nvcc"

test_case "accesses that nvcc split, joined, unrolled and left to one lane are read from stored machine code"
accesses PATH="$scratch/fake:$PATH"
expect "the rows" cmp "$scratch/expected" "$scratch/sorted"
tab=$(printf "\t")
expect "lines of the source" grep -q "^corners$tab/.*/kernels.cu${tab}global${tab}load${tab}3$tab" "$scratch/rows"

test_case "an nvcc that refuses the program ends it with what it says"
printf '#!/bin/sh\necho "kernels.cu(3): error: no" >&2\nexit 1\n' >"$scratch/fake/nvcc"
run env FILE="$scratch/kernels.cu" PATH="$scratch/fake:$PATH" "$python" common/tools/measure/accesses.py "$scratch/none" own/kernels
expect_status 1
expect_output "kernels.cu(3): error: no"
expect "no table" [ ! -e "$scratch/none" ]

test_case "the nvcc that is installed makes the same of it"
if ! nvcc --version 2>/dev/null | grep -q 'release 13\.0'; then
  skip "nvcc 13.0 is not here"
  exit
fi
accesses
expect "the rows" cmp "$scratch/expected" "$scratch/sorted"
