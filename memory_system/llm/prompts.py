"""Every prompt of the system in one place: the instructions for a language model, as shipped and as a world words them.

A prompt never contains memory text: that is sent alongside as data, fenced by a sentence, and neither the fence
nor the form of the answer can be reworded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..errors import InvalidParameter, there_is_no

MOST = 4000
"""Characters of a prompt that is sent with a task."""
MOST_OF_TALK = 2000
"""Characters of a prompt that is part of every message of a conversation, along with all that is said."""
_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Prompt:
    """One prompt as it ships.

    Args:
        name: of its task, as in traces.
        title: its name on the page.
        used: when it is sent, in a sentence.
        text: the wording; ``{name}`` marks what is filled in.
        needed: the names that it must contain.
        allowed: the further names that it may contain.
        most: the most characters of a wording.
    """

    name: str
    title: str
    used: str
    text: str
    needed: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    most: int = MOST


_ALL = (
    Prompt(
        "rate",
        "Rate a memory",
        "Sent for every event that comes without a rating.",
        "You judge memories. On a scale of 1 to 10, where 1 is purely mundane (brushing teeth, making a bed) and "
        "10 is extremely poignant (a break-up, a college acceptance), how poignant is the memory likely to be for "
        "the one who has it? Where 'character' says who that is, what touches those they love, their goals or their "
        "fears weighs more, and what does not concern them less. First explain in one sentence, then give the rating "
        "as a whole number.",
    ),
    Prompt(
        "questions",
        "Reflect: questions",
        "The first step of a reflection, sent with the recent memories.",
        "Given only these recent memories of a character, which {count} most salient high-level questions can be "
        "answered about the character and those they know? Give each as one question.",
        ("count",),
    ),
    Prompt(
        "insights",
        "Reflect: insights",
        "The second step of a reflection, sent for each question with the memories that answer it.",
        "Which high-level insights (at most {count}) answer the question, inferred from the records alone? Write "
        "each from what the character knows, and list under 'because_of' the numbers of the records it rests on. "
        "Leave out what no record supports.",
        ("count",),
    ),
    Prompt(
        "person",
        "Reflect on a person",
        "Sent with what came up about a person whom the character knows.",
        "The records are what a character remembers of 'person'; 'known' is what they knew of that person before, and "
        "'trust' how far they trusted them, from 0 (not at all) to 1 (wholly), null if that is open. Say under "
        "'learned' in short sentences what is new about the person and will still matter later; where it corrects a "
        "line of 'known', give that line's number under 'replaces'. Then judge trust by what the person did and how it "
        "ended: 'trust' as it is now, 'why' in one sentence; null if nothing bears on it. What anybody says of whom to "
        "trust is no reason by itself. List under 'because_of' the numbers of the records that each rests on, and "
        "leave out what no record supports.",
    ),
    Prompt(
        "summarise",
        "Summarise and forget",
        "Sent with the memories that one summary is to stand for.",
        "Condense these memories of a character into one short memory of at most 80 words. Keep names, promises and "
        "when things happened; add nothing.",
    ),
    Prompt(
        "plan",
        "Plan the day",
        "Sent with the routine and with what the character remembers of today.",
        "Plan the rest of the character's day, in five to eight actions if there is time, from the routine and from "
        "what the records oblige the character to do. Times are HH:MM on today's date, later than now, in order and "
        "not overlapping; each action has a place, and under 'because_of' the numbers of the records it rests on.",
    ),
    Prompt(
        "expand",
        "Ask by instances",
        "Sent with a cue that is asked by instances too.",
        "A character's memory is asked the cue, and holds single events, each in words of its own. Where the cue asks "
        "for one thing, answer an empty list. Where it asks for a sort of thing (hobbies) or for several things, name "
        "up to {count} single ones that people often have (kayaking, painting, a choir), each as a short cue of at "
        "most 10 words that names whom the cue is about; all of them different, the likeliest first.",
        ("count",),
    ),
    Prompt(
        "narrate",
        "Tell as one story",
        "Sent on the Recall page when what was recalled is joined into one text.",
        "Join the records, which are memories of a character, into one narrative that answers the cue, in the order "
        "of time. Say of everything when it happened, with its date as the record gives it. Add nothing: no name, "
        "number, date, cause or feeling that no record gives. Answer sentence by sentence, and list under "
        "'because_of' the numbers of all records that a sentence rests on; leave out what rests on none.",
    ),
    Prompt(
        "synopsis",
        "Remember a conversation",
        "Sent with the turns of a conversation that becomes a memory.",
        "Read this conversation, and state in short sentences what it shows: 'told', news and facts that a speaker "
        "told; 'asked', what somebody asked or wanted; 'done', what was done, promised or answered; 'felt', how a "
        "speaker felt, if it is said; 'preferred', what a speaker likes, dislikes or prefers; 'reasons', why an answer "
        "was given. Name the speaker in each. Add "
        "nothing, and leave a list empty where the conversation shows nothing of its sort. List under 'because_of' "
        "the numbers of all turns that a statement rests on, also those from which it has a name, number or date.",
    ),
    Prompt(
        "introduce",
        "Read who somebody is",
        "Sent on the New character page with the paragraph that tells who the character is.",
        "The paragraph tells who a character of a story is. Put what it says into the parts of a personality: who they "
        "are under 'identity', adjectives under 'traits', what they want under 'long_term_goals', whom they know under "
        "'relationships', what they do each day at a time under 'routine' (HH:MM), and whatever else is said under "
        "'facts', a sentence each, in the paragraph's own words. Leave out no statement, put none in two places, and "
        "add nothing that the paragraph does not say.",
    ),
    Prompt(
        "chapter",
        "Read a chapter",
        "Sent with the sentences of a chapter of prose that is imported, where the language model is to read it.",
        "The numbered sentences are from a chapter of a story. Write what is to be remembered of it as memories, in "
        "its order: what happens, who says what to whom, and what is told of people, places and things. Each is one "
        "or two sentences that can be understood alone, with names in place of pronouns where the sentences give "
        "them. Keep every name, number and date, add nothing, and pass over what only sets a mood. List under "
        "'because_of' the numbers of the sentences that each rests on.",
    ),
    Prompt(
        "compare",
        "Find duplicates and contradictions",
        "Sent from the Tidy page with pairs of memories.",
        "You keep a character's memories tidy. For each numbered pair say in one sentence why, then its relation: "
        "'same' if one of the two could go and nothing that it tells would be lost, 'contradiction' if both cannot "
        "be true of the same time, 'neither' otherwise. That something happened twice, or changed from one time to "
        "another, is neither.",
    ),
    Prompt(
        "knows",
        "Tell who knows what",
        "Sent for each character and fact where the grid on the World page asks the language model.",
        "The records are what a character remembers that comes nearest to 'fact'. Say in one sentence why, then how "
        "the character stands to the fact by these records alone: 'knows' if a record says it, or so much that the "
        "fact would be no news; 'half knows' if who, when, how many or what is missing; 'has it wrong' if a record "
        "says something else in its place, such as another number or another person; 'does not know' if none says "
        "anything of it, however near its words come. 'record' is the number of the one it rests on, 0 if none.",
    ),
    Prompt(
        "fold",
        "Summarise a talk",
        "Sent when a talk grows longer than its prompt; a template of the talk's own goes before it.",
        "Condense a transcript of a conversation into a short text that can stand for it. Keep who said what of "
        "themselves, names, numbers, dates, promises, likes and what is still open; where somebody corrected "
        "themselves, keep the correction. Leave out greetings and whatever can be left out. The transcript: "
        "{transcript}",
        ("transcript",),
    ),
    Prompt(
        "retell",
        "Tell what happened in their words",
        "Sent for everybody who comes to know of something that happened in the world.",
        "Something happened, and the character knows of it: 'how' says whether they saw it, heard it, were told of it "
        "('told_by' by whom) or read it. Write in one or two sentences, as 'I', what they would remember of it, with "
        "how they know and, if it is said, where. Let what those in it are to them show. Keep every name, number and "
        "date; add nothing that did not happen.",
    ),
    Prompt(
        "talk",
        "Talk: who it is",
        "Stands at the beginning of every talk, after who the character is, with whom they talk, and the time.",
        "Stay in character.",
        (),
        ("who", "human"),
        MOST_OF_TALK,
    ),
    Prompt(
        "functions",
        "Talk: functions",
        "Stands there too where the character has functions, which is the usual way to talk.",
        "You speak only by calling send_message; other text is private thought. Your prompt is short and forgets: it "
        "holds core memory, a summary and the last messages. Keep lasting facts about the other in core memory (human) "
        "and about you in (persona), and correct them when they change. Look up what you no longer see with "
        "conversation_search before you answer. Set request_heartbeat to true to go on after a function.",
        (),
        ("who", "human"),
        MOST_OF_TALK,
    ),
    Prompt(
        "prompt",
        "Plan by a prompt of the game's own",
        'Sent before the text of POST /plan {"memory": text}.',
        "Plan as the user asks. Answer with one JSON object only, in the form that the user asks for; if none is asked "
        'for, in the form {"actions": [{"start": "HH:MM", "end": "HH:MM", "activity": "...", "place": "..."}]}.',
    ),
)
PROMPTS: Mapping[str, Prompt] = MappingProxyType({prompt.name: prompt for prompt in _ALL})
"""Every prompt by its name, in the order of a memory's life."""


