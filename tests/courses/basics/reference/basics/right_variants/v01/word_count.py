"""Count words letter by letter."""

import sys
from dataclasses import dataclass, field


@dataclass
class Options:
    """What the arguments say."""

    files: list = field(default_factory=list)
    top: int | None = None
    out: str | None = None

    @classmethod
    def read(cls, arguments):
        """Go through the arguments."""
        options = cls()
        index = 0
        while index < len(arguments):
            if arguments[index] == "--top":
                index += 1
                options.top = int(arguments[index])
            elif arguments[index] == "--out":
                index += 1
                options.out = arguments[index]
            else:
                options.files.append(arguments[index])
            index += 1
        return options


def words(text):
    """Build words letter by letter."""
    found, word = [], ""
    text = text.lower() + " "
    for index, letter in enumerate(text[:-1]):
        inside = word and letter == "'" and text[index + 1].isalpha()
        if letter.isalpha() or inside:
            word += letter
        elif word:
            found.append(word)
            word = ""
    return found + [word] * bool(word)


def main():
    """Read, count, write."""
    options = Options.read(sys.argv[1:])
    texts = []
    try:
        for name in options.files:
            with open(name, encoding="utf-8") as file:
                texts.append(file.read())
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")
    if not options.files:
        texts.append(sys.stdin.read())
    counts = {}
    for text in texts:
        for word in words(text):
            counts[word] = counts.get(word, 0) + 1
    ranked = sorted(sorted(counts), key=counts.__getitem__, reverse=True)
    if options.top is not None:
        ranked = ranked[: options.top]
    lines = [f"{counts[word]} {word}\n" for word in ranked]
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.writelines(lines)
    else:
        sys.stdout.writelines(lines)


main()
