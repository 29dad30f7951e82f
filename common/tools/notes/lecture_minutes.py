# SPDX-License-Identifier: MIT
"""Minutes of lectures and of labs, and plans of days and weeks made from them. The only sources are the speaker notes of the
decks, slides/NN_name.md, each of which begins with the minutes of its slide, and the line below an exercise's title
in chapters/NN_name/exercises/README.md."""

import glob
import os
import re

from .markers import Problem, allow, need, read_text, root_of, title_of
from .tables import markdown_table

OPENING_DECK = os.path.join("slides", "00_course.md")
SLIDE_END = re.compile(r"^---$", re.M)
COMMENT = re.compile(r"<!--\s*(.*?)-->", re.S)
NOT_NOTES = re.compile(r"_?\w+:|end\b")  # directives and markers
MINUTES = re.compile(r"(\d+) min\b")
LAB_SLIDE = "The rest of the lesson"  # its minutes are those of the exercises
EXERCISE = re.compile(r"^## (\d+)\. .+\n+\[.*· (\d+) minutes · (\d+) points?", re.M)
LONGEST_STRETCH = 120  # minutes without a pause
READING = 30  # minutes at home for a lesson: to read it, guess and run
STEP = 5  # a row of a plan begins at a multiple of that many minutes


def only_file(root, pattern, what):
    found = sorted(glob.glob(os.path.join(root, pattern)))
    if len(found) != 1:
        raise Problem(f"no {what}")
    return found[0]


def all_decks(root):
    """{chapter: path} of every chapter that has a deck; the opening deck is none."""
    decks = sorted(glob.glob(os.path.join(root, "slides", "[0-9][0-9]_*.md")))
    return {os.path.basename(d)[:2]: d for d in decks if d != os.path.join(root, OPENING_DECK)}


def minutes_of_slides(root, chapter):
    """The minutes of each slide of a chapter's deck; `course` is the opening deck."""
    path = os.path.join(root, OPENING_DECK) if chapter == "course" else all_decks(root).get(chapter)
    if path is None:
        raise Problem(f"no deck {chapter}")
    text = read_text(path)
    ends = [m.start() for m in SLIDE_END.finditer(text)][1:]  # the first two lines --- hold the header
    minutes = []
    for start, end in zip(ends, ends[1:] + [len(text)]):
        notes = [m for m in COMMENT.findall(text[start:end]) if not NOT_NOTES.match(m)]
        match = MINUTES.match(notes[-1]) if notes else None
        if not match and not (notes and notes[-1].startswith(LAB_SLIDE)):
            line = text.count("\n", 0, start) + 2
            raise Problem(f"{os.path.normpath(path)}:{line}: this slide's notes do not begin with its minutes, as in '2 min.'")
        minutes.append(int(match[1]) if match else 0)
    return minutes


def minutes_of_deck(root, chapter):
    return sum(minutes_of_slides(root, chapter))


def exercises_of(root, chapter):
    """(the file that has them, [(number, minutes, points)])"""
    path = only_file(root, f"chapters/{chapter}_*/exercises/README.md", f"exercises of chapter {chapter}")
    return path, [tuple(map(int, found)) for found in EXERCISE.findall(read_text(path))]


def points_of_labs(root, chapter):
    return sum(points for _, _, points in exercises_of(root, chapter)[1])


def minutes_of_labs(root, chapter, numbers=None):
    """The minutes of a chapter's exercises: all, or those numbered."""
    path, exercises = exercises_of(root, chapter)
    minutes = {number: m for number, m, _ in exercises}
    missing = [n for n in numbers or [] if n not in minutes]
    if missing or not minutes:
        raise Problem(f"{os.path.normpath(path)}: no exercise {missing[0] if missing else 1} with minutes")
    return sum(minutes[n] for n in numbers or minutes)


def make_minutes(folder, positional, attributes):
    """One number: of the decks or, after `labs`, of the exercises that are named; `shortest` and `longest` look at all."""
    allow(attributes)
    root = root_of(folder)
    is_labs = positional[:1] == ["labs"]
    minutes_of, words = (minutes_of_labs, positional[1:]) if is_labs else (minutes_of_deck, positional)
    if words in (["shortest"], ["longest"]):
        choose = min if words == ["shortest"] else max
        return str(choose(minutes_of(root, chapter) for chapter in all_decks(root))), "slides/*.md"
    if not words:
        raise Problem("expected chapters, as in 05 or in labs 05 06")
    return str(sum(minutes_of(root, chapter) for chapter in words)), "the decks' notes or the exercises"


# ---- plans -------------------------------------------------------------------------------------------


def link_to(root, chapter):
    """The chapter's title, as a link to its notes; paths are relative to chapters/."""
    notes = only_file(root, f"chapters/{chapter}_*/README.md", f"notes of chapter {chapter}")
    return f"{chapter} [{title_of(notes)}]({os.path.basename(os.path.dirname(notes))}/README.md)"


