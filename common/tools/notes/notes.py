#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills the marked regions of the notes from sources and measurements, or checks that they are up to date.

    notes.py [--check] [FILE.md...]        without files: README.md, chapters/*/README.md, slides/*.md

A region is what stands between a marker and the next `<!-- end -->`. Paths are relative to the Markdown
file; in a deck, slides/NN_name.md, to its chapter, chapters/NN_name/, so that a marker reads the same in
notes and deck, and in a deck of no chapter to the repository's root. What a deck quotes holds no links.
Markers:

<!-- code: NAME [file="path.cu"] [from="text"] [to="text"] -->
    The function, struct, enum or constant NAME of the chapter's program (or of `file`), with the comment
    directly above it. `from` and `to` cut out the lines from the first that contains the one text to the
    next that contains the other. NAME `header` is the comment at the top of the file.

<!-- table: results/h200.csv [more.csv ...] columns="SPEC, SPEC, ..." [where="COND, COND"] [sort="EXPR"]
     [first="N"] [caption="no"] -->
    A Markdown table, one line per CSV row. SPEC is `[Label=]EXPR[:format]`, EXPR a column's name or
    arithmetic over columns; the format is Python's (`.1f`, `,.0f`), or `size` for 268435456 -> 256 Mi.
    COND is `column=value`, `!=`, `<`, `<=`, `>`, `>=`; `a|b` as a value means either. A line below the
    table names device, CUDA version, date and file.

<!-- pivot: results/h200.csv rows="EXPR" columns="EXPR" cell="EXPR[:format]" [where="..."] [caption="no"] -->
    One line per value of `rows`, one column per value of `columns`.

<!-- value: results/h200.csv row="COND, COND" column="EXPR" [over="COND"] [format=".1f"] -->...<!-- end -->
    One number inside a sentence. With `over`: divided by the same expression in that other row.

<!-- output: results/h200.txt [from="text"] [to="text"] -->
    A captured terminal output, or part of it.

<!-- table: ladder [from="NN"] [to="NN"] -->
    For the front page and the opening deck: one line per chapter, its question and one measured number.
    The number comes from a marker that the chapter's notes hold (a comment that shows nothing and needs no
    end):
<!-- headline: results/h200.csv row="COND" column="EXPR" [over="COND"] [format=".0f"] text="{} GB/s" -->
"""

import ast
import csv
import glob
import operator
import os
import re
import sys

MARKER = re.compile(r"<!--\s*(code|table|pivot|value|output):\s*(.*?)\s*-->", re.S)
END = re.compile(r"<!--\s*end\s*-->")
ATTRIBUTE = re.compile(r'([a-z]+)="([^"]*)"')


class Problem(Exception):
    """What is wrong with one region, in one line."""


# ---- C++: find a declaration by its name ---------------------------------------------------------


def mask(text):
    """The text with comments, strings and preprocessor lines blanked out, every position kept."""
    pattern = re.compile(
        r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"""
        r"""|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*""",
        re.S | re.M,
    )
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def without_template(head):
    """The head without `template <...>` before it: that may hold defaults, `class T = int`."""
    match = re.match(r"\s*template\s*<", head)
    if not match:
        return head
    depth, position = 1, match.end()
    while position < len(head) and depth > 0:
        depth += {"<": 1, ">": -1}.get(head[position], 0)
        position += 1
    return without_template(head[position:])


def declarations(text):
    """Top-level declarations of a C++ file (namespaces are looked into): (start, end, head, has_body)."""
    code = mask(text)
    found = []
    position = start = 0
    length = len(code)
    while position < length:
        char = code[position]
        if char == ";":
            found.append((start, position + 1, code[start:position], False))
            position += 1
            start = position
        elif char == "}":  # the end of a namespace
            position += 1
            start = position
        elif char == "{":
            head = code[start:position]
            if re.search(r'\bnamespace\b[\s\w:]*$|\bextern\s*$', head):
                position += 1
                start = position
                continue
            depth, end = 0, position
            while end < length:
                depth += {"{": 1, "}": -1}.get(code[end], 0)
                end += 1
                if depth == 0:
                    break
            plain = without_template(head)
            ends_in_parameters = re.search(r"\)\s*(?:const|noexcept|override|->[\s\w:<>,*&]+)*\s*$", plain)
            has_value = re.search(r"(?<![=!<>])=(?!=)\s*[^=]*$", re.sub(r"\([^()]*\)", "", plain))
            if ends_in_parameters and not has_value:
                found.append((start, end, head, True))
            else:  # a type or an initialised variable: up to the semicolon
                while end < length and code[end] != ";":
                    end += 1
                end += 1
                found.append((start, end, head, True))
            position = start = end
        elif char == "(":  # parameters may hold braces
            depth = 0
            while position < length:
                depth += {"(": 1, ")": -1}.get(code[position], 0)
                position += 1
                if depth == 0:
                    break
        else:
            position += 1
    return found


def declares(head, name):
    """True when the declaration whose text before its body is `head` is one of `name`."""
    head = without_template(head)
    word = re.escape(name)
    if re.search(rf"\b(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(?:\w+\([^)]*\)\s+)?{word}\s*(?::[^:].*|final\s*)?$", head, re.S):
        return True
    if re.search(rf"\busing\s+{word}\s*=", head):
        return True
    before_value = re.split(r"(?<![=!<>])=(?!=)", head)[0]
    function = re.search(rf"(?<![\w.>]){word}\s*\(", before_value)
    if function:
        return bool(before_value[: function.start()].strip())  # a return type stands before it
    return bool(re.search(rf"[\w*&>\s]\s*\b{word}\s*(?:\[[^\]]*\]\s*)*(?:\{{.*)?$", before_value, re.S)) and bool(
        re.search(rf"\S\s+[*&]*{word}\b", before_value)
    )


def with_comment(text, first, last):
    """The lines, and the comment directly above them; a rule `// ----` is no comment."""
    lines = text.split("\n")
    while first > 1 and lines[first - 2].lstrip().startswith("//") and not lines[first - 2].startswith("// ----"):
        first -= 1
    return first, last


def find_code(text, name, where):
    """First and last line (1-based) of the declaration called `name`, its comment included."""
    macro = re.search(rf"^#\s*define\s+{re.escape(name)}\b(?:[^\n\\]|\\.|\\\n)*", text, re.M)
    if macro:
        return with_comment(text, text.count("\n", 0, macro.start()) + 1, text.count("\n", 0, macro.end()) + 1)
    if name == "header":
        lines = text.split("\n")
        last = 0
        while last < len(lines) and lines[last].startswith("//"):
            last += 1
        first = 2 if lines and "SPDX-License-Identifier" in lines[0] else 1
        return first, last
    matches = [d for d in declarations(text) if declares(d[2], name)]
    matches = [d for d in matches if d[3]] or matches
    if not matches:
        raise Problem(f"no function, type or constant called {name} in {where}")
    if len(matches) > 1:
        lines = ", ".join(str(text.count("\n", 0, d[0] + len(d[2]) - len(d[2].lstrip())) + 1) for d in matches)
        raise Problem(f"{name} is declared several times in {where}, in lines {lines}")
    start, end, _, _ = matches[0]
    code = mask(text)
    while start < end and code[start].isspace():
        start += 1
    return with_comment(text, text.count("\n", 0, start) + 1, text.count("\n", 0, end - 1) + 1)


def cut(lines, first_number, where, start_text, end_text):
    """Lines from the first that contains start_text to the next that contains end_text, dedented."""
    begin, end = 0, len(lines) - 1
    if start_text is not None:
        begin = next((i for i, line in enumerate(lines) if start_text in line), None)
        if begin is None:
            raise Problem(f'from="{start_text}" is not in {where}')
    if end_text is not None:
        end = next((i for i in range(begin, len(lines)) if end_text in lines[i]), None)
        if end is None:
            raise Problem(f'to="{end_text}" is not in {where} after line {first_number + begin}')
    lines = lines[begin : end + 1]
    indent = min((len(l) - len(l.lstrip()) for l in lines if l.strip()), default=0)
    return [l[indent:] for l in lines], first_number + begin


# ---- CSV -----------------------------------------------------------------------------------------


def read_rows(folder, names):
    rows = []
    for name in names:
        path = os.path.join(folder, name)
        try:
            with open(path, newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    rows.append({**row, "_file": name})
        except OSError as error:
            raise Problem(f"{os.path.normpath(path)}: {error.strerror}") from error
    if not rows:
        raise Problem(f"{' '.join(names)}: no rows")
    return rows


def as_number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow}


def evaluate(expression, row):
    """A column's text, or arithmetic over columns as a float; None where a column is empty."""
    expression = expression.strip()
    if expression in row:
        return row[expression]

    def walk(node):
        if isinstance(node, ast.Expression):
            return walk(node.body)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return float(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = walk(node.operand)
            return None if value is None else -value
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            left, right = walk(node.left), walk(node.right)
            return None if left is None or right is None else OPERATORS[type(node.op)](left, right)
        if isinstance(node, ast.Name):
            if node.id not in row:
                raise Problem(f"no column {node.id}; there are {', '.join(k for k in row if k != '_file')}")
            return as_number(row[node.id])
        raise Problem(f"not an expression over columns: {expression}")

    try:
        return walk(ast.parse(expression, mode="eval"))
    except SyntaxError as error:
        raise Problem(f"no column and no expression: {expression}") from error
    except ZeroDivisionError:
        return None


def formatted(value, style):
    if value is None or value == "":
        return "-"
    if not style:
        if isinstance(value, float):
            return f"{value:.4g}"
        return str(value)
    number = as_number(value)
    if number is None:
        return str(value)
    if style == "size":
        for shift, suffix in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
            if number >= 2**shift and number % 2**shift == 0:
                return f"{int(number) >> shift} {suffix}"
        return f"{int(number)}"
    try:
        return format(int(number) if style.endswith("d") else number, style)
    except ValueError as error:
        raise Problem(f"format {style}: {error}") from error


def split_list(text):
    """Splits at commas outside of parentheses; ",.0f" after a colon stays whole."""
    parts, depth, current = [], 0, ""
    for index, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0 and not (current.endswith(":") and text[index + 1 : index + 2] in (".", "d")):
            parts.append(current.strip())
            current = ""
        else:
            current += char
    parts.append(current.strip())
    return [p for p in parts if p]


def conditions(text):
    parsed = []
    for part in split_list(text):
        match = re.match(r"(.+?)\s*(!=|<=|>=|=|<|>)\s*(.*)$", part)
        if not match:
            raise Problem(f"not a condition: {part}")
        parsed.append(match.groups())
    return parsed


def holds(row, condition):
    column, sign, wanted = condition
    value = evaluate(column, row)
    if sign in ("=", "!="):
        number = as_number(value)
        hit = any(
            str(value) == w or (number is not None and as_number(w) is not None and number == as_number(w))
            for w in wanted.split("|")
        )
        return hit == (sign == "=")
    left, right = as_number(value), as_number(wanted)
    if left is None or right is None:
        return False
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign]


def select(rows, text):
    wanted = conditions(text or "")
    chosen = [row for row in rows if all(holds(row, c) for c in wanted)]
    if not chosen:
        raise Problem(f"no row where {text}")
    return chosen


def one_row(rows, text):
    chosen = select(rows, text)
    if len(chosen) > 1:
        raise Problem(f"{len(chosen)} rows where {text}: expected one")
    return chosen[0]


def caption(rows, folder):
    """'NVIDIA H200, CUDA 13.0, driver 580.65, 2026-01-31; [results/h200.csv](results/h200.csv)'"""

    def values(column):
        return list(dict.fromkeys(r[column] for r in rows if r.get(column)))

    parts = values("device")
    parts += ["CUDA " + v for v in values("cuda")]
    dates = sorted(values("date"))
    if dates:
        parts.append(dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}")
    files = ", ".join(f"[{n}]({n})" for n in dict.fromkeys(r["_file"] for r in rows))
    _ = folder
    return f"*{', '.join(parts)}{'; ' if parts else ''}data: {files}*"


def markdown_table(header, body, numeric):
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in [header] + body]
    widths = [max(3, *(len(line[i]) for line in escaped)) for i in range(len(header))]

    def line(cells):
        return "| " + " | ".join(c.rjust(w) if n else c.ljust(w) for c, w, n in zip(cells, widths, numeric)) + " |"

    rule = "|" + "|".join("-" * (w + 1) + ":" if n else "-" * (w + 2) for w, n in zip(widths, numeric)) + "|"
    return [line(escaped[0]), rule] + [line(cells) for cells in escaped[1:]]


def is_number_column(cells):
    shown = [c for c in cells if c != "-"]
    return bool(shown) and all(re.match(r"^-?[\d.,]+(?:e[+-]?\d+)?( [KMG]i)?$", c) for c in shown)


# ---- regions -------------------------------------------------------------------------------------


def parse_marker(text):
    attributes = dict(ATTRIBUTE.findall(text))
    positional = ATTRIBUTE.sub("", text).split()
    return positional, attributes


def need(attributes, *names):
    for name in names:
        if name not in attributes:
            raise Problem(f'{name}="..." is missing')
    return [attributes[n] for n in names]


def allow(attributes, *names):
    unknown = sorted(set(attributes) - set(names))
    if unknown:
        raise Problem(f"unknown attribute {unknown[0]}; there are {', '.join(names)}")


def chapter_source(folder):
    name = os.path.basename(os.path.abspath(folder))
    match = re.match(r"\d\d_(.+)$", name)
    if not match:
        raise Problem('file="..." is missing: this is not a chapter\'s folder')
    return match.group(1) + ".cu"


def read_text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise Problem(f"{os.path.normpath(path)}: {error.strerror}") from error


def fence(lines, language):
    ticks = "```"
    while any(ticks in line for line in lines):
        ticks += "`"
    return "\n" + "\n".join([ticks + language] + lines + [ticks]) + "\n"


def make_code(folder, positional, attributes):
    allow(attributes, "file", "from", "to")
    if len(positional) != 1:
        raise Problem("expected one name")
    path = os.path.join(folder, attributes.get("file") or chapter_source(folder))
    text = read_text(path)
    first, last = find_code(text, positional[0], os.path.normpath(path))
    lines = text.split("\n")[first - 1 : last]
    where = f"{positional[0]} in {os.path.normpath(path)}"
    lines, first = cut(lines, first, where, attributes.get("from"), attributes.get("to"))
    language = "cuda" if path.endswith((".cu", ".cuh")) else "cpp"
    return fence(lines, language), f"{os.path.normpath(path)}:{first}"


def make_output(folder, positional, attributes):
    allow(attributes, "from", "to")
    if len(positional) != 1:
        raise Problem("expected one file")
    path = os.path.join(folder, positional[0])
    lines = [line.rstrip() for line in read_text(path).rstrip("\n").split("\n")]
    lines, first = cut(lines, 1, os.path.normpath(path), attributes.get("from"), attributes.get("to"))
    return fence(lines, "text"), f"{os.path.normpath(path)}:{first}"


def parse_column(spec):
    match = re.match(r"(?:(?P<label>[^=]+)=)?(?P<expression>[^:]+)(?::(?P<format>.+))?$", spec)
    if not match:
        raise Problem(f"not a column: {spec}")
    expression = match["expression"].strip()
    return (match["label"] or expression).strip(), expression, (match["format"] or "").strip()


def measured_value(folder, positional, attributes):
    """The text of one number, and the row it came from."""
    condition, column = need(attributes, "row", "column")
    rows = read_rows(folder, positional)
    row = one_row(rows, condition)
    value = evaluate(column, row)
    if "over" in attributes:
        top, bottom = as_number(value), as_number(evaluate(column, one_row(rows, attributes["over"])))
        value = None if top is None or not bottom else top / bottom
    text = formatted(value, attributes.get("format", ""))
    if text == "-":
        raise Problem(f"{column} is empty where {condition}")
    return text, row


def make_ladder(folder, attributes):
    allow(attributes, "from", "to")
    body, devices = [], {}
    for notes in sorted(glob.glob(os.path.join(folder, "chapters", "[0-9][0-9]_*", "README.md"))):
        chapter_folder = os.path.dirname(notes)
        chapter = os.path.basename(chapter_folder)
        if not attributes.get("from", "00") <= chapter[:2] <= attributes.get("to", "99"):
            continue
        source = read_text(os.path.join(chapter_folder, chapter_source(chapter_folder)))
        question = re.search(r"^// Chapter \d+: *(.*)$", source, re.M)
        title = re.search(r"^# +(?:\d+ *[-:.·]* *)?(.*)$", read_text(notes), re.M)
        headline = re.search(r"<!--\s*headline:\s*(.*?)\s*-->", read_text(notes), re.S)
        number_text = "-"
        if headline:
            positional, marks = parse_marker(headline.group(1))
            (text,) = need(marks, "text")
            value, row = measured_value(chapter_folder, positional, marks)
            number_text = text.replace("{}", value)
            devices[row.get("device", "")] = None
        label = title.group(1) if title else chapter[3:].replace("_", " ")
        body.append([chapter[:2], f"[{label}](chapters/{chapter}/README.md)", question.group(1) if question else "", number_text])
    if not body:
        raise Problem("no chapter in that range")
    measured = f"measured on {', '.join(d for d in devices if d)}" if any(devices) else "measured"
    lines = markdown_table(["", "chapter", "question", measured], body, [False] * 4)
    return "\n" + "\n".join(lines) + "\n", "chapters/*/README.md"


