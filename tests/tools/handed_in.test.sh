#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What Moodle and Canvas give out, laid out for grading; archives that mean harm; and the pages that go back. Nothing is
# compiled here: tests/tools/grade.test.sh grades such an archive.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

needs_python "make grade reads what was given out"
root=$PWD

# laid_out NAME: runs the program on stdin, in which `given(source, chapter)` lays a class out and returns it, and `tree`
# has its files and their sizes
laid_out() {
  {
    cat <<'PYTHON'
import io, os, struct, sys, warnings, zipfile
warnings.simplefilter("ignore")  # of names that come twice
sys.path.append(sys.argv[1])
from common.labs import catalogue, class_folder, feedback, grade_files, handed_in
scratch = sys.argv[2]
os.makedirs(scratch)
LABS = catalogue.all_labs()
tree = {}

def given(source, chapter="05"):
    folder = f"{scratch}/class"
    os.makedirs(folder)
    found = handed_in.lay_out(source, [lab for lab in LABS if lab.chapter.startswith(chapter)], folder)
    tree.clear()
    for where, _, files in os.walk(scratch):
        for name in files:
            path = os.path.join(where, name)
            tree[os.path.relpath(path, folder)] = os.path.getsize(path)
    return found

def archive(files, **options):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items() if isinstance(files, dict) else files:
            packed.writestr(name, text, **options)
    return data.getvalue()

def stored(files):
    path = f"{scratch}.zip"
    with open(path, "wb") as file:
        file.write(files if isinstance(files, bytes) else archive(files))
    return path

def notes_of(found, name):
    return "; ".join(found.students[name].notes)
PYTHON
    cat
  } >"$scratch/laid_out.py"
  run "$python" -S -B "$scratch/laid_out.py" "$root" "$scratch/$1"
  expect_status 0
  expect "no more to say" [ -z "$output" ]
}

test_case "Moodle: folders of both spellings, flat names, archives in them; what was typed into a form is no file"
laid_out moodle <<'PYTHON'
work = archive({"work/05_shared_tree_reduction/ex2_block_tree.cu": "bo's", "work/05_shared_tree_reduction/photo.png": "x", "__MACOSX/._a": "x"})
found = given(stored({
    "Ada Lovelace_71_assignsubmission_file_/ex1_block_sum.cu": "ada's",
    "Ada Lovelace_71_assignsubmission_onlinetext_/onlinetext.html": "typed",
    "Bo B._72_assignsubmission_file/work.zip": work,
    "Zoë d'O_73_assignsubmission_file_ex1_block_sum.cu": "zoe's",
    "Zoë d'O_73_assignsubmission_file_ex2_block_tree (2).cu": "zoe's",
    "Nobody_74_assignsubmission_onlinetext/onlinetext.html": "typed",
}))
assert tree == {
    "Ada Lovelace_71/05_shared_tree_reduction/ex1_block_sum.cu": 5,
    "Bo B._72/05_shared_tree_reduction/ex2_block_tree.cu": 4,
    "Bo B._72/work/05_shared_tree_reduction/photo.png": 0,
    "Zoë d'O_73/05_shared_tree_reduction/ex1_block_sum.cu": 5,
    "Zoë d'O_73/05_shared_tree_reduction/ex2_block_tree.cu": 5,
}, tree
returns = {name: student.returns for name, student in found.students.items()}
assert returns == {
    "Ada Lovelace_71": "Ada Lovelace_71_assignsubmission_file_/",
    "Bo B._72": "Bo B._72_assignsubmission_file/",
    "Zoë d'O_73": "Zoë d'O_73_assignsubmission_file_",
}, returns
assert found.notes == [], found.notes
PYTHON

