#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What nvcc made of the accesses in each line, read from its machine code without a disassembler.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

needs_python "the machine code of accesses"
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
__global__ void filled(const float* x, float* y, int n) {
  __shared__ float s[64];
  for (int i = 0; i < n; ++i) s[i] = x[i];
  y[threadIdx.x] = s[threadIdx.x];
}
__global__ void arrays(const float* x, float* y) {
  float own[16];
  for (int i = 0; i < 16; ++i) own[(threadIdx.x + i) % 16] = x[i];
  y[threadIdx.x] = own[0] + own[1] + own[2] + own[3];
}
CU
# The columns behind the file: space, operation, line, count, bytes, parts, uniform, unrolled, one_lane, once, stores, with, store, predicated
cat >"$scratch/expected" <<'TSV'
arrays arguments load 36 3 0 0 0 0 0 0 0 0 - 0
arrays global load 38 16 4 4 0 0 0 1 1 39 global 0
arrays global store 39 1 4 1 0 0 0 1 0 0 - 0
arrays local load 39 4 16 1 0 0 0 1 1 39 global 0
arrays local store 38 16 4 1 0 0 0 1 0 0 - 0
copies arguments load 23 3 0 0 0 0 0 0 0 0 - 0
copies global load 25 1 16 1 0 0 0 1 1 29 global 0
copies global store 29 1 4 1 0 0 0 1 0 0 - 0
copies shared load 29 1 4 1 0 0 0 1 1 29 global 0
corners arguments load 3 3 0 0 0 0 0 0 0 0 - 0
corners global load 4 2 4 2 0 0 0 1 1 5 global 0
corners global store 5 1 4 1 0 0 0 1 0 0 - 0
filled arguments load 31 3 0 0 0 0 0 0 0 0 - 0
filled global load 33 29 4 4 0 -16 0 0 0 0 - 0
filled global store 34 1 4 1 0 0 0 1 0 0 - 0
filled shared load 34 1 4 1 0 0 0 1 1 34 global 0
filled shared store 33 8 16 1 0 -16 0 0 0 0 - 0
matches arguments load 20 3 0 0 0 0 0 0 0 0 - 0
matches global atomic 21 1 1 1 0 0 1 1 0 0 - 1
matches global load 21 1 4 1 0 0 0 1 0 0 - 0
neighbours arguments load 7 2 0 0 0 0 0 0 0 0 - 0
neighbours const load 13 1 4 1 0 0 0 1 1 13 global 0
neighbours global load 9 1 4 1 0 0 0 1 1 9 shared 0
neighbours global store 13 1 4 1 0 0 0 1 0 0 - 0
neighbours shared load 12 2 16 1 0 0 0 1 1 13 global 0
neighbours shared store 9 1 4 1 0 0 0 1 0 0 - 0
rows arguments load 15 5 0 0 0 0 0 0 0 0 - 0
rows global load 17 29 4 1 0 16 0 0 0 0 - 0
rows global store 18 1 4 1 0 0 0 1 0 0 - 0
TSV
# accesses COMMAND...: reads the program's machine code; the rows without the file, sorted
accesses() {
  run env FILE="$scratch/kernels.cu" "$@" "$python" common tools.measure.accesses "$scratch/rows" own/kernels
  expect_status 0
  sed 1d "$scratch/rows" | cut -f1,3- | tr '\t' ' ' | LC_ALL=C sort >"$scratch/sorted"
}

