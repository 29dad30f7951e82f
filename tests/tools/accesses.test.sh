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
#include <cuda_pipeline.h>
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
__global__ void copies(const float4* x, float* y) {
  __shared__ float4 s[32];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], sizeof(float4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  y[threadIdx.x] = s[threadIdx.x ^ 1].x;
}
CU
# The columns behind the file: space, operation, line, count, bytes, parts, uniform, unrolled, one_lane, once, stores, with, store
cat >"$scratch/expected" <<'TSV'
copies arguments load 23 3 0 0 0 0 0 0 0 0 -
copies global load 25 1 16 1 0 0 0 1 1 29 global
copies global store 29 1 4 1 0 0 0 1 0 0 -
copies shared load 29 1 4 1 0 0 0 1 1 29 global
corners arguments load 3 3 0 0 0 0 0 0 0 0 -
corners global load 4 2 4 2 0 0 0 1 1 5 global
corners global store 5 1 4 1 0 0 0 1 0 0 -
matches arguments load 20 3 0 0 0 0 0 0 0 0 -
matches global atomic 21 1 1 1 0 0 1 1 0 0 -
matches global load 21 1 4 1 0 0 0 1 0 0 -
neighbours arguments load 7 2 0 0 0 0 0 0 0 0 -
neighbours const load 13 1 4 1 0 0 0 1 1 13 global
neighbours global load 9 1 4 1 0 0 0 1 1 9 shared
neighbours global store 13 1 4 1 0 0 0 1 0 0 -
neighbours shared load 12 2 16 1 0 0 0 1 1 13 global
neighbours shared store 9 1 4 1 0 0 0 1 0 0 -
rows arguments load 15 5 0 0 0 0 0 0 0 0 -
rows global load 17 29 4 1 0 16 0 0 0 0 -
rows global store 18 1 4 1 0 0 0 1 0 0 -
TSV
# accesses COMMAND...: reads the program's machine code; the rows without the file, sorted
accesses() {
  run env FILE="$scratch/kernels.cu" "$@" "$python" common/tools/measure/accesses.py "$scratch/rows" own/kernels
  expect_status 0
  sed 1d "$scratch/rows" | cut -f1,3- | tr '\t' ' ' | LC_ALL=C sort >"$scratch/sorted"
}