test_case "Canvas: late ones, names that come again, students without a name, and a number where one exercise has it"
laid_out canvas <<'PYTHON'
found = given(stored({
    "lovelaceada_901_5551_ex1_block_sum.cu": "first",
    "lovelaceada_901_5552_ex1_block_sum-1.cu": "second",
    "lovelaceada_901_5553_ex1_block_sum-10.cu": "the tenth",
    "lovelaceada_901_5554_ex2_block_tree.cu": "tree",
    "bobo_LATE_902_5555_ex2.cu": "late",
    "bobo_LATE_902_5556_report_1_2.pdf": "x",
    "anon_aB3dE_5557_ex1_block_sum.cu": "anon",
    "LATE_anon_aB3dF_5558_ex1_block_sum.cu": "anon",
}))
assert tree == {
    "lovelaceada_901/05_shared_tree_reduction/ex1_block_sum.cu": 9,
    "lovelaceada_901/05_shared_tree_reduction/ex2_block_tree.cu": 4,
    "bobo_902/05_shared_tree_reduction/ex2_block_tree.cu": 4,
    "bobo_902/report_1_2.pdf": 0,
    "anon_aB3dE/05_shared_tree_reduction/ex1_block_sum.cu": 4,
    "anon_aB3dF/05_shared_tree_reduction/ex1_block_sum.cu": 4,
}, tree
assert notes_of(found, "lovelaceada_901").startswith("ex1_block_sum-1.cu: another ex1_block_sum, ex1_block_sum-10.cu was graded"), notes_of(found, "lovelaceada_901")
for late in ("bobo_902", "anon_aB3dF"):
    assert notes_of(found, late) == "handed in late, says Canvas", late
assert found.students["bobo_902"].returns == "bobo_902_5556_" and found.students["bobo_902"].number == "902"
# Of two chapters none has a first exercise alone.
os.rename(f"{scratch}/class", f"{scratch}.before")
given(stored({"bobo_902_5555_ex2.cu": "which?"}), chapter="0")
assert tree == {"bobo_902/ex2.cu": 0}, tree
# Canvas's gradebook knows a student by the number.
with open(f"{scratch}/students.csv", "w") as file:
    file.write("Student,ID,SIS User ID,SIS Login ID,Section\nLovelace Ada,901,,ada,\n")
roster = class_folder.Roster(scratch, ["lovelaceada_901"], {"901": "lovelaceada_901"})
assert list(roster.people) == ["lovelaceada_901"], roster.people
# Without it the table for Canvas has the numbers that the files came with.
names = ["bobo_902", "anon_aB3dE"]
grades = grade_files.grades([], names, {}, {name: [] for name in names}, "cpu", [], "", class_folder.Roster(f"{scratch}/class", names, {}), found.students)
assert [line.split(",")[:4] for line in grade_files.canvas(grades).split("\n")[2:4]] == [["bobo_902", "902", "", "bobo_902"], ["anon_aB3dE", "", "", "anon_aB3dE"]]
PYTHON

test_case "archives and folders of students, below one folder or not; a plain class is left as it is"
laid_out others <<'PYTHON'
ada = archive({"05_shared_tree_reduction\\ex1_block_sum.cu": "ada's"})
found = given(stored({"class/ada.zip": ada, "class/bo/ex1_block_sum.cu": "bo's", "class/students.csv": "folder", "class/read.me": ""}))
assert tree == {"ada/05_shared_tree_reduction/ex1_block_sum.cu": 5, "bo/05_shared_tree_reduction/ex1_block_sum.cu": 4}, tree
assert found.notes == ["read.me: not a folder, ignored"], found.notes
# The only student's folder is no wrapping.
os.rename(f"{scratch}/class", f"{scratch}.before")
given(stored({"ada/work/05_shared_tree_reduction/ex1_block_sum.cu": "ada's"}))
assert tree == {"ada/05_shared_tree_reduction/ex1_block_sum.cu": 5}, tree
for files, expected in (
    (["ada/05_x/ex1.cu", "students.csv", "report_2024_11_old.txt"], False), (["ada/work.zip"], True), (["ada.zip"], True),
    (["Ada_71_assignsubmission_file/x.cu"], True), (["Ada_71_assignsubmission_file_x.cu"], True), (["ada_9_8_ex1.cu"], True),
):
    folder = f"{scratch}/{len(os.listdir(scratch))}"
    for file in files:
        os.makedirs(os.path.dirname(f"{folder}/{file}"), exist_ok=True)
        open(f"{folder}/{file}", "w").close()
    assert handed_in.is_given_out(folder) == expected, files
# What lies in a folder is read like an archive, and a link is not followed.
os.rename(f"{scratch}/class", f"{scratch}.once_more")
os.symlink("/etc/passwd", f"{folder}/ada_9_9_ex2_block_tree.cu")
found = given(folder)
assert list(found.students["ada_9"].files) == ["ex1.cu"], found.students["ada_9"].files
assert found.notes == ["ada_9_9_ex2_block_tree.cu: not a regular file, ignored"], found.notes
PYTHON

