"""Words that mean the opposite of each other, as far as memories of a character need them."""

from __future__ import annotations

from collections.abc import Mapping

from .relevancy.words import stem

_PAIRS = """
open opened unlocked : closed close shut locked
alive living lives : dead died dies killed
love loves loved likes liked adores : hate hates hated dislikes disliked loathes despises
trust trusts trusted trustworthy : distrust distrusts distrusted mistrust mistrusts mistrusted untrustworthy
friend friends ally allies : enemy enemies rival rivals foe
accept accepted accepts agreed agree agrees : refuse refused refuses declined rejected disagreed
admitted admits confessed confirmed : denied denies
remember remembered remembers : forgot forget forgets forgotten
succeeded succeeds managed : failed fails
won win wins : lost lose loses
found find finds : lost lose loses missing
gave give gives given : took take takes taken
lent lend lends : borrowed borrow borrows
bought buy buys : sold sell sells
arrived arrive arrives came come comes : left leave leaves departed
began begin begins started start starts : ended end ends stopped stop stops finished
kept keep keeps : broke break breaks broken
always : never rarely seldom
everybody everyone all : nobody none
everything : nothing
everywhere : nowhere
with : without
before : after
inside in : outside out
on : off
up : down
above over : below under
more : less fewer
most : least
true truth : false lie lied lies
guilty : innocent
honest : dishonest liar
safe : dangerous unsafe
healthy well : ill sick
happy glad : sad unhappy miserable
rich wealthy : poor
old : young
new : old
early : late
hot warm : cold
big large : small little
tall : short
strong : weak
full : empty
light bright : dark
high : low
long : short
easy : difficult hard
cheap : expensive dear
good : bad
right : wrong left
north northern : south southern
east eastern : west western
married : unmarried divorced single
allowed : forbidden banned
possible : impossible
visible : hidden invisible
morning dawn sunrise : evening dusk sunset
day : night
real genuine : fake forged
won : lost
increased rose : decreased fell
"""


def _read() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _PAIRS.strip().splitlines():
        sides = [side.split() for side in line.split(" : ")]
        # a stop word has no stem
        one, other = ({stem(word) or word for word in side} for side in sides)
        for word in one:
            found.setdefault(word, set()).update(other - one)
        for word in other:
            found.setdefault(word, set()).update(one - other)
    return {word: frozenset(against) for word, against in found.items()}


OPPOSITES: Mapping[str, frozenset[str]] = _read()
"""By stem (a stop word by itself, lowered): the words against it."""