def row_of_plan(root, row):
    """(minutes, words, is it a pause?) of one row of a plan."""
    what, _, words = (part.strip() for part in row.partition(":"))
    kind, *rest = what.split() or [""]
    try:
        if kind in ("pause", "talk"):
            (minutes,) = rest
            return int(minutes), words, kind == "pause"
        if kind == "deck" and len(rest) == 3 and rest[1] == "slides":
            first, last = map(int, rest[2].split("-"))
            slides = minutes_of_slides(root, rest[0])[first - 1 : last]
            return sum(slides), words or f"deck {rest[0]}, slides {first} to {last}", False
        if kind == "deck":
            titles = ", ".join(link_to(root, chapter) for chapter in rest)
            return sum(minutes_of_deck(root, chapter) for chapter in rest), words or f"lecture {titles}", False
        if kind == "lab":
            chapter, numbers = rest[0], [int(n) for n in rest[1:]]
            which = f"exercise{'s' if len(numbers) > 1 else ''} {' and '.join(map(str, numbers))}" if numbers else "all exercises"
            return minutes_of_labs(root, chapter, numbers), words or f"lab {chapter}, {which}", False
    except (ValueError, IndexError):
        pass
    raise Problem(f"not a row of a plan: {row}; there are: deck 02 [slides 1-7], lab 02 1 2, pause 15: WORDS, talk 10: WORDS")


def clock(minutes):
    return f"{minutes // 60:02}:{minutes % 60:02}"


def make_plan(folder, positional, attributes):
    """A day: when each row begins, rounded up, and how long it takes. It must end in time and have pauses."""
    allow(attributes, "from", "until", "rows")
    begin, until, rows = need(attributes, "from", "until", "rows")
    root = root_of(folder)
    try:
        now, end = (int(h) * 60 + int(m) for h, m in (begin.split(":"), until.split(":")))
    except ValueError as error:
        raise Problem('from and until are times, as in "09:00"') from error
    body, since_pause = [], now
    for row in (r.strip() for r in rows.split(";")):
        if not row:
            continue
        minutes, words, is_pause = row_of_plan(root, row)
        if not is_pause and now + minutes - since_pause > LONGEST_STRETCH:
            raise Problem(f"{now + minutes - since_pause} minutes without a pause, up to: {row}; at most {LONGEST_STRETCH}")
        body.append([clock(now), str(minutes), words])
        now += -(-minutes // STEP) * STEP
        if is_pause:
            since_pause = now
    if now > end:
        raise Problem(f"the plan ends at {clock(now)}, after {until}")
    body.append([clock(now), "", "end"])
    return markdown_table(["time", "minutes", "what"], body, [False, True, False]), "the decks' notes or the exercises"


def make_weeks(folder, positional, attributes):
    """A course, a row for each week: its lectures, its lab session, hours at home, what is handed in before its lecture, and
    words. Each lecture and each session must fit. Labs of a week are handed in by the next one."""
    allow(attributes, "lecture", "lab", "rows", "words")
    longest_lecture, longest_lab, rows, header = need(attributes, "lecture", "lab", "rows", "words")
    root = root_of(folder)
    body, taught, all_minutes, at_home, due = [], [], [0, 0], 0, []

    def session(chapters, minutes_of, longest, what):
        minutes = sum(minutes_of(root, chapter) for chapter in chapters)
        if minutes > int(longest):
            raise Problem(f"{what} {' '.join(chapters)} takes {minutes} minutes, more than {longest}")
        all_minutes[what == "lab"] += minutes
        return f"{', '.join(chapters)} ({minutes})"

    def hours(minutes):
        return f"{-(-minutes // 30) / 2:g}"

    def handed_in(chapters):
        return f"{', '.join(chapters)} ({sum(points_of_labs(root, chapter) for chapter in chapters)})" if chapters else ""

    all_points = 0
    for week, row in enumerate((r for r in rows.split(";") if r.strip()), 1):
        try:
            lectures, lab, words = (part.strip() for part in row.split("|"))
        except ValueError as error:
            raise Problem(f"not a week: {row.strip()}; expected as in: 01 02, 03 | 01 02 + 03: words | words") from error
        lectures = [lecture.split() for lecture in lectures.split(",")]
        lab, _, remark = (part.strip() for part in lab.partition(":"))
        in_room, _, home = (part.split() for part in lab.partition("+"))
        to_read = [chapter for lecture in lectures for chapter in lecture]
        taught += to_read
        cells = [session(lecture, minutes_of_deck, longest_lecture, "lecture") for lecture in lectures]
        of_lab = session(in_room, minutes_of_labs, longest_lab, "lab")
        minutes = READING * len(to_read) + sum(minutes_of_labs(root, chapter) for chapter in home)
        at_home += minutes
        remark = "; ".join(filter(None, [of_lab, f"at home {', '.join(home)}" if home else "", remark]))
        body.append([str(week), " · ".join(cells), remark, hours(minutes), handed_in(due), words])
        due = in_room + home
        all_points += sum(points_of_labs(root, chapter) for chapter in due)
    twice = [chapter for chapter in taught if taught.count(chapter) > 1]
    if twice:
        raise Problem(f"lecture {twice[0]} is held twice")
    body.append(["a week later", "", "", "", handed_in(due), ""])
    body.append(["together", *map(str, all_minutes), hours(at_home), f"{all_points} points", ""])
    columns = ["week", "lectures", "lab session", "hours at home", "handed in", header]
    return markdown_table(columns, body, [False, False, False, True, False, False]), "the decks' notes or the exercises"
