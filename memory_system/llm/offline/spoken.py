"""What was said in a remembered conversation: its note or synopsis, split into sentences with their speakers."""

from __future__ import annotations

import re

_TALK = re.compile(
    r"\AConversation of (?P<who>.{1,500}?), (?P<day>\d{1,2} \w+ \d{4})(?: to \d{1,2} \w+ \d{4})?\.\s+(?P<said>.*)",
    re.DOTALL,
)
_SORT = re.compile(r"(?<!\S)(?:Told|Asked|Done|Felt|Preferred|Why): (?=\S)")
"""The labels before the statements of a synopsis."""
_SENTENCE = re.compile(r"(?<=[.!?…])[”\"]?\.?\s+|\n+")
_OTHER = re.compile(r"[^.!?“”]{1,60}?: ")
"""The beginning of another speaker's words, not named in the head of the note."""
_FEWEST_WORDS = 3
_RETOLD = re.compile(
    r"(?:That brings to mind|I still think of|Something else that I remember:|"
    r"(?:That reminds me|I was thinking) of something:|"
    r"The closest is) “(?P<text>[^“”‘]+)”(?: \([^()]*\))?\.?"
)
"""How the rules recount a memory of their own; what was said is that memory."""
_FILLER = re.compile(
    r"\W*(?:I hear you|(?:I am .{1,200}?, and answer|I answer) by plain rules, without a language model\b.*|"
    r"I find nothing about that in what I remember, and I make nothing up|I keep that as something that happened|"
    r"What do you (?:know|remember) of [^?]{1,80}\?|What should I know of it\?|Of .{1,80} I can tell you nothing|"
    r"Good day, .{1,200}|"
    r"Nothing comes to mind about .{1,80}|I remember nothing that I could tell you of that|That was on \d+ \w+|"
    r"I could not keep that|My core memory has no room for all of that)\W*",
    re.DOTALL,
)


def is_filler(sentence: str) -> bool:
    """Whether the rules say it only for the sake of talking, so that it is not worth remembering."""
    return _FILLER.fullmatch(sentence) is not None


def is_talk(text: str) -> bool:
    """Whether a memory records what was said in a conversation."""
    return _TALK.match(text) is not None


def sayings(text: str) -> list[tuple[str, str]]:
    """Each sentence in the memory of a conversation, with its speaker (empty if unknown).

    What the rules quoted of a memory of their own counts as said; fillers and other sentences that quote are left out,
    so that there is no quotation of a quotation, and so is a sentence that was cut off.
    """
    found = _TALK.match(text)
    if not found:
        return []
    names = sorted(filter(None, re.split(r", | and ", found["who"])), key=len, reverse=True)
    speaks = re.compile(rf"(?<!\S)({'|'.join(map(re.escape, names))})(?: asked)?: ")
    speaker, said = "", list[tuple[str, str]]()
    for piece in re.split(speaks, _SORT.sub("", found["said"])):
        if piece in names:
            speaker = piece
            continue
        quotations = [match["text"] for match in _RETOLD.finditer(piece)]
        said += [
            (speaker, quotation)
            for quotation in quotations
            if not quotation.endswith("…") and len(quotation.split()) >= _FEWEST_WORDS
        ]
        for sentence in _SENTENCE.split(_RETOLD.sub("", piece)):
            if _OTHER.match(sentence):
                break
            plain = _unquoted(sentence.strip())
            whole = not (plain.endswith("…") and text.endswith("…") and text.rstrip().endswith(sentence.strip()))
            if whole and len(plain.split()) >= _FEWEST_WORDS and not re.search("[“”‘]", plain) and not is_filler(plain):
                said.append((speaker, plain))
    return said


def _unquoted(sentence: str) -> str:
    """A sentence without the quotation marks around it, as in a synopsis."""
    bare = sentence.rstrip(".") if sentence.endswith("”.") else sentence
    return bare[1:].removesuffix("”") if bare.startswith("“") and bare.count("“") == 1 else sentence