# What nvcc 13.0 -arch=sm_90 -O3 -lineinfo -cubin made of it, by `xz -9 | base64`.
cat >"$scratch/kernels.base64" <<'BASE64'
/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4Iq3GV5dAD+RRYRoPYmv2/G7y/KieK7m/PvOS8gYpTs2sr/ekptJsD4VVtSiNvn8vrXDDnG5p+hi
tKD39Cw50I0dTQv3bDkR8J3Tx5Fp+PQO8AgUdUrV8eQHjRI6VeQKSSaEVpncqKIRWielBf+rl1NOHvbtYnBG0Dk4KVhpcn5iLtPYLjqT9Xm6
spfs/zJWr66KIIuIEbIaNzZt4JmdoeJw5pVhKgtkiMGSu2l1mwL1DgQ+xrHLNgxiBYF/vqUcMVFlp53e+H4SqDOEJbaZZ+9xFHxIG5QNDyEu
qvQ8V8fhOiNs0+24FU5xkPg8TpSTG7Nm+FxFbGt9j12FlZnJWNqvwetYn6WK7YRtE+Ez7ZtfdkVyt8oQ7t3k+o/Vh69JQX7PXHnAcvB1qtrb
htRQxp4Hl0wNlvjqcRxHtn09EfgIFjU6gYEcRvZGFe7bHnJOq6X7SPim0rOX2kddaUomosbP2ZRN4foiKzTlmcE7naKd3/cXvATVJj9StLY/
au9NsISR8QtKrIwssNyyO4U0D3wtWf36+olZV/d6n5nYoHE/bcvoQNjHyO/JRGR1+D+fTzRmHnyM5ZM0/dCuyVm/Hyf3mpfZmxdaRyu/hLp4
D8t+YOIv5qP01h9JETJPPBCGIaiT7nrJS7vjT3LPBO5XoJxb4oywB7PHUvLjXxUQ1R2Ly3qe2IYnKxYQgAhfzMIlDf4lW1pB8ZJYriopVZit
rcESf8yYB9AVRxp7r27lizVeORhuSlYczm5B4ijgkUCHtnpBA9pxnC08unYOK+fVCNVDwQJXerP0tH1ZVPdrdnQLQXgVJfYMI9AI8qR5Udjv
1Rr0ew+/lBeqwPgajW2mMSBJmH50hAdGFg0quYAs95Svmfef6XmVZhHTb9Kklo76fGIYetpQ3f4KyMso5bU6lr9wahZ8ZTVFMSaAIqXOWFCa
Tm7p+YTMHKbWRVfpZJbcsqC8zkQc1WlqrvyqfZq3ltfyhtiWSgk7e4U6xJ7TIHt8BvxBVvPu1PtPh8hcx3Z3Q4M352quX7vr8omfMhTJpFnj
9k35jG9bDxiqoyXDYYYNSxn1e6XjxjxFLakScoPaoiuHKqLX8hWVUN1h1CcnzOQxlM0DlWzyiH2+Q6WMT/Ncqc6mgdLXJuf8SirO396O2uff
cxn8WW4/PoUNylwGqPMg6N6d1+Qm/ODP3Wj2Pb3BqMetb14c1OHRtWjZagKhh1rZ0ttPirFrgnVYSqGYVinBO02ZkLC5D9GLlqeFxyhtSs7v
v9xWNu1kBA1NFj0Qog4MI+MZNbJQzHTHEFMlXVOFy3oUmtfhBjMj16rdiseZOcCrwHOkXQJVAUNvEfE5tTvvOdTPmxbXwTwh3OfstZquxgy2
zSxcfJICGaBJ0cs9qrPRp9Fd5V4ruGXjyYP1XRaAj1wNHrzj7P5CixKL5RjOflm4qBoohp1dJlSyG74xSV54NsAnPiL0hFfzCfyrLX47JKS5
We5z+HGdyEfz1376I17ZG0IBVyyTp2opHXC7+HdDmNwYQtMALIhFFGBX8KEDh2EjdjMrsLg+XkcHlNViYzOQmvIZFj8uYJ/D6ZPBFYaCx4Tc
UPBf9ccaFb3kKOjZ+pBAdLdHK43pSz8VBA1BiktPtVm07boZA2MJoBxm7v8BJwkGOJWfvYnn2fpFccLH1TMB3Ub5SRz8ahXL4Gb2Uq0+XUAF
L20L1rqhr/+7A0pEZOzv/Kt+z+MSPCdparKgFdKycd5mA6kPSftGEif5NVFHFIxypAVZZ2R3AEWeV+axqZuCnMZaqgWtGVdO1Cks0SYFTptv
RwwPcJw29kQhS9z6gwYS4fY7+yZMZdSh5lWmrxnEYkSCsOX+4W5gQCc7djp0X8XvcZcYRbvjmqX3ulZVaL0fO1WNsBedWBKmRWLT2WqmTUwM
EUims0JBywViJ+ij8ui8RC9irOkakUet27n84WgXGN/7o9tJbj/kZ/FLXYCmOqaxv7Zuzd2CFcGVoLICX6AuAIx+c0HGnExxRtPuqxyN22sB
eGGR+RB6NI+CFenrJfC1Nr0DZyqeY+B674PbIcHYBuMHAtNAscOzTxeuttcT8rxnlMm5xFau1cv6t9GH6KkdHtX4zZBjFQRgL9ifycWX38yP
xk3Iy8YJRkWkucPQeZydPu2ChvhP0ayx+jZGB/cJOhgFCNwG6vr7v4VcDFeHqcb4BGSOURPDQS4bL8K+ajroSBX1cSv7d3mMdFiX+9Yj6dLJ
7iSh7EVhbEVbIsmU4yKFYtNY9+ezhTC4jmF30mwKoAkPCjeO9CAmEqzIK3czEe+q07hsc1N8jy+8chhPvm85a9zkUT8q389qWS6gXWYo6iHQ
5xxhJZzc4NiEfoURzadRjW3D0WGjqr3W+3YC2tHz9LoVJmdnc/bF+uAqbEl6tMQAngZzhPgDmSxFA+Zbo20LcbnQFoejBcMONk2WHMJbAijD
PRlgch3BlSTFKuOg/sGDDwrYZc1otGpVi900MDWnfZzI+STn1zqPvuUYpoH+voFCo8gWel3ix82Z14408xYY72nzNatZOwdgkyzc9FRlt5xB
Dk1bZBIyBr8g5ju4iNfsoPWd78mC6UTocpcVS0IFVXZ5n+PA8B3GD4l4AFas7lhnmYEkwNpR6BbkSnbTk5rQ5NpMlcZv5+n77ID1lUAO5WHb
qC0xOPKYVGF5yRgF+4XmdvXTeQkV3lCP0+XiI9X4Q84ycgyWwsLQWf2Zz008TyyaV+YvNYciZn+gS0ez9UxZqlVR+UUyCpLJqjiO1qNpEnQk
6WmUMVx/Kg11WY7POThtk4yZDi/zgNx9YUS/LBfW0MIH/gWnV4Cqz12gTaAh/a7cA3CZcVROut6i6r8ufuP4Mw8GpgdljPnco5HSHae3cEm6
S2eTmenSyM5kpbnlRJ5gIEA19G8zD8QGlyQx/Ek0XlUzPIunRegIOK37JGmZaaEn3qZV/VHnklPOAdtSfgpEoSpeWthtPivxAYZl3CIazFtE
kxrvYfUh988i0AGQ+0+mOh87TQat13hKC9jKq1t6GveBWaTykzhawOOgCbzBZEFgI/17k/whXA6jN1TUrmlgpmpz1CGUPUfcod1/+OZne+qH
YbvvhIjNC7K+6tO4T8fuJsnBnS3lCtjgm6FfE6X3nycKh/zY7xURF3B2oaqsKFjjR68zYn7mt2YkwOyVaec64SjHlG3Bs3Fjk7ofglhMps8u
trNbS9PqlWPbJZE5c+pSMUONGjnBkTK6efOzvR8a+D/QjlQXNf1zpoTJ/2d4k/YnBGUzTRLkwwUOQI+dvEtGf8pt3xOS1YBWq8dlwlE/IBVe
9KLWDKJjxwTPCIfuUiR3OEsbVJ2mpG5+tAbHEuDwh/gcBVI0J0vzbmk/SVNVzOSkdroaAmMm78yOqdlcKCTz2Y7vjvGAvDvqsJKCjDkX+yM3
1bMQp50qogVTtpJgDh46yupq8oJyhTW1mGeCormBg0lLfCJ51y/2780Wm3TmZfUTpZ3TAi0HLmaZE18R2Svn/UFniixMUEKb1ZWuRBZm78Cl
4kPXyx6dCFBrMaLKatgIuGukfn+jP5k3jxdyDMghNV2IL3AVDIehHkTE1JXVpVh6zC19emoQW2z+6MJXrfeSpjvQkZT7tk/eOWrpJssoDdQX
jLCTH0eVFXSejscLhQOCUjaObTIOxP1Iab1jD5fo/9ZHtZF2ohmTwFUE1BwccP+ezFPPPOiIbAj594HncoVFCtao2dnHdgiqlWRWmpWOjZ11
9mlQ/3A1cNDzziwgy26IGqei8Mi58yXnONMbIJ5KWm+jYDYJD1x2zPuNu9kADewbcOj1znyjDkooQzF9IELrblxEpfGyLwEKt/LX7V7hVNAS
q7BSNwZZ9cKyTLmN9phoq8j0fUD55M9bWPIRVT63yPEL9bzAHYSbumJqyH9Wzrs0fL/T03bspq6PASXowNAFfkT3dZDLQpkr7/DrdQtVrY4S
uEKcUs4WQHvqVPmDZ2bDvE0RDD0WmXMa+qTBx4e3jXnhLRrJxETh++9To7pxnWgT+3q1cVZqdLAZTGDXNCgntPu9djCrXCxt56UcC3khtGyg
IaZGg1Lc5dPD+SxFhgMKRrPVnZF8Ww/BLbI31ydZUfwyQ6I5cu7Oxmdh3aTWwRj7m2tJuFAgtYauHOLdarQ+xIdMDPwf1TQIZycFRTbwI6H0
VaKPQ+xClXChAEKElFB+S01zYgUBbukTbyDjJ8WSz3AnUa8+klx8SXGecfVdUzfdFxl40f3hOpkvzG3ZpKCb31KZEkIXSbQynvMWW23to4HX
ljTzW7mg+t8ZM3jrqECRvjZkwpwGR6WL7Yx+yWuRILWNTDQvdl7oDfLWIXwMGuEYVn++VD5PldVH6DMlbvK40aPvJv0F7ORp/JvjTZy4n20L
vbCcFalTliagOb+XHfqoiQ4KHRadDJqCuhjr2y/jEeZa/Yh4oOC1CPeDX5TOPR565hRgjKc/KbuQhgUT1v+oqn/t3GfjUZQdCE8rhYffXRzD
SU6aV2RIyDfMRO03XaZdSRkFvStERpM0mSXxKYwDJaKZTh8V8G5ojAGAM70fgZvVMvb5IECY646q5i1ozN4dn8y5msvhkfmLxOsxOVmg0VSX
PtjTw3Z/dTAxx7ayzz3HqNcYaokyKCB6OXtDZ+U+5dPLzjvW4rst7Hu7+yDapCqpKuzBmW23CS3IjxxrJNT0bgZs0xxrqua9/wfZVWRX4E8F
uQQEeKLdeB12x47SybHCpC/3pRU8VWjgGIgIR4ljGOpTUZeLcS79FMk0Uz0UwJNWUCfLPTohlCtARJvCGeL+Dm9876SI8dTIqLLPjh9QFP4m
jpWeZ7HsJeOE1luEGGR532i+4iGq2brM3dNc1wvi8cL4fLL9Qa1HtR8yzJsdq8r6ogrD0+mm/u++nilg+kNrhjCiysTR4/iGj+gx1yzS8rXv
Lbt3/EBwle4d5Ov3G0jpyyKZhVbwe0fyxgGa6VGgow5/x61MK/kiL4sohURIFyo6R6naR4Xs18E8YgofeI4HhEHigWMktXvlS1yPj9oESiOQ
NN485nE9raCBp81rjKt2CurKpexRycXC3CXIvovps9sZwjOzcFcN79BC9sSsGaeN5oV86j9JnkDA3GnM+/n4Yhj7hjQ9M6gvrfIna6BoZrvr
NiWfVbm6LCxT3Nzo7+hunHm7rG8MkGJr+mfuVfpxA9FKXHu1mUmXJPQFYjW6i27sd2CMJLz5NeU7+HIa4YIegn40K9uTMGXADQ+GPDSAcZ/7
EXqcB6BhzymnSDoYIDfiOAKwxeCUO2ykQ9kibxSqbS9Li1PieOoRdCNBm7WdCjm0dbZWYkjGaYHmmzT+L7/9XEnaMAItdktu7j1rz7K+0Xg3
MFP8WhzFhPujOw4SQC6AeDwjkE/46RVPPQPv6Ir5c3TGRkjs90oTI9wJDgmgXrCUoC/HGw3G1p51wfh1W1TI534SLfiV7+nSkDxtGMxglfSf
brYqu7W4111MWAXfk+W+cc36vSNbRDAUE6bhB2eWj7tOt3HjTGcbpZ1ahL/moP3N2alUPqkJW+1yu7yMxN403wQb/GmEzkih3Oz+BcSD9ZNS
PhnVCFO8wCIdKq3+uunSf0skax7qbY4tMa7nDpdD4SvkgarglD1fqyvibLYIYmJjMRmn2Qrupy5W5mCaFdBp+ggD12qOT90ST6Z5edPXe9aZ
doUWR+ISUEwZT/CtdVlfBB3jRY149xgXPTrcbwhN/uwE7X8m5ordzTYLlq0osPVYU6YeJ4+zTRrcex3Ssrd1U+YQTpYqEPVne7cZLgbHazca
/DzSUzJ+71YU46SlffL8o9RL7OW97x2g1hTZhCOupfqwA4t53pQTViHHOoK2SeilZfhwbYzKjeVykmEjcCOfW4OjYC/jRGz2n3/xZa1+Iv/W
oMVbmBm2cbv8FIA7HFGkhUeCmyLjtJGww1xwJ+vG9JuIVYUblqNryvu2HQrWci4PAXkEQCiA/Cij5vH81l4azAYrq0SK0Cr0h3nHrMY0hO9A
hJSyN5Vkjk45903ukSX1cljgWYeywG2sMAKD6/yKhedR8t0vKO087ZQOvmlQh55pctYQ4pDrcVkZGWTFz07Jq8KA2unlBCSyw94b+vioasqb
MDswFTCQ2Uzp+e022se7jyTMchTiBCrbHzUumE0mGZeviacCe6fJ7ZjCqSJ6/czdeiHt231/+AnZYIXWkcO6IoOy4igtrHezNHfKrhrvW+IA
ADBr2Bi5Ui7Y079EElqSgT7JJyzZB+2heU0N7US8OhHcdA7Nt1N+qlyqCAeNvhonZGjZz/SMFXENFaWNNISd4jKUvrYDHWSeUpirY2DOPHVr
KI+CN9c6vVw787SH3qCKUYBFprISxSo3IcI9u9+A1NfJZc38kJpgBdI4/nOuFTUeBH6QAdHO2mY2y3sv5yR/ni4fNZAeGvRPtCevhcT2OL4o
3Bg0nOwlp6NzXfKpVo74KZeEp4ywDbLrvbAfj6rTcZQEA34CyCP1rJZK2uAEaMG6YqpQuCi2SmVj492PkRcwua+QSPMltFBNIyrd7cGG7UwM
oTxMg0p/Ebic7d/hyi/IC5wHEgL7KewePu0inuXKVdG4UBffzUiwEHjHhxi8W6WkIVMHm4L3blz9rrkmhjYy1Gxc9LKkheGkxokp7pzFZnGp
wZRjnjlBQ1D7FsHVyuDBQk5b+EL/yaB/0SPNwv/GKPufgWnlOecD9sZooMMpAl9IsGQWJCJZBpE2B0jgmSRx3EW8g8otvAwnefX5hhzZmWP5
XKhWRybyvTsnxn2MUebXzPUrZfQak4M9C72mq8M567xYwd7dJL7mo7opNnxRLGWiMvuCF6+4DTE8sKPo+o2WbhOSnHxlLU00jF0GHSLYk8CZ
h31W4+0mSaiW4HOINO5kF1ypRV+7SI1mZ2j8erpbpOE0ymunkoIUbiW5afN02rwcQfqqS6ykjeezrvpgXHSc2MfTV9usTotDG4trAx5TiXqf
xsOlG5XYbTSncr7jq+YPyBNCkoOyLb2aSJaV2GdcvBgXhQqB74L9fhGkhFkofzonE708zGOVpkjnxNRlqBXZB2/g/+2wpRntzHpI27Iac2rk
XjLMgwyB5AeRSwpbuIuaYeQ8SDKoa/Fp+wCOdyipkV/LxTw1tFdOU8r0YvTcLpNukbYIbADftDZJvWFjscRqeF51IVrYJiu+YsJOnSytw1Zu
DsOLDkTBKCVabH7YTH9vaqRSMM7hEYa5X5hEndglryOZnUpisVqzj6rOO7AlaD8NVW/oc8ZzKaQFlWzP7xMPrXliHbJ630HoBoxgFDcQ4lqF
mhLQM5sVbcub15yYaiVNu5Gx9iiwkJocw8WxUstRBRXGpLIkWurqSRy1u7r+F2/FTfXM/CkkTLD+X5jUBy7OhwCS0ea28YpEOcqELAQjrklZ
W61SZfDSWp2wBjE2W3VDkhU4M4Z09mAqz6PpuLeKpBeoTDfpuOP7toPXnt0nw5sqiZd2mkOMMmuiJA+q1x4EXI8/nvDKRjyAKId/13QPs0/c
Jpg/+/8EYjVhdCVrf7utqVBT1GX64FV2X2k7BdFXeShmaXM5BkoGL2Wgh0l1HGqaqdhRmGUli4bcIVsm5O600HflXmQrUJtUHFOEzT+732Wh
LCYeXtn6Prmke4aMLunj6UjT2E0M2yr+2sgENpEVDgNSSmLYG0Rzr2SD4dGmUTvaS8KGtRUpYSYvEMNo63IXmBZxNqVVjQ6tu5sfqcmNiskS
dO1k49Q/LkR5lb1TUqXiuDKMlDv4UzUd/n8vHr4dBnWGRo3e8SkMJ26NbXAjWO6IkrzyS25YF+DqUyQAOrk2lmzpMqkZviVykUVY+gSqd3Ia
WvkV5UXz49+6QNuP45eaN16L4AepV7fEiwGXlm1vIY/h1yOpgXlaRSf390XlTzglvlQXVTZh1pbFeeLXInqM2rU9CyopAwl4uVEYQzUoZZrh
tgZeu3oL3IJ7dnZj6mUWVB2q8E5ALBc+KkOzJX6Jp3LYum4d0ar5RmC2tzWgGsGJnsB/sExTxli++ufkj3gtVIwwKTHopNy7K2LAG2sg4IXO
kqVB+e/cIrpL2NsPRJaj404etqSyUdkO38WqMP0eXqUR3HU2G92rrecC3x8+bo75f3XJ64tOTItw0T2Alm1lQl42fiZj+zZcGkmkLXinLm3z
n7IWtWTPCxuS5lIzwB69nhQL3ZMzhqMMvw9hKuI2sB2vk7JOpqAtKNiWw30LBWFpA5lQmZ1pJ+oHcwzeMTRS4AHYdBuhWHV16XFNZCP0R2Rq
L5Ei2JwYPtlLNKUVZefKvEqpRfx+9uzylMdWMkPkqmwJmVfVm2+5FooEGgBZz8q+ACqNdyqOOOLp47OHax8as/8nElBY1n0DRNjNDZ7qbDuo
CuM52ucomnsHPOJCY7++XP63Kv4CtnCIy1JV1KuWvwsF8kKZ7PMc569eYSgJemCknA9q1RLQEhpJeI5kXt7n1MfvBKFgprEKtkEfaWaxTMHT
+b/fLAiiv/CKB8T1v4QjdWymY+Dhu6M2GSITSFN1+qoS06koX/NA4t4B/2wonn3yEmQwhmdCkwCkbzL68xJ0cF8Go/Ygkh43p9vnh8WqmgBL
TgxvZBlhx6zn6eKiHY8Gp+W8q+FrxIeU7Qjr85MeBw4Nh40nSMus1bcE3BxJAAAAkwd5MEuyy5UAAfoyuJUCAKh7lb2xxGf7AgAAAAAEWVo=
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