def make_table(folder, positional, attributes):
    if positional == ["ladder"]:
        return make_ladder(folder, attributes)
    allow(attributes, "columns", "where", "sort", "first", "caption")
    columns = [parse_column(spec) for spec in split_list(need(attributes, "columns")[0])]
    rows = select(read_rows(folder, positional), attributes.get("where"))
    if "sort" in attributes:
        rows.sort(key=lambda r: (as_number(evaluate(attributes["sort"], r)) or 0))
    if "first" in attributes:
        rows = rows[: int(attributes["first"])]
    body = [[formatted(evaluate(e, row), f) for _, e, f in columns] for row in rows]
    numeric = [is_number_column([line[i] for line in body]) for i in range(len(columns))]
    lines = markdown_table([label for label, _, _ in columns], body, numeric)
    if attributes.get("caption") != "no":
        lines += ["", caption(rows, folder)]
    return "\n" + "\n".join(lines) + "\n", " ".join(positional)


def make_pivot(folder, positional, attributes):
    allow(attributes, "rows", "columns", "cell", "where", "caption")
    row_expression, column_expression, cell = need(attributes, "rows", "columns", "cell")
    row_label, row_expression, row_format = parse_column(row_expression)
    _, column_expression, column_format = parse_column(column_expression)
    _, expression, style = parse_column(cell)
    rows = select(read_rows(folder, positional), attributes.get("where"))
    cells, row_keys, column_keys = {}, {}, {}
    for row in rows:
        key = (
            formatted(evaluate(row_expression, row), row_format),
            formatted(evaluate(column_expression, row), column_format),
        )
        if key in cells:
            raise Problem(f"two values for {key[0]}, {key[1]}: narrow it with where")
        cells[key] = formatted(evaluate(expression, row), style)
        row_keys[key[0]] = column_keys[key[1]] = None
    body = [[r] + [cells.get((r, c), "-") for c in column_keys] for r in row_keys]
    lines = markdown_table([row_label] + list(column_keys), body, [is_number_column([l[i] for l in body]) for i in range(len(body[0]))])
    if attributes.get("caption") != "no":
        lines += ["", caption(rows, folder)]
    return "\n" + "\n".join(lines) + "\n", " ".join(positional)