test_case "nothing leads out of the folder: paths with .., from the root, of Windows, links, names of dots"
laid_out escapes <<'PYTHON'
link = zipfile.ZipInfo("link.cu")
link.external_attr = 0o120777 << 16
pipe = zipfile.ZipInfo("pipe.cu")
pipe.external_attr = 0o010644 << 16
inside = archive([
    ("../../escaped.cu", "x"), ("/escaped.cu", "x"), ("a/../../../../escaped.cu", "x"), ("..\\..\\escaped.cu", "x"), ("C:\\escaped.cu", "x"),
    ("a//escaped.cu", "x"), ("./escaped.cu", "x"), (link, "/etc/passwd"), (pipe, ""), ("ex1_block_sum.cu", "fine"),
])
found = given(stored([
    ("../escaped_71_assignsubmission_file/ex1_block_sum.cu", "x"), ("/etc/escaped.cu", "x"), ("...zip", inside), ("..zip", inside), (".zip", inside),
    ("Ada_71_assignsubmission_file/../../escaped.cu", "x"), ("Ada_71_assignsubmission_file/all.zip", inside), ("..", "x"),
]))
assert tree == {"Ada_71/05_shared_tree_reduction/ex1_block_sum.cu": 4}, tree
told = notes_of(found, "Ada_71")
assert told.count("leads out of the archive") == 7 and told.count("not a regular file") == 2, told
assert len([note for note in found.notes if "leads out" in note]) == 4, found.notes
assert not [path for path in os.listdir(os.path.dirname(scratch)) if "escaped" in path]
PYTHON

test_case "bombs end early: long files, many files, archives in archives, false lengths, repeated names"
laid_out bombs <<'PYTHON'
import resource, time
before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
huge = archive({"ex1_block_sum.cu": bytes(300 << 20)})
lying = bytearray(huge)
for signature, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
    where = lying.index(signature) + at
    lying[where : where + 4] = struct.pack("<I", 5)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = given(stored({
    "huge_1_assignsubmission_file/a.zip": huge,
    "lying_2_assignsubmission_file/a.zip": bytes(lying),
    "many_3_assignsubmission_file/a.zip": archive({f"{i}.cu": "x" for i in range(9000)}),
    "wide_4_assignsubmission_file/a.zip": archive({f"{i}.cu": bytes(256 << 10) for i in range(500)}),
    "deep_5_assignsubmission_file/a.zip": archive({"b.zip": archive({"ex1_block_sum.cu": "x"}), "/".join("d" * 40) + "/ex1_block_sum.cu": "x"}),
    "twice_6_assignsubmission_file/a.zip": archive([("ex1_block_sum.cu", "one"), ("ex1_block_sum.cu", "another")]),
    "large_7_assignsubmission_file/a.zip": os.urandom(9 << 20),
    "fine_8_assignsubmission_file/a.zip": archive({"ex1_block_sum.cu": "fine"}),
}))
place = "05_shared_tree_reduction/ex1_block_sum.cu"
assert tree[f"huge_1/{place}"] == (256 << 10) + 1
assert f"lying_2/{place}" not in tree or tree[f"lying_2/{place}"] <= (256 << 10) + 1
assert "more than 2000 files" in notes_of(found, "many_3") and len(found.students["many_3"].files) == 2000
assert "more than 8 MiB in all" in notes_of(found, "wide_4") and found.students["wide_4"].unpacked <= 8 << 20
assert "an archive in an archive, ignored" in notes_of(found, "deep_5") and "path is too long" in notes_of(found, "deep_5")
assert "comes twice" in notes_of(found, "twice_6") and tree[f"twice_6/{place}"] == 3
assert "an archive of 9 MiB, at most 8" in notes_of(found, "large_7")
assert tree[f"fine_8/{place}"] == 4
assert time.process_time() - begin < 60
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - grown < 200 << 10, "KiB"
PYTHON

test_case "archives that cannot be read harm nobody else: cut off, with a password, packed otherwise, no archive at all"
laid_out broken <<'PYTHON'
whole = archive({"ex1_block_sum.cu": "x" * 5000})
locked = bytearray(whole)
for signature, at in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
    locked[locked.index(signature) + at] |= 1
packed = io.BytesIO()
with zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as file:
    file.writestr("ex1_block_sum.cu", "x")
