"""Right, if the figures are."""

from figures import Rectangle


def draw(figures, width, height):
    lines = []
    for y in range(height):
        line = ""
        for x in range(width):
            letters = [letter for letter, figure in figures.items() if figure.covers(x, y)]
            line += letters[-1] if letters else "."
        lines.append(line)
    return "\n".join(lines)


def board(size):
    cells = [(x, y) for y in range(size) for x in range(size)]
    return [Rectangle(x, y, 1, 1) for x, y in cells if (x + y) % 2 == 0]
