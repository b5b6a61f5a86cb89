"""A word counter with one mistake in it, or several; with none in force it is right."""

import re
import sys

# Name: what to tell the student, and where the course treats it.
MISCONCEPTIONS = {
    "case_kept": (
        "you count The and the apart; words are counted in lower case",
        "handout, section 4",
    ),
    "order_of_a_tie": (
        "equally frequent words stand in the order in which they came; they are sorted",
        "handout, section 4",
    ),
    "cut_at_apostrophes": (
        "you cut don't in two; an apostrophe between two letters belongs to the word",
        "handout, section 4",
    ),
    "outer_apostrophes": (
        "your words keep the apostrophes at their ends; only those between two letters belong to "
        "a word",
        "handout, section 4",
    ),
    "ascii_letters": (
        "you take only a to z for letters; letters of any alphabet count",
        "handout, section 4",
    ),
    "first_file_only": (
        "you read only the first of the files; all that are named are counted together",
        "handout, section 4",
    ),
    "glued": (
        "you joined the files without anything between them, so the last word of one and the first "
        "of the next become one",
        "handout, section 4",
    ),
    "top_ignored": (
        "your program prints every line whatever --top says",
        "handout, section 4",
    ),
    "one_line_fewer": (
        "your --top N leaves N - 1 lines; N are asked for",
        "handout, section 4",
    ),
    "printed_as_well": (
        "with --out you print the lines as well; they go to the file alone",
        "handout, section 4",
    ),
    "status_zero": (
        "you end with the status 0 although a file is missing; it should be 1",
        "handout, section 4",
    ),
    "message_printed": (
        "your message about the missing file goes to standard output; it belongs on standard error",
        "handout, section 4",
    ),
}


def wrong(name: str) -> bool:
    """Tell whether this mistake is in force; a script has WRONG set before it runs."""
    return name in globals().get("WRONG", frozenset())


def words(text):
    """Return the words of a text in order."""
    if not wrong("case_kept"):
        text = text.lower()
    letter = "[a-zA-Z]" if wrong("ascii_letters") else r"[^\W\d_]"
    if wrong("cut_at_apostrophes"):
        return re.findall(f"{letter}+", text)
    if wrong("outer_apostrophes"):
        return re.findall(f"(?:{letter}|')+", text)
    return re.findall(f"{letter}+(?:'{letter}+)*", text)


def main():
    """Count the words of the files named, or of standard input, and return the exit status."""
    names = []
    top = out = None
    arguments = iter(sys.argv[1:])
    for argument in arguments:
        if argument == "--top":
            top = int(next(arguments))
        elif argument == "--out":
            out = next(arguments)
        else:
            names.append(argument)
    texts = []
    for name in names:
        try:
            with open(name, encoding="utf-8") as file:
                texts.append(file.read())
        except FileNotFoundError:
            stream = sys.stdout if wrong("message_printed") else sys.stderr
            print(f"no such file: {name}", file=stream)
            return 0 if wrong("status_zero") else 1
    if wrong("first_file_only"):
        del texts[1:]
    if not names:
        texts.append(sys.stdin.read())
    counts = {}
    for word in words(("" if wrong("glued") else "\n").join(texts)):
        counts[word] = counts.get(word, 0) + 1
    pairs = [(-count, word) for word, count in counts.items()]
    if wrong("order_of_a_tie"):
        pairs.sort(key=lambda pair: pair[0])
    else:
        pairs.sort()
    if wrong("one_line_fewer") and top is not None:
        top -= 1
    if not wrong("top_ignored") and top is not None:
        pairs = pairs[:top]
    lines = "".join(f"{-count} {word}\n" for count, word in pairs)
    if out is not None:
        with open(out, "w", encoding="utf-8") as file:
            file.write(lines)
    if out is None or wrong("printed_as_well"):
        sys.stdout.write(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
