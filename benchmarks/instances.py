"""Instances by category, from common knowledge: a scripted stand-in for a language model that expands a cue.

It reads the question and nothing else: whether it asks for several things, of which sort, and whom it names first.
"""

from __future__ import annotations

import re

CATEGORIES: tuple[tuple[str, str], ...] = (
    (
        "book|author|read|novel",
        (
            "finished a book, a novel, a fantasy series, a biography, a book club, a favourite author, a bookshop, "
            "a recommended book"
        ),
    ),
    (
        "movie|film|tv|series|watch",
        (
            "watched a film, a television series, at the cinema, a comedy, a fantasy film, a science-fiction film, "
            "a romance, a favourite scene"
        ),
    ),
    (
        "instrument|music|band|concert|song",
        "guitar, piano, violin, drums, singing, a concert, a band, a festival, a song",
    ),
    (
        "pet|animal|dog|cat",
        "a dog, a puppy, a cat, a kitten, a turtle, a rabbit, a bird, adopted from the shelter, the pet's name",
    ),
    (
        "video game|board game|games? do|play games",
        (
            "a console, a computer game, a role-playing game, a strategy game, chess, a card game, a new release, "
            "an online game"
        ),
    ),
    (
        "tournament|competition|contest|championship",
        (
            "won a tournament, lost in the final, the first place, a trophy, a regional contest, "
            "signed up for a competition, the prize"
        ),
    ),
    (
        "recipe|dessert|cook|bake|food|made",
        "cake, biscuits, ice cream, pie, soup, salad, pasta, curry, chocolate, a new recipe",
    ),
    (
        r"paint|art\b|draw|symbol",
        (
            "a painting, a sunset, a landscape, flowers, a portrait, a sculpture, an abstract picture, a rainbow, "
            "an exhibition"
        ),
    ),
    (
        "pottery|craft|items?|collect|bought|gift",
        "a bowl, a cup, a necklace, a picture, shoes, a toy, a signed ball, a jersey, a present, a collection",
    ),
    (
        "writ|screenplay|script|letter|stories",
        "a screenplay, a script, a poem, a blog, a journal, a short story, a novel, an article, a letter, a rejection",
    ),
    (
        "exercise|yoga|martial|sport|training",
        "weights, running, yoga, boxing, swimming, cycling, taekwondo, surfing, climbing, football",
    ),
    (
        "hobb|activit|interest|destress|enjoy|do with|like to do|family|kids|outdoor",
        "hiking, camping, swimming, running, kayaking, painting, pottery, cooking, gardening, museum",
    ),
    (
        "event|participat|conference|promot|fundrais|planning",
        (
            "a parade, a conference, a workshop, a fair, a concert, a talk at a school, a charity run, "
            "a support group, a fundraiser, a competition"
        ),
    ),
    (
        r"volunteer|cause|support|shelter|help|met\b|friends",
        (
            "a homeless shelter, a food drive, a school, veterans, a fundraiser, a mentor, a church, "
            "a community project, an animal shelter"
        ),
    ),
    (
        "cit(y|ies)|countr|state|place|where|travel|visit|geograph|vacation|area",
        (
            "a trip to Europe, a holiday by the sea, a flight to New York, a visit to London, Paris, Italy, "
            "the mountains, the national park, Florida, California"
        ),
    ),
    (
        "goal|career|job|endors|business|studio|shop|store",
        (
            "a new job, a contract, an interview, winning a championship, a sponsor, advertising, a website, a loan, "
            "an investor, a foundation"
        ),
    ),
    ("child|son|daughter|sister|brother", "a son, a daughter, the youngest, a baby, a birthday"),
    (
        "injur|damage|accident|illness|allerg",
        "an ankle, an accident, the doctor, recovery, nuts, dairy, the repair, broken",
    ),
    (
        "feel|emotion|faith|inspir|memor|beauty|escape|experience",
        "happy, proud, nervous, nature, a photo, a prayer, a dream, a relief, a walk",
    ),
)
"""How a question shows a category, and its instances."""
_SEVERAL = re.compile(
    r"^(?:in )?(?:what|which)\s+(?:\w+\s+)?(?:(?:kinds?|types?|sorts?) of|\w+[^s\W]s\b(?<!does)(?<!was)(?<!is)|people)"
    r"|^(?:what|who) are\b|\bboth\b|^how many\b"
    r"|^(?:where|which|what|who) (?:\w+ )?(?:has|have) \w+ (?:\w+ed|been|done|made|read|met|seen)",
    re.IGNORECASE,
)
"""A question that asks for several things: a plural after "what", "how many", "has she read" and the like."""
_NAME = re.compile(r"\b[A-Z][a-z]+\b")
_NO_NAMES = frozenset("What Which Where When Who How In Did Do Does Is Are Why Would The A Has Have Was If".split())


def scripted(cue: str, most: int) -> tuple[str, ...]:
    """At most so many instances of a cue, each with the name that it has first; none if it asks for one thing."""
    if not _SEVERAL.search(cue):
        return ()
    named = [word for word in _NAME.findall(cue) if word not in _NO_NAMES]
    who = f"{named[0]}: " if named else ""
    for told_by, instances in CATEGORIES:
        if re.search(rf"\b(?:{told_by})", cue, re.IGNORECASE):
            return tuple(f"{who}{one}" for one in instances.split(", ")[:most])
    return ()