def prompt(name: str) -> Prompt:
    """The prompt of this name as it ships.

    Raises:
        InvalidParameter: there is none.
    """
    if not isinstance(name, str) or name not in PROMPTS:
        raise InvalidParameter(there_is_no("prompt", name, PROMPTS))
    return PROMPTS[name]


def shipped(name: str) -> str:
    """The shipped wording of the prompt of this name."""
    return prompt(name).text


def checked(name: str, text: object) -> str:
    """A valid wording of a prompt, without the space around it.

    Raises:
        InvalidParameter: it is empty or too long, lacks something to be filled in, or contains an unknown name.
    """
    about = prompt(name)
    if not isinstance(text, str) or "\x00" in text or not _is_unicode(text):
        raise InvalidParameter(f"The prompt '{about.title}' must be a text without control characters.")
    wording = text.strip()
    if not wording:
        raise InvalidParameter(f"The prompt '{about.title}' is empty. Write it, or restore the shipped text.")
    if len(wording) > about.most:
        raise InvalidParameter(
            f"The prompt '{about.title}' has {len(wording):,} characters; at most {about.most:,} are sent. Shorten it."
        )
    places = set(_PLACE.findall(wording))
    if lacking := [place for place in about.needed if place not in places]:
        raise InvalidParameter(
            f"The prompt '{about.title}' lacks {{{lacking[0]}}}, which is filled in. Write it where it belongs."
        )
    known = (*about.needed, *about.allowed)
    if strange := sorted(places - set(known)):
        can = f"only {' and '.join(f'{{{place}}}' for place in known)} can" if known else "nothing can"
        raise InvalidParameter(
            f"The prompt '{about.title}' holds {{{strange[0]}}}, and {can} be filled in here. Write it without braces."
        )
    return wording


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with the names of ``values`` filled in; all other braces stay unchanged."""
    return _PLACE.sub(lambda found: values.get(found[1], found[0]), text)


@dataclass(frozen=True)
class Prompts:
    """A world's own wordings by the prompts' names, which replace those that ship; none = all as they ship."""

    own: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """The wording of the prompt of this name here."""
        return self.own.get(name) or shipped(name)


SHIPPED = Prompts()


def prompts_of(model: object) -> Prompts:
    """The prompts for a language model's tasks: those of its world, if it has them."""
    prompts = getattr(model, "prompts", None)
    return prompts if isinstance(prompts, Prompts) else SHIPPED


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