test_case "three turns by themselves and then four at a time are an unrolled loop as well"
run "$python" -c '
from common.tools.measure.accesses import unrolling
first, then = (0, 9), (20, 40)
print(unrolling([first] * 3 + [then] * 4), unrolling([first] * 4 + [then]), unrolling([first] * 3 + [then] * 5))'
expect_output "4 -4 0"

test_case "a loop whose end is loaded has four turns more before those of 16, which are never made"
run "$python" -c '
from common.tools.measure.accesses import unrolling
ones, sixteen = (0, 9), (20, 90)
print(unrolling([ones] * 3 + [None] * 12 + [sixteen] * 48 + [None] * 36), unrolling([ones] + [None] * 5 + [sixteen] * 16 + [None] * 12))'
expect_output "16 0"

test_case "an nvcc that refuses the program ends it with what it says"
printf '#!/bin/sh\necho "kernels.cu(3): error: no" >&2\nexit 1\n' >"$scratch/fake/nvcc"
answers 1 "kernels.cu(3): error: no" \
  run env FILE="$scratch/kernels.cu" PATH="$scratch/fake:$PATH" "$python" common tools.measure.accesses "$scratch/none" own/kernels
expect "no table" [ ! -e "$scratch/none" ]

test_case "the nvcc that is installed makes the same of it"
if ! nvcc --version 2>/dev/null | grep -q 'release 13\.0'; then
  skip "nvcc 13.0 is not here"
  exit
fi
accesses
expect "the rows" cmp "$scratch/expected" "$scratch/sorted"