bent = bytearray(whole)
bent[bent.index(b"PK\x03\x04") + 50] ^= 0xFF
found = given(stored({
    "cut_1_assignsubmission_file/a.zip": whole[:-30], "locked_2_assignsubmission_file/a.zip": bytes(locked), "rare_3_assignsubmission_file/a.zip": packed.getvalue(),
    "bent_4_assignsubmission_file/a.zip": bytes(bent), "n" * 250 + "_7_assignsubmission_file/ex1_block_sum.cu": "x", "none_5_assignsubmission_file/a.zip": b"no archive", "fine_6_assignsubmission_file/ex1_block_sum.cu": "fine",
}))
assert [path for path, size in tree.items() if size] == ["fine_6/05_shared_tree_reduction/ex1_block_sum.cu"], tree
for name, why in (("cut_1", "no archive that can be read"), ("locked_2", "has a password"), ("rare_3", "packed in a rare way"), ("bent_4", "cannot be read"), ("none_5", "not a zip file")):
    assert why in notes_of(found, name), (name, notes_of(found, name))
assert found.notes == ["n" * 80 + ": its name is too long, ignored"], found.notes
# One file of the class that is spoiled is one student's.
os.rename(f"{scratch}/class", f"{scratch}.before")
spoiled = bytearray(archive({"bad_1_assignsubmission_file/ex1_block_sum.cu": "x" * 5000, "fine_2_assignsubmission_file/ex1_block_sum.cu": "fine"}))
spoiled[spoiled.index(b"ex1_block_sum.cu") + 25] ^= 0xFF
found = given(stored(bytes(spoiled)))
assert tree == {"fine_2/05_shared_tree_reduction/ex1_block_sum.cu": 4} and "cannot be read" in notes_of(found, "bad_1"), (tree, found.students["bad_1"].notes)
try:
    handed_in.lay_out(stored(b"no archive"), LABS, scratch)
    raise SystemExit("it was read")
except zipfile.BadZipFile:
    pass
PYTHON

test_case "a page shows what a student wrote as text, needs nothing from elsewhere, and goes back under the name it came with"
laid_out pages <<'PYTHON'
evil = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&</pre>"
exercise = {"id": "05_a/ex1_b", "points": 0, "possible": 2, "verdict": "failed", "message": evil, "seconds": 1, "details": {"wrong": evil, "backend": f"{evil}\n{evil}", "lines": evil}}
grades = {
    "exercises": [{"id": "05_a/ex1_b", "title": evil, "kind": "", "points": 2}],
    "students": [{"name": f"{evil}{i}", "person": {"name": evil} if i else {}, "points": 0, "possible": 2, "exercises": [exercise], "notes": [evil], "returns": back}
                 for i, back in enumerate(("Ada_71_assignsubmission_file_/", ""))],
}
pages = feedback.pages(grades)
assert len(pages) == 2 and all(name.endswith(".html") and "/" not in name for name in pages), list(pages)
for _, page in pages.values():
    for harm in ("<script", "<img", "onerror=alert(2)>\"", "http://", "https://", "url(", "@import"):
        assert harm not in page, harm
    assert page.count("&lt;script&gt;") >= 7 and "prefers-color-scheme: dark" in page and "default-src 'none'" in page
with zipfile.ZipFile(io.BytesIO(feedback.archive(pages))) as packed:
    assert packed.namelist() == ["Ada_71_assignsubmission_file_/feedback.html"], packed.namelist()
assert feedback.takes_back(grades) == "Moodle"

def told(verdict, message, **details):
    return feedback.found({"verdict": verdict, "message": message, "details": details})

output = "In file included from ex1.check.cu:7:\nex1_b.cu:12:5: error: 'x' was not declared\nex1_b.cu:20:1: error: other"
assert told("build", "does not compile", output=output) == "build: ex1_b.cu:12:5: error: 'x' was not declared"
assert told("build", "does not compile", output='ex1_b.cu(12): error: identifier "x"') == 'build: ex1_b.cu(12): error: identifier "x"'
assert told("build", "does not compile", output="ld: no such thing") == "build: does not compile"
race = "ex1_b.cu:14: error: race: a write in kernel 'k'\n    of element 1\nex1_b.cu:17: note: a read by thread 0; nothing orders the two\nex1_b.cu:3: note: declared here"
assert told("failed", "sums", backend=race) == "failed: ex1_b.cu:14: error: race: a write in kernel 'k'; ex1_b.cu:17: a read by thread 0; nothing orders the two"
assert told("failed", "sums", backend="ex1_b.cu:14: error: out-of-bounds read\nex1_b.cu:3: note: allocated here") == "failed: ex1_b.cu:14: error: out-of-bounds read"
PYTHON
