"""Fields of a personality that a cue asks for: "What is my job?" is about the profession, and about nothing else.

A fact such as "Mira works as: baker" shares hardly a word with "What do I do for a living?", and its vector is not
close to it either, nor is that of "stubborn in a quarrel" to "What am I like?". So it counts which field a fact is of.

Two ways lead to it, both for English. A small grammar of our own knows the common forms exactly; "I" and "you" are the
character, and so is its name. And what is put in other words has a vector close to one of three hundred questions
(``questions.json``), as in doc2query (Nogueira et al. 2019), which matches cues with questions that a text answers.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ...core.entry import MemoryEntry, Tier
from ...core.memory import Vectors
from .words import STOP_WORDS

Floats = NDArray[np.float64]

_ID = "static"
"""What ids of facts begin with; the section follows, and in the section ``identity`` the key."""
_NAME = f"{_ID}:identity:name:"
_SAYS_NAME = re.compile(r"The name is (.+)\.", re.DOTALL)
_LONGEST = 200
"""Characters of a cue that may ask for a field and for nothing else."""

ALIKE = 0.67
"""The cosine from which a cue asks for what a known question asks for. Of 132 questions that somebody else wrote 77 %
are recognised, 39 % by the grammar alone, and of 60 similar ones about other things none."""

_BE = "(?:is|are|was|were)"
_HERE = (
    r"(?: here| around here| where i live|,? (?:in|of) (?:my|our|the|this) "
    r"(?:village|town|city|place|home|country|land|society|world|community))?"
)
_LATELY = "(?: most(?: of all)?| best| least)?(?: in (?:my )?life| from life| for the future| in the world)?"
_ALWAYS = "(?:usually |normally |always |often |typically )?"
_JOBS = "(?:job|work|profession|occupation|trade|craft|calling|line of work|employment)"
_NATURE = (
    "(?:(?:main |best |worst )?(?:(?:character |personality )?traits|character|personality|nature|temper|temperament|"
    "strengths?|weakness(?:es)?|flaws?|faults?|virtues?|qualities|habits?)|strengths and (?:my )?weaknesses)"
)
_AIMS = (
    "(?:long[- ]term |life |main |biggest |greatest |ultimate )?"
    "(?:goals?|dreams?|ambitions?|aims?|aspirations?|objectives?|hopes?|purpose|motivations?|wish(?:es)?)"
)
_CLOSE = (
    "(?:close |closest |best |good |oldest |true |real )*"
    "(?:friends?|allies|ally|enem(?:y|ies)|rivals?|family|relatives|acquaintances|people)"
)
_FEEL = "(?:know|trust|distrust|mistrust|like|love|dislike|hate|rely on|depend on|care about|care for)"
_RULES = "(?:rules|laws|customs|traditions|norms|taboos|conventions)"
_DAILY = (
    "(?:every day|each day|all day|daily|during the day|at night|in the (?:morning|afternoon|evening)s?|"
    "(?:on|in) (?:a|an|my) (?:normal|typical|usual|ordinary) day)"
)
_DAILY_ACTS = (
    "(?:get up|wake up|rise|go to bed|go to sleep|start work|begin work|finish work|work|eat|"
    "have (?:breakfast|lunch|dinner|supper))"
)
_FORMS = {
    "identity:name": (
        rf"what {_BE} my (?:full |real |own )?name",
        "(?:what|how) am i called",
        "what do (?:people|others|they) call me",
        "who am i",
    ),
    "identity:age": (
        "how old am i",
        f"what {_BE} my age",
        "how many years old am i",
        "am i (?:young or old|old or young)",
    ),
    "identity:profession": (
        rf"what {_BE} my {_JOBS}",
        "what do i do(?: for (?:a|my) living| for work| for money| professionally| as a job)?",
        "(?:what|which) (?:kind|sort|type) of (?:work|job) do i (?:do|have)",
        rf"(?:what|which) {_JOBS} do i (?:do|have|follow|practise)",
        "how do i (?:earn|make) (?:my|a) (?:living|money|bread)",
        "what do i work as",
        "what am i by (?:trade|profession)",
    ),
    "identity:home identity:address identity:residence": (
        "where do i (?:live|dwell|sleep)",
        rf"(?:where|what) {_BE} my (?:home|house|address|residence)",
    ),
    "identity:birthplace identity:place_of_birth identity:hometown identity:home_town identity:origin": (
        "where (?:was|am) i born",
        "where (?:do i come|am i) from",
        "where did i grow up",
        rf"(?:where|what) {_BE} my (?:birthplace|home ?town|place of birth|origins?)",
    ),
    "identity:pronouns identity:gender identity:sex": (rf"what {_BE} my (?:pronouns|gender|sex)",),
    "identity:name identity:description identity:profession": (
        "who am i",
        "(?:describe|introduce) (?:me|myself)",
        "(?:tell us )?(?:something |a little |a bit |more )?about (?:me|myself)",
    ),
    "traits": (
        "what am i like",
        "how am i as a person",
        "(?:what|which) (?:kind|sort|type) of (?:a )?(?:person|man|woman|character) am i",
        rf"what {_BE} my {_NATURE}(?: like)?",
        "how (?:would|do) (?:people|others|they|i|friends) (?:describe|see) (?:me|myself|my (?:character|personality))",
        "describe my (?:character|personality)",
    ),
    "long_term_goals": (
        rf"what {_BE} my {_AIMS}{_LATELY}",
        rf"what do i (?:want|hope for|dream of|aim for|aim at|strive for|long for|wish for|live for|desire){_LATELY}",
        rf"what do i want to (?:achieve|accomplish|become|reach){_LATELY}",
        rf"what am i (?:trying to (?:achieve|accomplish)|striving for|working towards?|aiming (?:at|for)){_LATELY}",
        rf"what {_BE} my (?:long[- ]term plans|future plans|plans for (?:the|my) future|plans (?:in|for) (?:my )?life)",
        "what (?:drives|motivates) me",
    ),
    "relationships": (
        rf"who {_BE} my {_CLOSE}",
        rf"whom? do i (?:not )?{_FEEL}{_LATELY}",
        "whom? (?:can|should|may) i (?:not )?(?:trust|rely on|count on|depend on)",
        f"who {_BE} (?:close|closest|dear|important) to me",
        f"who {_BE} the (?:important )?(?:people|persons) in my life",
        rf"what {_BE} my relationships",
        "do i have (?:any )?(?:friends|enemies|family|allies)",
    ),
    "societal_rules": (
        rf"(?:what|which) {_BE} (?:the|my|our) {_RULES}{_HERE}",
        rf"(?:what|which) {_RULES} (?:do (?:i|we) (?:have|follow|obey|live by)|are there){_HERE}",
        rf"what is (?:forbidden|allowed|not allowed|taboo){_HERE}",
        rf"what (?:must|may) (?:nobody|no one|one not|i not|we not) do{_HERE}",
    ),
    "environment": (
        rf"(?:what|which) (?:places|buildings) (?:are there|do i know|can i (?:go to|visit)){_HERE}",
        rf"where can i go{_HERE}",
        "what is (?:around|near) (?:here|me)",
        rf"what {_BE} my (?:surroundings|environment|world)(?: like)?",
        "describe my (?:surroundings|environment|world|village|town)",
    ),
    "routine": (
        rf"what do i {_ALWAYS}do {_DAILY}",
        rf"what {_BE} my (?:daily |usual |normal )?(?:routine|schedule|habits|day)(?: like)?",
        rf"how do i {_ALWAYS}spend my (?:days?|mornings?|afternoons?|evenings?|time)",
        r"what does (?:a|an|my) (?:normal |typical |usual |ordinary )?day (?:of mine )?look like(?: for me)?",
        rf"when do i {_ALWAYS}{_DAILY_ACTS}",
    ),
}
"""By the fields, of which a character may have one or several: what asks for them, in lower case, without the end."""
_OWN_KEY = re.compile(rf"(?:what|which|who|where|when) {_BE} my (?P<key>[a-z][a-z ]{{0,60}})")
_BEGINNING = re.compile(
    r"^(?:(?:hello|hi|hey|good (?:morning|afternoon|evening|day)|so|well|and|please|now|excuse me|sorry|tell me|"
    r"(?:can|could|would|will) you (?:please )?(?:tell me)?|remind me|do (?:i|you) know|say)[,.!:;]*\s+)+"
)
_ENDING = re.compile(r"(?:,?\s+(?:again|exactly|please|then|now|anyway|actually|really|by the way))*[\s?.!…]*$")
_IDLE = re.compile(r"\s+(?:really|actually|exactly|currently)\b")
_ANOTHER = re.compile(r"\b(?:i|me|my|mine|myself)\b")
_MAY_ASK = re.compile(r"\b(?:i|me|my|myself|you|your|yourself|here|around|we|our)\b", re.IGNORECASE | re.ASCII)
_ONESELF = re.compile(r"\b(?:i|me|my|myself|you|your|yourself)\b")
_LOCAL = re.compile(r"\b(?:here|around|we|us|our|local|locally)\b")
_PLACES = frozenset({"societal_rules", "environment"})
_SOMEBODY = re.compile(
    r"\b(?:he|she|his|hers?|him|they|theirs?|them|mother|father|mum|dad|sister|brother|son|daughter|wife|husband|uncle|aunt|"
    r"cousin|friend|neighbou?r|boss|grand(?:mother|father))\b"
)
_EVENT = re.compile(r"\bdid\b|\bdo (?:i|you) (?:like|love|enjoy|hate|prefer)\b")
_SOMEBODYS = re.compile(r"\b\w+'s\b")
_SHORT_FORMS = (
    (re.compile(r"\b(what|who|where|how|when|that)(?:'s| s)\b"), r"\1 is"),
    (re.compile(r"\b(what|who|where|how|when)'re\b"), r"\1 are"),
    (re.compile(r"\bfavorite\b"), "favourite"),
)
_PERSONS = (
    (re.compile(r"\bdoes i\b"), "do i"),
    (re.compile(r"\byourself\b"), "myself"),
    (re.compile(r"\byour\b"), "my"),
    (re.compile(r"\b(call|see|describe|to|about|drives|motivates|for|near) you\b"), r"\1 me"),
    (re.compile(r"\byou\b"), "i"),
)
_TOLD = (
    (re.compile(r"(what|who|where|how old) (my .+|i) (is|are|was|were|am)"), r"\1 \3 \2"),
    (re.compile(r"(what|whom?|where|when|how) i (?!am\b|was\b)(.+)"), r"\1 do i \2"),
)
"""Questions within a sentence, as after "tell me": "what my job is"."""
_AM_I = re.compile(r"\b(?:is|are|was|were) i\b")


def asked_for(text: str, name: str = "", *, addressed: bool = False) -> frozenset[str]:
    """The fields of a personality that a cue asks its character for, if it asks for nothing else.

    Args:
        text: the cue.
        name: the character's, by which it may be called; empty if it has none.
        addressed: whether somebody else says it, and so does not mean the character by "I".

    Returns:
        Sections, such as ``traits``, and keys of the identity, such as ``identity:age``; empty for other cues. Not all
        of them have to exist.
    """
    return _asked_for(text, name, addressed) if len(text) <= _LONGEST else frozenset()


def like_known(text: str, vector: Vectors, embedder: str, *, addressed: bool = False) -> frozenset[str]:
    """The field that a cue asks for by its vector, if it is about the character; empty if there is none.

    Args:
        text: the cue.
        vector: its vector, shape (d,), of unit length.
        embedder: the identity of what made it: only the default embedder's are compared.
        addressed: whether somebody else says it, and so does not mean the character by "I".
    """
    if len(text) > _LONGEST or not _MAY_ASK.search(text):
        return frozenset()
    made_by, fields, known = _known()
    if embedder != made_by:
        return frozenset()
    cosines = known @ vector
    closest = int(cosines.argmax())
    field = fields[closest]
    return frozenset([field]) if cosines[closest] >= ALIKE and _about(text, field, addressed) else frozenset()


@lru_cache(maxsize=1)
def _known() -> tuple[str, tuple[str, ...], Vectors]:
    """Of the known questions: whose vectors there are, the field of each, and the vectors, shape (n, d)."""
    held = json.loads(resources.files(__package__).joinpath("questions.json").read_text(encoding="utf-8"))
    fields = tuple(field for field, _text in held["questions"])
    whole = np.frombuffer(base64.b64decode(held["vectors"]), np.int8).reshape(len(fields), -1).astype(np.float32)
    return held["embedder"], fields, whole / np.linalg.norm(whole, axis=1, keepdims=True)


def _about(text: str, field: str, addressed: bool) -> bool:
    """Whether a cue can be about the character or where it lives, not about an event, a taste or somebody else."""
    said = _plainly(text, addressed)
    if field not in ("identity:birthplace", "relationships") and _EVENT.search(said):
        return False
    if _SOMEBODYS.search(said) or (field != "relationships" and _SOMEBODY.search(said)):
        return False
    return _ONESELF.search(said) is not None or (field in _PLACES and _LOCAL.search(said) is not None)


def of_fields(
    text: str, entries: Sequence[MemoryEntry], like: frozenset[str] = frozenset(), *, addressed: bool = False
) -> Floats:
    """1 for each fact of a personality that is in a field for which the cue asks, else 0; shape (n,).

    Args:
        text: the cue.
        entries: the static memory, or another tier, in which nothing is such a fact.
        like: the field that it asks for by its vector.
        addressed: whether somebody says it to the character.
    """
    found = np.zeros(len(entries))
    if not len(entries) or entries[0].tier is not Tier.STATIC or len(text) > _LONGEST:
        return found
    for asked in filter(None, (asked_for(text, _name_in(entries), addressed=addressed), like)):
        starts = tuple(f"{_ID}:{field}:" for field in asked)
        if rows := [row for row, entry in enumerate(entries) if entry.id.startswith(starts)]:
            found[rows] = 1.0
            break
    return found


def _name_in(entries: Sequence[MemoryEntry]) -> str:
    """The character's name, as its static memory says it; empty if it does not."""
    said = next((entry.document for entry in entries if entry.id.startswith(_NAME)), "")
    found = _SAYS_NAME.fullmatch(said)
    return found[1] if found else ""


