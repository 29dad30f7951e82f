#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The scripts behind the verbs: what they say, and whether they find what they are there to find.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

tools=$PWD/common/tools

# A fake GPU, by name.
fake_gpu() { fake_command nvidia-smi "echo 'GPU 0: $1 (UUID: GPU-0)'"; }

# ---- the backend ---------------------------------------------------------------------------------

fake_command nvcc 'echo "Cuda compilation tools, release 12.4, V12.4.99"'

test_case "auto takes the GPU when nvcc and a device are there"
fake_gpu "NVIDIA H200"
run with_fakes "$tools/setup/backend.sh" auto nvcc
expect "gpu, native" [ "$out" = "gpu native NVIDIA H200, nvcc 12.4" ]

test_case "auto takes the CPU when there is nvcc but no device"
fake_command nvidia-smi 'echo "NVIDIA-SMI has failed" >&2; exit 9'
run with_fakes "$tools/setup/backend.sh" auto nvcc
expect "cpu" has "$out" "cpu nvcc is here, but"

test_case "auto takes the CPU when there is a device but no nvcc, and says what is missing"
fake_gpu "NVIDIA H200"
run with_fakes "$tools/setup/backend.sh" auto no-such-nvcc
expect "cpu" has "$out" "cpu there is a NVIDIA H200 but no nvcc"

test_case "without a device BACKEND=gpu compiles for all architectures"
fake_command nvidia-smi 'exit 9'
run with_fakes "$tools/setup/backend.sh" gpu nvcc
expect "gpu all-major" has "$out" "gpu all-major"

test_case "a GPU's name becomes a file name"
while IFS='|' read -r name file; do
  fake_gpu "$name"
  run with_fakes "$tools/setup/gpu_name.sh"
  expect "$file" [ "$out" = "$file" ]
done <<'END'
NVIDIA H200|h200
NVIDIA H100 80GB HBM3|h100_80gb
NVIDIA A100-SXM4-80GB|a100
NVIDIA GeForce RTX 4090|rtx_4090
Tesla T4|t4
END

# ---- a part of what takes long --------------------------------------------------------------------

test_case "the parts of SHARE=k/n are all of it, each once"
words="a b c d e f g"
parts=$(for k in 1 2 3; do echo "$words" | "$tools/run/part_of.sh" $k/3; done | sort | tr '\n' ' ')
expect "all words" [ "$parts" = "$words " ]
expect "every third" [ "$(echo "$words" | "$tools/run/part_of.sh" 3/3 | tr '\n' ' ')" = "c f " ]

test_case "SHARE= that is no part is refused"
for share in 4/3 0/3 3 x; do
  run make -n build SHARE="$share"
  expect "$share: refused" [ "$status" -ne 0 ]
  expect "$share: says what is allowed" has "$err$out" "expected k/n, the k-th of n parts, as in 1/3"
done
for share in "1/3'" "\$(touch gone)/2"; do
  run make -n build SHARE="$share"
  expect "$share: refused" [ "$status" -ne 0 ]
  expect "$share: says what it has" has "$err$out" "no SHARE has a "
done

# ---- races ----------------------------------------------------------------------------------------

mkdir -p "$scratch/raced"
for program in 13_textures 13_stale_fetches; do
  printf '#!/bin/sh\necho "race: seen by %s" >&2\necho "note: kernels run slower while races are looked for" >&2\nexit 1\n' $program \
    >"$scratch/raced/$program"
  chmod +x "$scratch/raced/$program"
done
# Where the sources and settings are, with a build folder of its own.
races() { (cd "$scratch/here" && "$tools/run/races.sh" "$scratch/raced" "$@"); }
mkdir "$scratch/here" && ln -s "$PWD/chapters" "$scratch/here/chapters"

test_case "an experiment that is there to show a race is looked at when it is asked for, not among others"
run races 13_stale_fetches
expect_status 1
expect "its race" has "$err" "race: seen by 13_stale_fetches"
run races "13_textures 13_stale_fetches"
expect "the chapter's" has "$err" "race: seen by 13_textures"
expect "not its own" has_not "$err" "13_stale_fetches"
run races 13_stale_fetches --seed 1
expect_status 1
expect_no_output "kernels run slower"

# ---- the test runner -----------------------------------------------------------------------------

mkdir -p "$scratch/runner/build/cpu/tests"
# shellcheck disable=SC2016  # expanded when the stand-in runs
fake_test() {
  printf '#!/usr/bin/env bash\nsay() { printf "%%s\\t%%s\\n" "$1" "$2" >>"$TEST_RESULTS"; }\n%s\n' "$2" \
    >"$scratch/runner/build/cpu/tests/$1.test"
  chmod +x "$scratch/runner/build/cpu/tests/$1.test"
}
flags=()
run_fakes() {
  local tests=() name
  for name in "$@"; do tests+=("build/cpu/tests/$name.test"); done
  cd "$scratch/runner" && SCHEDULES="forward reverse" run "$tools/setup/python.sh" --run tools.checks.run_tests cpu ${flags[@]+"${flags[@]}"} ${tests[@]+"${tests[@]}"}
  cd - >/dev/null || exit
}
last_line() { printf '%s\n' "$out" | tail -1; }

fake_test good 'say started a; say passed a; say started b; say passed b'
fake_test bad 'say started a; say failed a; say started c; say passed c; exit 1'
fake_test crash 'say started a; say passed a; say started boom; kill -SEGV $$'
fake_test empty 'exit 0'
fake_test skips 'say started s; say skipped s'
fake_test late 'say started a; say passed a; exit 1'
# shellcheck disable=SC2016
fake_test picky 'say started p; if [ "${CUDA_CPU_SCHEDULE:-}" = reverse ]; then say failed p; exit 1; fi; say passed p'

test_case "passing tests: the last line counts them, the status is 0"
run_fakes good skips
expect_status 0
expect "2 passed" [ "$(last_line)" = "2 passed, 0 failed, 1 skipped" ]

test_case "a failing test fails the run and is counted"
run_fakes good bad
expect_failure
expect "3 passed, 1 failed" [ "$(last_line)" = "3 passed, 1 failed, 0 skipped" ]