# What nvcc 13.0 -arch=sm_90 -O3 -lineinfo -cubin made of it, by `xz -9 | base64`.
cat >"$scratch/kernels.base64" <<'BASE64'
/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4FnvEbFdAD+RRYRoPYmv2/G7y/KieK7m/PvfLuLGLjj0uepRRPq5awdBhK+PEw+fBfCFCzrw
o/LysJBCb/3JCwbyR1SF1CFkrVbBtitJwYt6qqdmtkER9zHRcj5odR96UbIGd++UIPo/hfV6K/mp5WBvWETfP7k/7LyNXFEpAFaog//L
shPbE31Kuf12eGXVxrRazWBE57700mhNm0m8FBQS0Apa6w8M07mbe0VT2eHoaNv8zPbD6KFP+NlYhgChSgmbQuOQKkuZjkTo55hh+5tY
aUHBctbbxIrHeP1QanJe4mZrpcYyR2N8wJQKKe9rxs7FHCtdcvMUT3/jwR2e1tg8VFYPWI3W2c3uStZnp1TXeeSbNrabfoqIZzdOCjwx
9wy8FBcHJ7mamjJhEfA4TmnB/pTARHNT00nU1IkPW9w/qq4wS9pGYkXX62KEYTXwi9DfirnXWA9JWe4pepDNGsvTQ+i40sEa3/gUtxq8
QGCOQHbSqa34yrw3mJTFxOSXwZcNINRtWQE+984x6uJ2LDWGerKcQyCCY1m+4F/yzLdJdmWngoPqCFjr4lAbMkYL/jEDU7m9U1FT03Ej
pxiVGpTg4tv12cnmTh9WtjHY8BM0fQM7yXNOEkf+u2bKjvlEqL7W3Yjv5NIOQ0pXrCfbYFG1T94pYo2UJfWhSBOMF/+APbVrOcuSwJ6J
uIV6wNK5nv7QBe0cn+bthu94Adqt6lM7eOficIGTrjxXX/5HAVORzK642e5nBEY5jBiuEb5Q4G7Vfqz+YED0DFojnhJLCCNY7cq/TpV3
KG9kMHTqoPHlkaPgQihOM5dpTcanL5fXzX1FzdxrwSnpGibnCZ7lvQ1jdpAa4D4O0zyfJelAKlbV9YVrFQC9sj/e5fMEfFriWNzBcQTj
iZuHBiWXviZLLV7tifxhP9vjYLZJKVI4rgT99QZoYyU5+Y4v4PlbIUofkdbCntxq54g+oiBAxb7o1LFmdAGE2/irqzA4VZ32wsy/t/1D
ZwUPyPc9t/G3AH9DBadWtNH/qyIF7/P2iwtMXK2Q0gWJWNiH/NWaauLhk+bFlxgZJreJu7ljnHpYTbZym7f7QuKncWXHpVknuzm+TuMz
0YRHqNlhns6icKwBArKBRBix0IDID8w03x+wUEXWPMkPQkQ9hdW25QOg0+dA+5sSMPNnQQMhjYctZa1ojSk/fOlDmn4DZtkegxJfAZ22
eIoAr/yygzwwIfnVhtTJ2FwsZx9daNEaAbLApVSNpjJcCPOb2SMjBy2S6C7DMXUf2idBjfWFTtRKMMgMNygmc2Tl/13P3z9cT9zwWsZ/
Prmy1RwodtzrtrnqIcfNTBrCR8Wv7wMER1xt5D4zcjstfZURNVBveqDwVeFfzYSzm8N6+eoluuJxqyyVGAiiKuZ7fQIHpf3TxMxKbBCh
zRFPpes0njOLj+oj8suksqC+sX2hSAYhezLDCmlmpJPxF6j3yArVJctS6/yEMiedzx5/Erq/oWa31ToLtdB7CaS5FoUQyTWrp/anp9oV
oKgDDJrx711/9tlYexsr9HaomZqsrjwaqvVE78UjswI2oOwIvyxSyduRGCXvM0P7Py6K4BJBdeVmolcmminC4N805OgZXEBm/RtDrVJR
Dm1QuVn4Au2JWXqY86Il9jICzSy1MHFPiPXBZYs4Z1hRwco1m3Bq3U6m18v7a3gzI2uro29hkYyo2W2wX7GIOrzRssapx8sAI+hOenDy
nLRX2l5hUuagiinuuK/f1YyltoRVJ12D0sa6x2qsa1TBOMhgoqbAUN7QhovaKyfql55gkpB1Ry72E4QjXM6nW4h5uR9xzAHC1fcnBoOR
rEdFtatLrCRNjOQMQ2iuexFPe319pwZFV32XFHSLw5+1txeqKp/XsOdxq/Qpvt1wtfo5gdCff06EQE2DMI47Q9QgfDZqS6s55kYMI83l
rn3KM9BfC5PUfj1J3H3JqNQGRVRJ5aKg5XoOBeOJoROuSRGfxjiZJoEiKiXeDux7AkSYwBk3xkhnlKmTSqje4Lr5EP46yDiGc6cKM3Ti
96kSRd99W0kigIfObSk3b9AmukLoOW0+31+lsyuUgatk3hq/bc0nGt0R88BW5g6FqXGcI7AC7HNmI8j+ZIBPfE8Z3VHdAzeagemJZzUL
ICfodZLXKcR/9sFlsb5orTciqGucrovkMN3Rxs+vKJzwFt2qsSrl7mPbCuDx+iVNMDLfisrreWwQJ7o99jCeUCkUqDsKiljRYwOmoP7C
phfxlB088Cv/9UcsIIbMhiXhSlrBc+eo2+3PjNaJN/KjFlYGmq8efoQosU/DuoJuJ1JXfjktFVjo9F5EmbDzYykSbH33y67mHe3hY5MZ
rO8htvkOi7x5IpoA9SROKuyN0XqUz8QPQnmj3+Om8SRORv5ZnHbtac3Ghu3YQccK8Zw3aKoRV1hekiC4y3dJ7dRHnk7CII8dAVv1MtE0
HJwPNT/PKM8X30KDD58VKaGeUPx6Dia3C2N5W6hzi5jgzP3jLFnxCODJmwFILqCTCURU69Oyb6xviLcdNQMgrv3LzuWIyossy6zIGRLS
ioD+49B2LSDr/9sF/wwcT0fvzBnd0MC5J+Z/SoqBQDHceA7l1iLXuXXlxnLUFbGOTSxt/5sxpjacziGZUzuAWxqTOYJSH7larY2W3v71
Xbxt8I5o1AGeOMIO3HTzKfni4Ke0yB4hAtxlkSFleBtizBd77/rqV2bunpqFtAjZQPBw8aMBZ+oLwLYaZJgHhoaD3U26iX6qJETAXFt6
msWZI0LP9T/RCRWyizZqbw+abwE+6yzFYd7g91iSdm7eOYpojDpWWpUy5PhTgPDGAp+pm4we2JOmN/mJY6jQ5Q6VaDIRu8jo8sAK/n2j
Dlwb8CeTyiEXPAB3waC4hyYZ6YSf5PgiMP05kjKFSm3FOq2NHsQROM5VeVkMWHCDVDV+71ByV7KBJYPjUEoW9xezOZiwqVGpGT11dFu9
hQ+w3qrK93YBRev2zlolz8kLmDLI0rc/L4eYJee3OmE0u8csqsSrpAP6iBxK/5LjWeirViIUp79GLOAHIok0lQ/7d9MWHP9YJDPkEJvf
bNGFi/1FkaQuT7OcIpdI6W37DFWCHClGNH9ydJzD04Aomh2moNtQvxvmLcXaqNJfeApaKzQmA0R3QhRq8zes9hX6EZ/mmbuvTYb63Tpo
iN1WNmYVKQUkbNuBmzlTDEs89x6ljX5qhkFP+5UmOpMUI7yIZnbj00cOvD0fcYvJtKfjpF2jQQHU1x0dRWmM/H3dZinh7HSgy8mWjCvQ
e4O79F8yagD9dwH8Y3ZxixvrUmmoYk4wXl3k0mAd0Fxu/lQK6YaTL4sjCrdQ1rn567uoagqIFaIIdvwwQtmj2sLv0pyH4EBfE7Or0Xyp
G2aerlRx3pzPLm+8wHsyi5rE2/vEUl0+4xQ/8CiEjdEJl975QbQ6l1mgZA5lsz9CVHHBcZfHEE718WDbXm17X2PgWkuGVqNd/IRvMdQR
3kpTzeqED8iNBmz4yi/G74BVrNvlEEDWp9zf92R/SkYQ8Q2pBf8DG93mXMWkZ+gpRlZ/Ae66OBzMdNT1oUg8060FBQp7Gpxb+E+bKFvC
ABflyU5SQyIzJIR4d22K+Ffg+Sp9oE4GZZR+jhfW5cNBtMfBKvetZXpjT8jBOyXCrO0PSvzFmBGL8qpbBUVstaCEc19hXRMWjW6zVLBM
w9r2hXhrFjfLuOT1vyQLYz7SgoBfqQGqVmlnezSW9RRq+hMClmeMCSRgsM7groSKBTukS4EQ/wH+AUQwl/gcyDd05E4y9+Imwe+wjlkV
pi86MGvIQf5HK/mjN+EQmI7xHZWtxjFah86eLcjHqL7wF9PiO+lNt7icjiZ1vIxX8Z4KtxUib8Fn/bc7AofcaoQEDPvwIKUwvX+Z//6n
HUqqFosqRNYQIIKTHVnAKuOHjciA7YlcrbHisM+1ofWEmZn6XYFH5DhoriiVrNZZVDL5ckpw1CpFpF7dUUs14B9CL/Wb6Ag4vSHi/ED/
Q5fZLK5x/XDY0l/eq3sffGJMWEryNuj81Ga/K+2i7JsK7Ks5xI2VAKYsogmg/Sq+psFzr4+xXAIS+I2tAPu80/5ceNGMNhepUbwrEgvL
7b2droHpSZZk8akYNJtldSnWm7UeY4ARx9xy/et8G6LaBWriq+vthvFAvjUuNbea384HwywT4RbnDPzD/RgI1uGpkLkzvdnI97egSCop
VcekAmEBkLKrv/QtHJfP5w3v3VkvJou1Jx8lkPWNyhgqFM32B4AsainToYhLrdIGf3ihk6VqJmMLkly/uT0ZfSFgjuuXwFKCKbAXIYuD
vBdZe6dwC4vHm5vNkLEZycC6DeoK69lcP1yEcTVZa9XoxP388+GWhnBiJkOY0S2xZ4AtZ9s+oz62VL6gwZEKlgxeA1NteGDn1gSGG5nw
RvRvjRDPpqw3wbLuvJvSqhgTg4G99bZWv3atIaOyxA95O6gV5F39CyNrVc/MzSLMFCbs5bObnNZQ6QzLAUjqiNWjmBOPyWcg0CK6b1cl
weO8+wcuI1gwOxR4cYos1z8oVukHr/rgl4dJK7FDNn1iC3MtkseBsh48FDLjX/s24tEzZ7DDxx6S+719ehJYk1o61x7fWQjDP0lLvToy
x/siSgKYDjutvdllqbhCW0B2KEYRBHZJ2H9o+to+/nSJqE7vpzaewBmLUKR/gT9vnkMf0SC1gc4BJwmK5JagkZgnXKZisaoJAcH2pcqs
9kYvc3XrSR0hYda1ICp6+yfDc3B3/UZjt+pBQGKCD74qP4XDkPfXlRUWFk6mi+C3FCtqur3JQRn+6te8b07UvY6/vybiwOjMoRF5gvPG
QFsQKs6eWGzR06xHeEbGbISUyfa52C7MRPE5xMkKdCRrf0Jla/q73Rt8OK+CIZblVw3iSH+FadoD3UA8iAzEuIT8cyIoDeX1Y9pJwzNs
sTEjSOT6fEFlmztbYhFr4Gt0VYz+NcgV1rhBELdSUBPFe6q0A4l4VxknsIAlR6b9rOYY4nrfAt1KCVbng68T1ChyjFAvkwl433aDH1lo
kne954EAuysTZzQYJu9eebe1qP3FyHtX0SX1+ph8L7j40eS/E6OxdSppuaD72a2DnM5fnPG+o3iSbfxUG0asK1yUg/UUkA5OosJIMJdy
lIb+P6Z83S1n1AXQqnDm/cBBWuC3VP4C1wLBYnfFb2goVPIMYPp8gsUmckJ0NU63FqEeEdw5d7WPKBhl25p6svgAFELb8oiDpbVOhzIv
ReOxaINbWVe3RbiA57Mxa1tqNFLmWzQWp7QcUJWElEUtXmH/zHt0cxvgKxZ1QnNv+eb6w9Y+CAxlZAgrf/ZdsmrQ9pssPEeycavlqu6p
UkwOSOooUFKRv1QJMM3v20er4QakuHapUCMCQ+sfeu9yZeYwo7J/DIXdyOD1gPzS/4Qgq5SSZo3oviJ7uHYhdEMRCZ8KpsrCl1K/P8eM
nOYj3SAWnINvhxuFyyPaTLRK801pa+4FVC9niuGWEEQZOjHw8ls4EoIIGSQocoUI5b/m9x+S6ZacqDFXP+Tzh9Nc6RpZ9CDBcaePxTch
40nSZSUs3UPpZEKpaKp7FtKtMeAk2cvnTuV4wEdimDBiykSdXIe918CUXswBR8zd2EhdOpaHqLzGy6HX/O1r+bmd5p73LsenoCzh7Ica
jOzsSlX1ejBjo1OV5Cza4NUXYkA5YNLbSfMoenWSy6fFQX0DB/3pmokOfQYPP03WQG2ZeZ/Lg3bCnFCKhSBduf0InSkXMaiGRrX7xTbx
eEbjHXBSRxNVBrBaCCpVxYTt3Lfn8Xwu9PvV7KoZzYwmu5ElxLv7fvlCF3d9WNQRzjVAAOMFpfFwuEou8nv7PnDU6nuIVtptCc8RBubc
l4Wgu/cmyYxmfb9v92pSY40yJDFEZqeEOHPnuhUWGgthrlkvSXm3tWN1kpRRY8LJm6WltMi3kIUTCoLYP7xEPdZweQqraHW5vowUm3RU
muVFG/5Z1Y+h5IxPSIODdcvMt/6y0qgyqcYVljtjgdG/Y+CIAAAAAPwNry7JpR6tAAHNI/CzAQDM6yewscRn+wIAAAAABFla
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
expect "lines of the source" grep -q "^corners$tab/.*/kernels.cu${tab}global${tab}load${tab}4$tab" "$scratch/rows"

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
