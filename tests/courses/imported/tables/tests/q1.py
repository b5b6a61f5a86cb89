test = {
    "name": "q1",
    "points": 2,
    "suites": [
        {
            "cases": [
                {"code": ">>> grown(2, 1)\n3.0", "hidden": False, "locked": False},
                {
                    "code": ">>> start = 8\n>>> math.isclose(grown(start, 2, 0.25), 12.5)\nTrue",
                    "hidden": True,
                    "locked": False,
                },
            ],
            "scored": True,
            "type": "doctest",
        }
    ],
}