test_case "a crash counts as a failure of the test that was running, by its signal"
run_fakes crash
expect_failure
expect "1 failed" [ "$(last_line)" = "1 passed, 1 failed, 0 skipped" ]
expect_output "boom"
expect_output "SIGSEGV"

test_case "a program that fails after its tests passed fails the run"
run_fakes late
expect_failure
expect "1 failed" [ "$(last_line)" = "1 passed, 1 failed, 0 skipped" ]

test_case "a program without tests, and no program at all, are failures"
run_fakes empty
expect_failure
expect "1 failed" [ "$(last_line)" = "0 passed, 1 failed, 0 skipped" ]
run_fakes
expect_failure
expect "none" [ "$(last_line)" = "0 passed, 0 failed, 0 skipped" ]

test_case "a test that fails under one schedule only fails, and the schedule is named"
mkdir -p "$scratch/runner/tests"
touch "$scratch/runner/tests/picky.test.cu"
run_fakes picky
expect_failure
expect "1 failed" [ "$(last_line)" = "0 passed, 1 failed, 0 skipped" ]
expect_output "under reverse"
expect_output "CUDA_CPU_SCHEDULE=reverse"

test_case "tests run side by side, or one at a time where that is asked for"
# meets NAME OTHER TENTHS SEEN UNSEEN [LAST]: begins, waits for the other to begin, and says whether it saw that.
meets() {
  fake_test "$1" "say started $1; touch $1.begun
    for i in \$(seq $3); do [ -e $2.begun ] && break; sleep 0.1; done
    if [ -e $2.begun ]; then say $4 $1; else say $5 $1; fi; ${6:-}"
}
meets ann bob 200 passed failed
meets bob ann 200 passed failed
flags=(--at-a-time 2)
run_fakes ann bob
expect_status 0
rm -f "$scratch/runner/ann.begun" "$scratch/runner/bob.begun"
meets ann bob 3 failed passed 'rm -f ann.begun'
meets bob ann 3 failed passed 'rm -f bob.begun'
flags=(--at-a-time 1)
run_fakes ann bob
expect_status 0
flags=()

test_case "a run ends with the tests that took longest, and the next one begins with them"
fake_test slow 'say started s; sleep 1; say passed s'
run_fakes good slow
expect_output "where the time went"
expect "the slowest first" has "$(printf '%s\n' "$out" | sed '1,/testing, /d' | head -1)" slow
flags=(--at-a-time 1)
run_fakes good slow
expect "what took longest last time to come first" has "$(printf '%s\n' "$out" | sed -n 2p)" slow
flags=()

test_case "a run that is stopped stops what it has started"
# shellcheck disable=SC2016
fake_test sleeps 'say started s; sleep 60 & echo $! >"$PIDS"; wait'
has_ended() { ! kill -0 "$(cat "$scratch/pids")" 2>/dev/null; }
(cd "$scratch/runner" && PIDS=$scratch/pids exec "$tools/setup/python.sh" --run tools.checks.run_tests cpu build/cpu/tests/sleeps.test >/dev/null 2>&1) &
stopped=$!
for _ in $(seq 100); do [ -s "$scratch/pids" ] && break; sleep 0.1; done
kill -TERM $stopped
wait $stopped
status=$?
expect_status 130
for _ in $(seq 200); do has_ended && break; sleep 0.1; done
expect "no process left behind" has_ended

# What passed is kept only if that is asked for, as make test does.
keep() { local flags=(--keep); run_fakes "$@"; }
times_run() { grep -c . "$scratch/runner/runs" 2>/dev/null; }
forget_runs() { rm -f "$scratch/runner/runs"; }
mkdir -p "$scratch/runner/tests" "$scratch/runner/chapters" "$scratch/runner/common"
fake_test counted 'echo x >>runs; say started k; say passed k'
: >"$scratch/runner/tests/counted.test.cu"
fake_test looks_around 'echo x >>build/looked; say started l; say passed l'

test_case "what passed is not run again while nothing has changed, and counts"
keep counted
keep counted
expect_status 0
expect "each schedule once" [ "$(times_run)" = 2 ]
expect "1 passed" [ "$(last_line)" = "1 passed, 0 failed, 0 skipped" ]
expect "it is said" has "$out" "1 of these passed before, and what they look at has not changed: FORCE=1"
expect "no time" has "$(printf '%s' "$out" | tr -s ' ')" "counted 1 test, 2 schedules unchanged"

test_case "without --keep everything runs"
forget_runs
run_fakes counted
expect "two runs" [ "$(times_run)" = 2 ]

test_case "a program that was compiled again runs again, and so does one whose data have changed"
keep counted
forget_runs
touch "$scratch/runner/build/cpu/tests/counted.test"
keep counted
expect "two runs" [ "$(times_run)" = 2 ]
echo 1 >"$scratch/runner/tests/data.csv"
keep counted
expect "four runs" [ "$(times_run)" = 4 ]
echo 2 >"$scratch/runner/tests/source.cu"
keep counted
expect "still four" [ "$(times_run)" = 4 ]

test_case "another compiler or another setting of the backend: all run again"
forget_runs
CUDA_CPU_WORKERS=1 keep counted
expect "two runs" [ "$(times_run)" = 2 ]
CUDA_CPU_WORKERS=1 CXX=no-such-compiler keep counted
expect "four runs" [ "$(times_run)" = 4 ]

test_case "what is no .test.cu runs again when any file has changed, or is gone"
looked() { grep -c . "$scratch/runner/build/looked"; }
keep looks_around
keep looks_around
expect "once" [ "$(looked)" = 1 ]
echo 1 >"$scratch/runner/common/tool"
keep looks_around
expect "twice" [ "$(looked)" = 2 ]
rm "$scratch/runner/common/tool"
keep looks_around
expect "three times" [ "$(looked)" = 3 ]
mkdir "$scratch/runner/common/__pycache__"
echo 1 >"$scratch/runner/common/__pycache__/tool.pyc"
keep looks_around
expect "what Python keeps is no change" [ "$(looked)" = 3 ]

