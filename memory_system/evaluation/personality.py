"""A personality of up to 40 facts, as rich as that of a game's character, and true of any name."""

from __future__ import annotations

import json

FACTS = (
    "{who} grew up in a small town by a river and moved away at nineteen.",
    "{who} is the eldest of three children.",
    "{who} learned to cook from a grandmother who measured nothing.",
    "{who} plays the guitar, though seldom in front of others.",
    "{who} wakes early and likes the hour before anybody else is up.",
    "{who} keeps a diary and has done so for ten years.",
    "{who} is allergic to shellfish.",
    "{who} has a scar on the left hand from a bicycle accident.",
    "{who} speaks a little Spanish and less French.",
    "{who} prefers tea to coffee.",
    "{who} worked in a bookshop before taking the present job.",
    "{who} votes in every election and argues about none.",
    "{who} is afraid of deep water.",
    "{who} once won a prize for a short story.",
    "{who} gives away old clothes every spring.",
    "{who} has lived in the same flat for six years.",
    "{who} owns more books than shelves.",
    "{who} sings in a choir on Thursdays.",
    "{who} walks to work unless it rains.",
    "{who} forgets names and never a face.",
    "{who} loves dogs and puts up with cats.",
    "{who} saves a tenth of every month's pay.",
    "{who} would like to see the northern lights.",
    "{who} bakes bread on Sundays.",
    "{who} hates being late and is late all the same.",
    "{who} keeps two plants alive and has killed many.",
    "{who} studied for two years and never finished the degree.",
    "{who} telephones home once a week.",
    "{who} paints watercolours on holiday.",
    "{who} believes that most people mean well.",
    "{who} does not drink alcohol.",
    "{who} has run one half-marathon and talks of another.",
    "{who} reads the last page of a novel first.",
    "{who} is saving for a small house with a garden.",
    "{who} plays chess by post with an uncle.",
    "{who} mends things rather than buying new ones.",
    "{who} likes camping in the mountains with friends.",
    "{who} supports a charity for children in need.",
    "{who} wears a ring that belonged to a great-aunt.",
    "{who} wants to learn pottery one day.",
)


def personality(who: str, count: int = len(FACTS)) -> str:
    """The JSON of a personality with the first ``count`` facts about somebody."""
    return json.dumps({"identity": {"name": who}, "facts": [fact.format(who=who) for fact in FACTS[:count]]})
