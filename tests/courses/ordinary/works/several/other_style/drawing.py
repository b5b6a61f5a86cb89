"""A picture that is painted over."""

import itertools

import figures as shapes


def draw(figures, width, height):
    picture = [["."] * width for _ in range(height)]
    for letter, figure in figures.items():
        for x, y in itertools.product(range(width), range(height)):
            if figure.covers(x, y):
                picture[y][x] = letter
    return "\n".join(map("".join, picture))


def board(size):
    cells = []
    for y in range(size):
        for x in range(y % 2, size, 2):
            cells.append(shapes.Rectangle(x, y, 1, 1))
    return cells