test_case "what failed or was skipped is not kept"
keep bad
keep bad
expect_failure
expect "1 failed" [ "$(last_line)" = "1 passed, 1 failed, 0 skipped" ]
keep good skips
keep good skips
lacks_unchanged() { ! printf '%s\n' "$out" | grep -q "skips.*unchanged"; }
expect "good is kept" has "$out" "2 of these passed before"
expect "skips ran" lacks_unchanged

# ---- what the front page shows -------------------------------------------------------------------

test_case "the CPU backend never waits with a timeout: the race checker of g++ 11 takes the mutex for locked"
output=$(grep -rnE 'wait_(for|until) *\(' common/cpu --include='*.cpp' --include='*.h')
expect "no such wait" [ -z "$output" ]

test_case "the bug report on the front page is what the CPU backend prints"
if [ ! -x "${ZOO_DIR:-build/cpu/zoo}/divergent_barrier" ]; then
  skip "the bug zoo is built for the CPU backend only"
else
  run "${ZOO_DIR:-build/cpu/zoo}/divergent_barrier"
  expect_failure
  expect "common/cpu/results/divergent_barrier.txt" \
    [ "$err" = "$(cat common/cpu/results/divergent_barrier.txt)" ]
fi

test_case "the report in chapter 17 is what the CPU backend prints"
if [ ! -x "${ZOO_DIR:-build/cpu/zoo}/nccl" ]; then
  skip "the bug zoo is built for the CPU backend only"
else
  CUDA_CPU_DEVICES=3 run "${ZOO_DIR:-build/cpu/zoo}/nccl" orders_that_differ
  expect_failure
  expect "common/cpu/results/nccl_orders.txt" [ "$err" = "$(cat common/cpu/results/nccl_orders.txt)" ]
fi

# ---- notes ---------------------------------------------------------------------------------------

needs_python "notes quote code, tables and values"

chapter=$scratch/notes/chapters/05_sum
mkdir -p "$chapter/results"
cat >"$chapter/sum.cu" <<'END'
// SPDX-License-Identifier: MIT
// Chapter 05: a sum

constexpr int kTile = 32;  // lanes

// Adds. "sum_tile(" in a comment or a string is no declaration.
template <int kSize, class T = int>
__global__ void sum_tile(const T* x, T* sum) {
  if (x[0] > '"') {
    *sum = kSize;  // the only store
  }
}

struct Plan {
  int n = 0;
};

int main() { sum_tile<kTile><<<1, 1>>>(nullptr, nullptr); }
END
cat >"$chapter/results/h200.csv" <<'END'
device,cuda,date,n,version,median_ms,rate
NVIDIA H200,13.0,2026-01-31,1024,slow,2.0,512.25
NVIDIA H200,13.0,2026-01-31,1024,fast,0.5,2049
END
cat >"$chapter/README.md" <<'END'
# Sum

<!-- code: sum_tile -->
<!-- end -->
<!-- code: sum_tile from="if (x" to="}" -->
<!-- end -->
<!-- code: kTile -->
<!-- end -->
<!-- code: Plan -->
<!-- end -->
<!-- table: results/h200.csv columns="version, time [us]=median_ms*1000:.0f, rate:,.0f" where="n=1024" -->
<!-- end -->

It is 0.0<!--=slow/fast ms-->x faster, **0,000<!--=fast rate-->** or 0000<!--=n=1024, fast rate--> or 0.0e0<!--=fast rate*1e6-->.
Of 0<!--=n=1024 count()--> rates 0<!--=n=1024 count(rate<2049)--> is low and 0<!--=n=1024 count(rate>=512.25)--> are not; their mean is 0.0<!--=n=1024 mean(rate)-->, the least 0.00<!--=n=1024 least(rate)-->.
END
in_notes() { (cd "$scratch/notes" && "$python" "$tools/.." tools.notes.notes "$@"); }

test_case "notes quote code, tables and values"
run in_notes
expect_status 0
output=$(cat "$chapter/README.md")
expect_output '// Adds. "sum_tile('
expect_output 'template <int kSize, class T = int>'
expect_output '    *sum = kSize;  // the only store'
expect_output 'constexpr int kTile = 32;  // lanes'
expect_output '  int n = 0;'
expect_output '| fast    |       500 | 2,049 |'
expect_output 'NVIDIA H200, CUDA 13.0, 2026-01-31'
expect_output 'It is 4.0<!--=slow/fast ms-->x faster, **2,049<!--=fast rate-->** or 2049<!--=n=1024, fast rate--> or 2.0e+09<!--='
expect "numbers of many rows" [ "$(sed -n '/^Of /{s/<!--=[^-]*-->//g; p; }' "$chapter/README.md")" = \
  "Of 2 rates 1 is low and 2 are not; their mean is 1,024.5, the least 512.25." ]
run in_notes --check
expect_status 0
expect "nothing to say" [ -z "$output" ]