@lru_cache(maxsize=1)
def _forms() -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    """The fields and what asks for them; compiling it takes longer than loading the rest of this package."""
    return tuple((tuple(fields.split()), re.compile("|".join(forms))) for fields, forms in _FORMS.items())


@lru_cache(maxsize=1)
def _no_names() -> frozenset[str]:
    """Words that are no name by themselves: "Old Tom" is not meant by "How old am I?"."""
    return STOP_WORDS.union(re.findall(r"[a-z]+", " ".join(chain.from_iterable(_FORMS.values()))))


@lru_cache(maxsize=1024)
def _asked_for(text: str, name: str, addressed: bool) -> frozenset[str]:
    question = _in_first_person(text, name, addressed)
    fields = {field for fields, form in _forms() if form.fullmatch(question) for field in fields}
    if not fields and (own := _OWN_KEY.fullmatch(question)):
        fields = {f"identity:{own['key'].replace(' ', mark)}" for mark in "_-"}
    return frozenset(fields)


def _plainly(text: str, addressed: bool) -> str:
    """A cue in lower case, without greetings, short forms and what ends it; "they" for whoever says it, if another."""
    said = _ENDING.sub("", _BEGINNING.sub("", " ".join(text.lower().replace("’", "'").split())))
    for form, full in _SHORT_FORMS:
        said = form.sub(full, said)
    return _ANOTHER.sub("they", said) if addressed else said


def _in_first_person(text: str, name: str, addressed: bool) -> str:
    """The question as the character would put it to itself."""
    said = _plainly(text, addressed)
    first = name.lower().split(maxsplit=1)[0] if name.strip() else ""
    for called in dict.fromkeys((name.lower(), first if first not in _no_names() else "")):
        if called:
            own = re.escape(called)
            said = re.sub(rf"\b{own}(?:'s|'(?!\w))", "my", said)
            said = re.sub(rf",\s*{own}\b|^{own}\s*[,:]\s*", "", said)
            said = re.sub(rf"\bdoes {own}\b", "do i", said)
            said = re.sub(rf"\b(?:about|describe|call|to) {own}\b", lambda found: f"{found[0].split()[0]} me", said)
            said = re.sub(rf"\b{own}\b", "i", said)
    for form, person in _PERSONS:
        said = form.sub(person, said)
    said = _ENDING.sub("", _IDLE.sub("", _BEGINNING.sub("", said)))
    for form, asked in _TOLD:
        if found := form.fullmatch(said):
            said = found.expand(asked)
    return _AM_I.sub("am i", said)