def make_value(folder, positional, attributes):
    allow(attributes, "row", "column", "over", "format")
    return measured_value(folder, positional, attributes)[0], " ".join(positional)


MAKERS = {"code": make_code, "table": make_table, "pivot": make_pivot, "value": make_value, "output": make_output}


def fenced_spans(text):
    """Spans of ``` blocks that no marker opens: there, markers are examples."""
    spans, open_at, ticks = [], None, ""
    position = 0
    for line in text.split("\n"):
        match = re.match(r"\s*(```+)", line)
        if match and open_at is None:
            open_at, ticks = position, match.group(1)
        elif match and line.strip() == ticks:
            spans.append((open_at, position + len(line)))
            open_at = None
        position += len(line) + 1
    return spans


def start_of_paths(path):
    """The folder that the paths in a file's markers start from, and whether the file is a deck."""
    folder, name = os.path.split(path)
    folder = folder or "."
    if os.path.basename(os.path.abspath(folder)) != "slides":
        return folder, False
    root = os.path.normpath(os.path.join(folder, os.pardir))
    chapter = os.path.join(root, "chapters", os.path.splitext(name)[0])
    return (chapter if os.path.isdir(chapter) else root), True


def without_links(text):
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)


def refresh(path, text):
    """The text with every region filled, and the list of (line, message) of what was wrong or changed."""
    folder, is_deck = start_of_paths(path)
    result, messages = "", []
    position = 0
    spans = fenced_spans(text)
    for marker in MARKER.finditer(text):
        if marker.start() < position or any(a <= marker.start() < b for a, b in spans):
            continue
        line = text.count("\n", 0, marker.start()) + 1
        end = END.search(text, marker.end())
        following = MARKER.search(text, marker.end())
        kind = marker.group(1)
        what = f"{kind}: {' '.join(marker.group(2).split())}"
        if end is None or (following and following.start() < end.start() and kind != "output"):
            messages.append((line, f"{what}: no <!-- end --> follows"))
            continue
        try:
            wanted, source = MAKERS[kind](folder, *parse_marker(marker.group(2)))
        except Problem as problem:
            messages.append((line, f"{kind}: {problem}"))
            continue
        if is_deck and kind in ("table", "pivot"):
            wanted = without_links(wanted)
        if kind == "value" and "\n" in text[marker.end() : end.start()]:
            wanted = wanted.strip()
        if text[marker.end() : end.start()] != wanted:
            messages.append((line, f"{kind} drifted from {source}; run make notes"))
        result += text[position : marker.end()] + wanted
        position = end.start()
    return result + text[position:], messages


def main(arguments):
    check_only = "--check" in arguments
    files = [a for a in arguments if a != "--check"]
    if not files:
        files = [f for f in ["README.md"] if os.path.exists(f)]
        files += sorted(glob.glob("chapters/*/README.md")) + sorted(glob.glob("slides/*.md"))
    status = 0
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        refreshed, messages = refresh(path, text)
        for line, message in messages:
            is_drift = message.endswith("run make notes")
            if is_drift and not check_only:
                continue
            print(f"{path}:{line}: {message}")
            status = 1
        if not check_only and refreshed != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(refreshed)
            print(f"refreshed {path}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