test_case "a quotation closes the blocks that it begins, and keeps its indentation where a directive has none"
cat >"$chapter/loops.cuh" <<'END'
// SPDX-License-Identifier: MIT
void loops(int n) {
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int k = 0; k < n; ++k) {
      first(i, k);  // "{"
      second(i, k);
    }
  }
}
END
printf '<!-- code: loops file="loops.cuh" from="for (int i" to="first" -->\n<!-- end -->\n' >"$chapter/loops.md"
run in_notes chapters/05_sum/loops.md
expect_status 0
expect "the loops" [ "$(sed '1d; $d' "$chapter/loops.md")" = '```cuda
for (int i = 0; i < n; ++i) {
#pragma unroll
  for (int k = 0; k < n; ++k) {
    first(i, k);  // "{"
    // ...
  }
}
```' ]
printf '<!-- code: loops file="loops.cuh" from="second" -->\n<!-- end -->\n' >"$chapter/loops.md"
answers_in_a_line 1 "loops.md:1: code: the block that ends in line 8 of chapters/05_sum/loops.cuh begins above the quotation" \
  run in_notes chapters/05_sum/loops.md
rm "$chapter/loops.md" "$chapter/loops.cuh"

test_case "a key names a chapter, a setting, a kind of results, a unit, an option, a counter"
mkdir -p "$scratch/notes/chapters/06_other/results"
cat >"$scratch/notes/chapters/06_other/settings" <<'END'
[counters]
loads: a__loads.sum
stores: a__stores.sum

[small]
words: --n 5
END
cat >"$scratch/notes/chapters/06_other/results/h200.csv" <<'END'
setting,process,version,median_ms,rate,rate_unit,check
default,1,fast,0.5,1234,GB/s,ok
default,2,fast,0.7,1234,GB/s,ok
small,1,x=4,0.002,30,kHz,ok
small,1,x=4,0.002,7,wrong sums,bad
small,1,a/b x=8,0.004,31,kHz,ok
END
cat >"$scratch/notes/chapters/06_other/results/h200_profile.csv" <<'END'
version,args,kernel,metric,predicted,measured
fast,--n 1Ki,sum,a__loads.sum,10,12
fast,--n 1Ki,sum,a__stores.sum,,8
slow,--n 1Ki,sum,a__loads.sum,,24
slow,@trial --n 1Ki --angle 30,sum,a__loads.sum,,36
END
cat >"$scratch/notes/chapters/06_other/results/h200_xray.csv" <<'END'
run,kernel,counter,predicted,measured
--n 1Ki,sum,a__loads.sum,7,9
END
# looks_up KEY SHOWN WANTED: the number SHOWN becomes WANTED.
looks_up() {
  printf '| **%s<!--=06:%s-->** |\n' "$2" "$1" >"$scratch/notes/number.md"
  run in_notes number.md
  expect_status 0
  expect "$3" [ "$(cat "$scratch/notes/number.md")" = "| **$3<!--=06:$1-->** |" ]
}
looks_up "fast us" 0 500
looks_up "fast GB/s" 0.0 1,234.0
looks_up "fast (rate-1000)/2" 99 117
looks_up "small:x=4 kHz" 1 30
looks_up "small:x=4, rate_unit=wrong sums rate" 1 7
looks_up "small:x=4, check=bad check" word bad
looks_up "small:a/b x=8/x=4, check=ok ms" 0.0 2.0
looks_up "small:a/b x=8/default:fast ms" 0.000 0.008
looks_up "fast loads" 0 12
looks_up "fast loads.predicted" 0 10
looks_up "fast loads/stores" 0.0 1.5
looks_up "slow, angle=/fast loads" 0.0 2.0
looks_up "slow, angle=30 loads/1e1" 0.0 3.6
looks_up "xray:sum loads" 0 9

test_case "a key that names nothing is one line, which says what there is"
# names_nothing KEY SHOWN MESSAGE
names_nothing() {
  printf '\n%s<!--=06:%s-->\n' "$2" "$1" >"$scratch/notes/number.md"
  answers_in_a_line 1 "number.md:2: <!--=06:$1-->: $3" run in_notes --check number.md
}
names_nothing "fastt ms" 0 "no fastt in results/h200.csv; there are fast"
names_nothing "tiny:x=4 ms" 0 "no setting tiny in results/h200.csv; there are default, small"
names_nothing "small:x=4 ms" 0 "small:x=4 are 2 rows of results/h200.csv; they differ in rate, rate_unit, check"
names_nothing "fast s" 0 "no column s; there are "
names_nothing "fast" 0 "not a key; expected ROW VALUE"
names_nothing "fast/fast/fast ms" 0 "a ratio has two rows"
names_nothing "fast, check=bad ms" 0 "no check=bad in results/h200.csv; there are check=ok"
names_nothing "slow loads" 0 "slow loads are 2 rows"
names_nothing "slow, angle=30 stores" 0 "slow, angle=30 in results/h200_profile.csv has no stores, a__stores.sum"
names_nothing "small:x=4 median(rate)" 0 "no median(); there are count, least, mean"
names_nothing "fast ms" "" "before it stands nothing; type a number with the decimals that you want"
printf '1<!--=07:fast ms-->\n' >"$scratch/notes/number.md"
run in_notes --check number.md
expect_output "number.md:1: <!--=07:fast ms-->: there is no chapter 07"
# shellcheck disable=SC2016  # backquotes of Markdown
printf '```\n1<!--=an example-->\n```\n' >"$scratch/notes/number.md"
run in_notes --check number.md
expect_status 0
rm -r "$scratch/notes/number.md" "$scratch/notes/chapters/06_other"

test_case "a number that was typed is reported where it is a result, and where it only looks like one it is not"
mkdir -p "$scratch/notes/chapters/06_other/results"
cat >"$scratch/notes/chapters/06_other/results/h200.csv" <<'END'
setting,version,median_ms,rate,rate_unit,of_percent,speedup
default,fast,0.71294,1755.2,GB/s,88.3,4096
small,slow,2026,512,GFLOP/s,1.25,1.24
END
cat >"$scratch/notes/chapters/06_other/results/h200_profile.csv" <<'END'
version,args,kernel,metric,predicted,measured
fast,--n 1Ki,sum,a__loads.sum,,9056256
fast,--n 1Ki,sum,a__stores.sum,,1048576
END
# typed TEXT [MESSAGE]: what is said of a page with this line
typed() {
  printf '# Other\n\n%s\n' "$1" >"$scratch/notes/chapters/06_other/README.md"
  run in_notes --check chapters/06_other/README.md
  [ $# -eq 2 ] || expect_status 0
  [ $# -eq 1 ] || { expect_status 1; expect_output "chapters/06_other/README.md:3: $2"; expect_one_line; }
}
typed 'It takes 0.713 ms.' '0.713 is typed, and a result: mark it, as in 0.713<!--=fast ms-->'
typed '| 0.713 |' '0.713 is typed'
typed 'It takes 713 µs.' '713 is typed, and a result: mark it, as in 713<!--=fast us-->'
typed 'That is **1,755 GB/s**.' '1,755 is typed, and a result: mark it, as in 1,755<!--=fast rate-->'
typed 'That is 1.76 TB/s.' '1.76 is typed, and a result: mark it, as in 1.76<!--=fast rate/1000-->'
typed 'It is 1.24 times as fast.' '1.24 is typed, and a result: mark it, as in 1.24<!--=small:slow x-->'
typed 'At 88.3 % of it.' '88.3 is typed, and a result: mark it, as in 88.3<!--=fast %-->'
typed 'It counts 9,056,256 loads.' '9,056,256 is typed'
typed 'In 2026 4096 threads write 1,048,576 times, 512 at a time, 1755 ints, 0.71 ms, 0.712 ms.'
# shellcheck disable=SC2016  # backquotes of Markdown
typed 'It takes 0.713<!--=fast ms--> ms, by reckoning 0.713<!-- computed --> ms, `0.713 ms`.'
# shellcheck disable=SC2016  # backquotes of Markdown
typed '```
0.713 ms
```'
rm -r "$scratch/notes/chapters/06_other"

test_case "the front page's table can fold what was measured behind the question"
cp "$chapter/README.md" "$scratch/kept.md"
cp "$chapter/sum.cu" "$scratch/kept.cu"
sed -i.orig 's/a sum$/are < and > escaped?/' "$chapter/sum.cu"
echo '<!-- headline: {{=fast rate}} GB/s -->' >>"$chapter/README.md"
printf '<!-- table: chapters answers="folded" -->\n<!-- end -->\n' >"$scratch/notes/README.md"
run in_notes README.md
expect_status 0
output=$(cat "$scratch/notes/README.md")
expect_output '| guess, then unfold what was measured on NVIDIA H200'
expect_output '| <details><summary>are &lt; and &gt; escaped?</summary>2,049 GB/s</details> |'
sed -i.orig 's/folded/hidden/' "$scratch/notes/README.md"
answers 1 'answers="hidden": only "folded" is known' run in_notes README.md
sed -i.orig 's/hidden/folded/' "$scratch/notes/README.md"
printf '<details><summary><b>Guess.</b> How fast?</summary>\n\n2,049<!--=fast rate--> GB/s.\n\n</details>\n' >>"$chapter/README.md"
answers 1 "the headline of chapters/05_sum/README.md shows fast rate, which answers a guess there" run in_notes README.md
rm "$scratch/notes/README.md"*
mv "$scratch/kept.md" "$chapter/README.md"
mv "$scratch/kept.cu" "$chapter/sum.cu"
rm "$chapter/sum.cu.orig"

test_case "what Markdown would take for a tag is text in a table, and code stays code"
cp "$chapter/README.md" "$scratch/kept.md"
# shellcheck disable=SC2016  # backquotes of Markdown
sed -i.orig 's/,fast,/,<random> a<4 `<b>`,/' "$chapter/results/h200.csv"
printf '<!-- table: results/h200.csv columns="version" -->\n<!-- end -->\n' >"$chapter/README.md"
run in_notes
expect_status 0
# shellcheck disable=SC2016  # backquotes of Markdown
expect "text and code" grep -qF '| &lt;random> a<4 `<b>` |' "$chapter/README.md"
mv "$chapter/results/h200.csv.orig" "$chapter/results/h200.csv"
mv "$scratch/kept.md" "$chapter/README.md"

test_case "a deck's paths start at its chapter, and what it quotes holds no links"
mkdir -p "$scratch/notes/slides"
cat >"$scratch/notes/slides/05_sum.md" <<'END'
<!-- code: kTile -->
<!-- end -->
<!-- table: results/h200.csv columns="version" -->
<!-- end -->
END
cat >"$scratch/notes/slides/00_course.md" <<'END'
{{=05:fast rate}} and {{=05:slow rate .2}}
<!-- table: chapters -->
<!-- end -->
END
run in_notes
expect_status 0
output=$(cat "$scratch/notes/slides/05_sum.md")
expect_output 'constexpr int kTile = 32;  // lanes'
expect_output 'data: results/h200.csv*'
expect_no_output ']('
output=$(cat "$scratch/notes/slides/00_course.md")
expect_output '{{=05:fast rate}} and {{=05:slow rate .2}}'
expect_output '| 05  | Sum'
expect_no_output ']('
mkdir "$scratch/filled"
run in_notes --fill "$scratch/filled" slides/00_course.md
expect_status 0
expect "numbers" grep -q '^2,049 and 512.25' "$scratch/filled/00_course.md"
sed -i.orig 's/05:fast/05:none/' "$scratch/notes/slides/00_course.md"
answers 1 "slides/00_course.md:1: {{=05:none rate}}: no none in results/h200.csv; there are slow, fast" run in_notes --check
answers 1 "slides/00_course.md:1: {{=05:none rate}}: no none" run in_notes --fill "$scratch/filled" slides/00_course.md
mv "$scratch/notes/slides/00_course.md.orig" "$scratch/notes/slides/00_course.md"
sed -i.orig 's/= 32;/= 16;/' "$chapter/sum.cu"
answers 1 "slides/05_sum.md:1: code drifted from chapters/05_sum/sum.cu" run in_notes --check
printf '<!-- table: chapters from="06" -->\n<!-- end -->\n' >>"$scratch/notes/slides/00_course.md"
answers 1 "no chapter in that range" run in_notes --check
mv "$chapter/sum.cu.orig" "$chapter/sum.cu"
rm -r "$scratch/notes/slides"

test_case "minutes are added up from the decks' notes and the exercises"
mkdir -p "$scratch/notes/slides" "$chapter/exercises"
cat >"$scratch/notes/slides/05_sum.md" <<'END'
---
marp: true
---

<!-- _class: title -->

# Sum

<!--
1 min. Hello.
-->

---

# Two
<!-- code: kTile -->
<!-- end -->

<!--
12 min, live. Not 30 min.
-->

---

# Lab

<!--
The rest of the lesson, 10 min.
-->
END
sed -e 's/12 min/99 min/' -e '/^<!-- code/d' -e '/^<!-- end/d' "$scratch/notes/slides/05_sum.md" >"$scratch/notes/slides/00_course.md"
printf '# Exercises\n\n## %d. One\n[a.cu](a.cu) · fix the bug · %d minutes · 1 point\n' 1 20 2 30 >"$chapter/exercises/README.md"
cat >"$scratch/notes/chapters/README.md" <<'END'
<!-- minutes: 05 --><!-- end -->, <!-- minutes: course 05 --><!-- end -->, <!-- minutes: longest --><!-- end -->
<!-- minutes: labs 05 --><!-- end --> of labs
<!-- plan: from="09:00" until="10:15" rows="deck 05; pause 10: tea; lab 05 2; deck course slides 1-1: again; talk 3: farewell" -->
<!-- end -->
END
run in_notes
expect_status 0
output=$(cat "$scratch/notes/chapters/README.md")
expect_output '-->13<!-- end -->, <!-- minutes: course 05 -->113<!-- end -->, <!-- minutes: longest -->13<!-- end -->'
expect_output '-->50<!-- end --> of labs'
expect_output '| 09:00 |      13 | lecture 05 [Sum](05_sum/README.md) |'
expect_output '| 09:15 |      10 | tea '
expect_output '| 09:25 |      30 | lab 05, exercise 2 '
expect_output '| 09:55 |       1 | again '
expect_output '| 10:00 |       3 | farewell '
expect_output '| 10:05 |         | end '
run in_notes --check
expect_status 0
sed -i.orig 's/12 min, live/28 min, live/' "$scratch/notes/slides/05_sum.md"
answers 1 "chapters/README.md:1: minutes drifted from the decks' notes" run in_notes --check
expect_output "chapters/README.md:3: plan: the plan ends at 10:20, after 10:15"
sed -i.orig 's/28 min, live/live, 28 min/' "$scratch/notes/slides/05_sum.md"
answers 1 "slides/05_sum.md:14: this slide's notes do not begin with its minutes" run in_notes --check
sed -i.orig 's/live, 28 min/12 min/; s/lab 05 2/lab 05 3/' "$scratch/notes/slides/05_sum.md" "$scratch/notes/chapters/README.md"
answers 1 "exercises/README.md: no exercise 3 with minutes" run in_notes --check
sed -i.orig 's/lab 05 3/talk 120: long/' "$scratch/notes/chapters/README.md"
run in_notes --check
expect_output "121 minutes without a pause, up to: deck course slides 1-1: again; at most 120"
cat >"$scratch/notes/chapters/README.md" <<'END'
<!-- weeks: lecture="15" lab="50" words="besides" rows="05 | 05 + 05: tea | a walk" -->
<!-- end -->
END
run in_notes
expect_status 0
output=$(cat "$scratch/notes/chapters/README.md")
expect_output '| 1            | 05 (13)  | 05 (50); at home 05; tea |           1.5 |            | a walk  |'
expect_output '| a week later |          |                          |               | 05, 05 (4) |         |'
expect_output '| together     | 13       | 50                       |           1.5 | 4 points   |         |'
refused() { # EDIT MESSAGE
  sed -i.orig "$1" "$scratch/notes/chapters/README.md"
  answers 1 "chapters/README.md:1: weeks: $2" run in_notes --check
  mv "$scratch/notes/chapters/README.md.orig" "$scratch/notes/chapters/README.md"
}
refused 's/lecture="15"/lecture="12"/' "lecture 05 takes 13 minutes, more than 12"
refused 's/lab="50"/lab="49"/' "lab 05 takes 50 minutes, more than 49"
refused 's/rows="05/rows="05, 05/' "lecture 05 is held twice"
refused 's/| a walk//' "not a week: 05 | 05 + 05: tea; expected as in: "
sed -i.orig 's/12 min/11 min/' "$scratch/notes/slides/05_sum.md"
run in_notes --check
expect_output "chapters/README.md:1: weeks drifted from the decks' notes"
rm -r "$scratch/notes/slides" "$scratch/notes/chapters/README.md"* "$chapter/exercises"

test_case "notes that drifted from code or results are named by file and line"
sed -i.orig 's/kSize;/kSize + 1;/' "$chapter/sum.cu"
answers 1 "chapters/05_sum/README.md:3: code drifted from chapters/05_sum/sum.cu:6" run in_notes --check
mv "$chapter/sum.cu.orig" "$chapter/sum.cu"
sed -i.orig 's/,2.0,/,3.0,/' "$chapter/results/h200.csv"
answers 1 "table drifted from results/h200.csv" run in_notes --check
expect_output "4.0 drifted from 6.0, which is slow/fast ms; run make notes"
mv "$chapter/results/h200.csv.orig" "$chapter/results/h200.csv"

test_case "a marker for what is not there is named by file and line"
cp "$chapter/README.md" "$scratch/kept.md"
cat >>"$chapter/README.md" <<'END'
<!-- code: nonesuch -->
<!-- end -->
1<!--=n=1024 rate-->
1<!--=n=1024 least(version)-->
<!-- code: kTile -->
END
answers 1 "no function, type or constant called nonesuch" run in_notes --check
expect_output "n=1024 are 2 rows of results/h200.csv; they differ in version, median_ms, rate"
expect_output "version is no number in 2 of 2 rows"
expect_output "no <!-- end --> follows"
mv "$scratch/kept.md" "$chapter/README.md"

test_case "missing files, files that nobody reads and dead links are found"
in_check() { (cd "$scratch/notes" && "$python" "$tools/.." tools.checks.check_text); }
printf '[a](nowhere.md) and [b](#no-heading) and [c](#sum) and ![d](figures/x.svg)\n' >>"$chapter/README.md"
echo "--n 5" >"$chapter/xray.args"
answers 1 'no tests/05_sum.test.cu' run in_check
expect_output "chapters/05_sum/xray.args: nobody reads it here"
expect_output "dead link nowhere.md"
expect_output "dead link #no-heading"
expect_output "dead link figures/x.svg"
expect_no_output "dead link #sum"
rm "$chapter/xray.args"

test_case "a lab's check that names a section which its notes do not have is found"
mkdir -p "$chapter/exercises"
printf '## Tiles\n' >>"$chapter/lab_notes.md"
cat >"$chapter/exercises/ex1_a.check.cu" <<'END'
const std::string notes = "chapters/05_sum/lab_notes.md: ";
  check(notes + "Tiles", notes + "Tiles, two barriers",
        notes + "Tilesets");
  check("chapters/05_sum/README.md: Gone", "chapters/05_sum/gone.md: Tiles");
END
answers 1 'ex1_a.check.cu:3: chapters/05_sum/lab_notes.md has no section "Tilesets"; there are: Tiles' run in_check
expect_output 'ex1_a.check.cu:4: chapters/05_sum/README.md has no section "Gone"'
expect_output "ex1_a.check.cu:4: no file chapters/05_sum/gone.md"
expect "three complaints" [ "$(grep -c "ex1_a.check.cu:[34]" <<<"$output")" -eq 3 ]
rm -r "$chapter/exercises" "$chapter/lab_notes.md"

test_case "lab notes are quoted into as notes are"
printf '<!-- code: kTile -->\n<!-- end -->\n' >"$chapter/lab_notes.md"
run in_notes
expect "the constant" grep -q 'constexpr int kTile = 32;  // lanes' "$chapter/lab_notes.md"
rm "$chapter/lab_notes.md"

test_case "tabs and trailing blanks are found, but not the tabs of a Makefile's rules"
printf '// SPDX-License-Identifier: MIT\n\tint x; \n' >"$scratch/notes/bad.cu"
printf '# SPDX-License-Identifier: MIT\nall:\n\techo x\n' >"$scratch/notes/rules.mk"
answers 1 "bad.cu:2: a tab" run in_check
expect_output "bad.cu:2: blanks at the end"
expect_no_output "rules.mk"

# ---- what others read of this repository ---------------------------------------------------------

test_case "a limit of time is that of an idle machine: where others have the cores, a right test takes as much longer"
run "$python" -c 'import os, sys
from common.labs import runner
from common.tools.checks import terminal
for busy in 0, 5:
    os.getloadavg = lambda: (busy * terminal.cores(), 0, 0)
    ended = runner.run(["sleep", "2.5"], runner.Limits(wall=1)).ended_by
    print(busy, terminal.limited(["sleep", "2.5"], 1, sys.argv[1]), ended or "in time")' "$scratch/log"
expect "the first to be stopped" [ "$out" = $'0 124 time\n5 0 in time' ]

test_case "the workflow runs .ci/run on the whole history, the container is built by its Dockerfile, a classroom's has each exercise with its points"
cat >"$scratch/parse.py" <<'END'
import glob, json, re

container = json.load(open(".devcontainer/devcontainer.json", encoding="utf-8"))
assert container["build"] == {"dockerfile": "Dockerfile", "context": ".."}, container["build"]
assert re.search(r"^ARG BASE=debian:\d+\nFROM \$\{BASE\}$", open(".devcontainer/Dockerfile", encoding="utf-8").read(), re.M)

text = open(".github/workflows/ci.yml", encoding="utf-8").read()
assert "\t" not in text and text.count("- run: .ci/run\n") == text.count("timeout-minutes:") == 2, "two jobs run .ci/run"
assert text.count("fetch-depth: 0") == text.count("uses: actions/checkout@") == 2, "each with the history"
citation = re.search("^To cite it: (.*)$", open("README.md", encoding="utf-8").read(), re.M).group(1)
version = re.search(r"The CUDA Tutorial authors, \*CUDA tutorial.*\*, version ([\d.]+), \d+ \w+ \d+, .*MIT licence", citation).group(1)
assert f"## {version}\n" in open(".github/CHANGELOG.md", encoding="utf-8").read(), version
classroom = open("common/labs/classroom.yml", encoding="utf-8").read()
(chapter,) = set(re.findall(r"make lab CH=(\d\d) ", classroom))
(page,) = glob.glob(f"chapters/{chapter}_*/exercises/README.md")
exercises = re.findall(r"^\[ex(\d)_.* (\d+) points?\b", open(page, encoding="utf-8").read(), re.M)
steps = re.findall(r"- id: ex(\d)\n(?:.*\n){3} +command: make lab CH=\d\d EX=(\d)\n.*\n +max-score: (\d+)\n", classroom)
assert [(ids, points) for ids, _, points in steps] == exercises and all(a == b for a, b, _ in steps), (steps, exercises)
assert re.findall(r"EX(\d)_RESULTS: \$\{\{ steps.ex(\d).outputs.result \}\}", classroom) == [(n, n) for n, _ in exercises]
assert f"runners: {','.join(f'ex{n}' for n, _ in exercises)}\n" in classroom
try:
    import yaml
except ImportError:
    print("PyYAML is not here: the structure alone was looked at")
else:
    jobs = yaml.safe_load(text)["jobs"]
    assert len(yaml.safe_load(classroom)["jobs"]) == 1
    assert all(job["steps"][-1]["run"] == ".ci/run" and job["timeout-minutes"] for job in jobs.values()), jobs
END
run "$python" "$scratch/parse.py"
expect_status 0

# ---- who includes whom ---------------------------------------------------------------------------

test_case "a program or an experiment that includes another program, or another chapter's header, is found"
mkdir -p "$scratch/rooms/chapters/05_sum/experiments" "$scratch/rooms/chapters/15_product"
printf '#include "../../common/common.cuh"\n#include "part.cuh"\n' |
  tee "$scratch/rooms/chapters/05_sum/sum.cu" >"$scratch/rooms/chapters/15_product/product.cu"
printf '#include "../../../common/common.cuh"\n#include "../part.cuh"\n#include "../sum.cu"\n#include "../../03_x/y.cuh"\n' \
  >"$scratch/rooms/chapters/05_sum/experiments/guest.cu"
echo '#include "../../../common/common.cuh"' >"$scratch/rooms/chapters/05_sum/experiments/shared.cuh"
echo '#include "shared.cuh"' >"$scratch/rooms/chapters/05_sum/experiments/by_header.cu"
cd "$scratch/rooms" || exit
run "$python" "$tools/.." tools.checks.rooms --check
cd - >/dev/null || exit
expect_status 1
expect_output "chapters/05_sum/sum.cu: includes part.cuh: allowed: common/common.cuh"
expect_output "guest.cu: includes ../sum.cu"
expect_output "guest.cu: includes ../../03_x/y.cuh"
expect_output "by_header.cu: includes chapters/05_sum/experiments/shared.cuh, which includes common/common.cuh: include that, too"
expect "nothing else" [ "$(lines_in "$output")" -eq 4 ]

# ---- profile -------------------------------------------------------------------------------------

profiled=$scratch/profiled
mkdir -p "$profiled/chapters/05_sum" "$profiled/build/gpu"
cat >"$profiled/chapters/05_sum/settings" <<'END'
[profile]
# a comment
version,args,metric,predicted,why
tree,--n 1Mi,smsp__inst_executed.sum,1000,"one per warp, and level"
END
fake_gpu "NVIDIA H200"
# in_profiled BACKEND CHAPTER, or BACKEND PROGRAM OPTION... of a program of one's own
in_profiled() {
  local script=predictions
  case $2 in build/*) script=own_profile ;; esac
  (cd "$profiled" && with_fakes "$python" -B "$tools/.." "tools.measure.$script" --backend "$@")
}

test_case "profile takes the last launch of the version's kernel"
# shellcheck disable=SC2016  # expanded when the stand-in runs
fake_command ncu 'while [ "$1" != --log-file ]; do shift; done
cat >"$2" <<REPORT
==PROF== Connected to process 1
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","copy(int *)","smsp__inst_executed.sum","inst","7"
"1","void sum_tree<(int)256>(const int *)","smsp__inst_executed.sum","inst","1,100"
"2","void sum_tree<(int)256>(const int *)","smsp__inst_executed.sum","inst","1,234"
"3","copy(int *)","smsp__inst_executed.sum","inst","7"
REPORT'
answers 0 "| 1000 | 1234 | inst |" run in_profiled gpu 05_sum
expect "the measurement in a file" grep -q '^tree,--n 1Mi,sum_tree,smsp__inst_executed.sum,1000,1234,inst' \
  "$profiled/chapters/05_sum/results/h200_profile.csv"

test_case "a program of one's own is profiled with its options: of each kernel the last launch counts"
# shellcheck disable=SC2016  # expanded when the stand-in runs
fake_command ncu 'echo "program $*"; while [ "$1" != --log-file ]; do shift; done
cat >"$2" <<REPORT
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","init(int *)","smsp__inst_executed.sum","inst","7"
"1","sum<(int)2>(int *)","smsp__inst_executed.sum","inst","1,100"
"2","sum<(int)2>(int *)","smsp__inst_executed.sum","inst","1,234"
REPORT
exit 3'
run in_profiled gpu build/gpu/own/hello --n "1 2"
expect "the program's own status" [ "$status" -eq 3 ]
expect_output "build/gpu/own/hello --n 1 2"
expect_output "init(int *), one launch"
expect_output "sum<(int)2>(int *), the last of 2 launches"
expect_output "| instructions of warps | 1234 | inst | smsp__inst_executed.sum |"
expect_output "| time | n/a |  | gpu__time_duration.sum |"
fake_command ncu 'echo "==ERROR== The application returned an error code (9)."; exit 9'
complains_in_a_line fails "ncu saw no kernel" run in_profiled gpu build/gpu/own/hello

test_case "xray-verify compares the first of launches that look alike, and what is executed for no lane"
mkdir -p "$profiled/build/cpu-xray/own" "$profiled/build/xray/own"
cat >"$profiled/build/cpu-xray/own/hello" <<'SH'
#!/usr/bin/env bash
columns=kernel,arguments,launch,grid,block
launch='"sum","..","hello.cu:7",1x1x1,32x1x1'
again='"sum","..; launch 2 of these","hello.cu:7",1x1x1,32x1x1'
printf '%s\n' "$columns,space,operation,bytes_per_lane,requests,sectors,wavefronts,words,switched_off" \
  "$launch,shared,load,4,4,0,5,0,3" "$again,shared,load,4,9,0,9,0,0" >"$XRAY_CSV"
printf '%s\n' "$columns,partings" "$launch,0" "$again,0" >"$XRAY_PASSAGES"
SH
chmod +x "$profiled/build/cpu-xray/own/hello"
# shellcheck disable=SC2016  # expanded when the stand-in runs
fake_command ncu 'while [ "$1" != --log-file ]; do shift; done
echo "\"ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"Metric Name\",\"Metric Value\"" >"$2"
for launch in 0:4:5:7 1:9:9:9; do
  IFS=: read -r id requests wavefronts executed <<<"$launch"
  for row in smsp__inst_executed_op_shared_ld_pred_on_any.sum:"$requests" smsp__inst_executed_op_shared_ld.sum:"$executed" \
    smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum:"$wavefronts"; do
    echo "\"$id\",\"void sum<(int)2>(const int *)\",\"(1, 1, 1)\",\"(32, 1, 1)\",\"${row%:*}\",\"${row#*:}\"" >>"$2"
  done
done'
in_verified() {
  (cd "$profiled" && PYTHONPATH=$tools/../.. with_fakes "$python" -B -c '
import sys
from common.tools.measure import xray_verify
xray_verify.machine_code_of = lambda program: ""
sys.exit(xray_verify.main())' --backend gpu "$@")
}
answers 0 "in all 3 of 3 pairs equal" run in_verified own/hello
expect_output "| sum 1x1x1 x 32x1x1 | smsp__inst_executed_op_shared_ld_pred_on_any | 4 | 4 | equal |"
expect_output "| sum 1x1x1 x 32x1x1 | smsp__inst_executed_op_shared_ld | 7 | 7 | equal |"
expect "the pairs in a file" [ "$(grep -c ,equal, "$profiled/build/xray/own/hello.h200.csv")" -eq 3 ]

test_case "profile says how to allow counters, in one line"
# shellcheck disable=SC2016
fake_command ncu 'while [ "$1" != --log-file ]; do shift; done; echo "==ERROR== ERR_NVGPUCTRPERM" >"$2"; exit 1'
complains_in_a_line fails "NVreg_RestrictProfilingToAdminUsers=0" run in_profiled gpu 05_sum

test_case "profile without ncu, or on the CPU backend, says so in one line"
rm "$fake/ncu"
if command -v ncu >/dev/null 2>&1; then
  skip "ncu is here"
else
  answers_in_a_line 2 "Nsight Compute" run in_profiled gpu 05_sum
fi
run in_profiled cpu 05_sum
expect_status 2
expect_one_line
