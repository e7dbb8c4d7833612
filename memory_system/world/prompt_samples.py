"""What would be sent: a wording of a prompt with an agent's real data, as the operation itself builds it.

The operation runs as a preview with a model that records its prompts and answers by the offline rules. Nothing is
changed, touched or sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from ..agent import AgentMemory
from ..conversation import Conversation, Interview, people, reflect_on_person
from ..conversation.storage import conversations
from ..core.entry import MemoryEntry, Source, Tier
from ..llm import Completion, Task, comparing, summarise
from ..llm.base import Answer, Hearing, Reply
from ..llm.chapter import read_chapter
from ..llm.introduce import introduce
from ..llm.knowing import knows
from ..llm.narrate import reflect_on_person as reflecting
from ..llm.offline.model import OfflineModel
from ..llm.prompted import prompted
from ..llm.prompts import Prompts, checked
from ..llm.summarise import Line
from ..operations.context import by_age
from .happening import retelling

_CUE = "What has been on your mind?"
_SITUATION = "It is Monday, 09:00. The market opens at 10:00, and the boat leaves at 15:00. Plan the day."
_EXAMPLE = (("John", "Do you still have the key?"), ("", "I gave it back on Sunday."))
_PARAGRAPH = "Rosa Quill, 34, baker. She is stubborn. She wants to buy back the mill. She gets up at 4 every morning."
_FACT = "John has the key."
_WORDS = 100
_TOLD = 5
_SAID = 20
"""How many messages of a conversation are enough to see what is sent."""


@dataclass(frozen=True)
class Sample:
    """What would be sent, as one text, and remarks on it; the text is empty if nothing would be sent."""

    sent: str
    note: str = ""


class _Listening:
    """Answers by the offline rules, with the wording that is tried, and records what it was asked."""

    name = "preview"
    label = "preview"

    def __init__(self, rules: OfflineModel, prompts: Prompts) -> None:
        self.prompts = prompts
        self.heard: list[Task[Any]] = []
        self._rules = rules

    def complete(self, task: Task[Answer], deadline: float | None = None) -> Completion[Answer]:
        self.heard.append(worded := task.worded(self.prompts))
        return self._rules.complete(worded, deadline)

    def chat(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = (), **how: Unpack[Hearing]
    ) -> Reply:
        return self._rules.chat(messages, tools, **how)


def sample(agent: AgentMemory, name: str, text: str) -> Sample:
    """What would be sent about this agent, if the prompt of this name said this.

    Raises:
        InvalidParameter: there is no such prompt, or the text cannot be one.
        MemorySystemError: the operation cannot be previewed, for example because the agent is read-only.
    """
    model = _Listening(OfflineModel(agent.embedder), Prompts({name: checked(name, text)}))
    listening = agent.uncounted(model)
    if name in ("talk", "functions"):
        messages = Interview(listening, human="John").context().messages
        return Sample("\n\n".join(f"[{message['role']}]\n{message['content']}" for message in messages))
    note = _OPERATIONS[name](listening)
    asked = next((task for task in model.heard if task.name == name), None)
    return Sample("" if asked is None else asked.prompt(), note)


def _rate(agent: AgentMemory) -> str:
    lived = _lived(agent)
    agent.rate(lived[-1].document if lived else _EXAMPLE[1][1])
    return "" if lived else "Nothing is remembered yet, so an example is shown in its place."


def _reflect(agent: AgentMemory) -> str:
    return " ".join(agent.reflect_from_recent_memory(preview=True).notes)


def _summarise(agent: AgentMemory) -> str:
    return " ".join(agent.summarize_and_forget(10, preview=True).notes)


def _plan(agent: AgentMemory) -> str:
    return " ".join(agent.plan_from_memory(preview=True).notes)


def _narrate(agent: AgentMemory) -> str:
    agent.narrate(_CUE, _lived(agent)[-_TOLD:])
    return "The cue and the memories are examples: what happened last."


def _expand(agent: AgentMemory) -> str:
    agent.query(_CUE, expand=_TOLD)
    return "The cue is an example."


def _synopsis(agent: AgentMemory) -> str:
    turns, note = _said(agent)
    agent.remember_conversation([{"speaker": who, "text": text} for who, text in turns], preview=True)
    return note


def _fold(agent: AgentMemory) -> str:
    turns, note = _said(agent)
    lines = [Line(who, text, who != agent.display_name) for who, text in turns]
    agent.model.complete(summarise.fold(agent.display_name, "", lines, _WORDS))
    return note


def _introduce(agent: AgentMemory) -> str:
    assert isinstance(agent.model, _Listening), "it was put there above"
    agent.model.heard.append(introduce(_PARAGRAPH).worded(agent.model.prompts))
    return "The paragraph is an example."


def _chapter(agent: AgentMemory) -> str:
    assert isinstance(agent.model, _Listening), "it was put there above"
    sentences = [turn[1] for turn in _EXAMPLE]
    agent.model.heard.append(read_chapter(agent.display_name, sentences).worded(agent.model.prompts))
    return "The sentences are an example."


def _compare(agent: AgentMemory) -> str:
    lived = _lived(agent)[:2]
    if len(lived) < 2:
        return "There are fewer than two memories, so nothing is compared."
    assert isinstance(agent.model, _Listening), "it was put there above"
    agent.model.heard.append(comparing.compare(agent.display_name, [(lived[0], lived[1])]).worded(agent.model.prompts))
    return "The pair is an example: the two oldest memories."


def _knows(agent: AgentMemory) -> str:
    assert isinstance(agent.model, _Listening), "it was put there above"
    task = knows(agent.display_name, _FACT, _lived(agent)[-_TOLD:]).worded(agent.model.prompts)
    agent.model.heard.append(task)
    return "The fact is an example, and the memories are what happened last."


def _retell(agent: AgentMemory) -> str:
    agent.model.complete(retelling(agent, _EXAMPLE[1][1], Source.TOLD, "", _EXAMPLE[0][0]))
    return "What happened is an example; a game sends its own."


def _person(agent: AgentMemory) -> str:
    lived = _lived(agent)
    known = (person for person in people(agent) if reflect_on_person(agent, person.name, preview=True).calls)
    if next(known, None) is None:
        example = lived[-1:] or [MemoryEntry(_EXAMPLE[1][1], timestamp=agent.now)]
        agent.model.complete(reflecting(agent.display_name, _EXAMPLE[0][0], (), None, example))
        return "No memory names anybody whom the character knows, so an example is shown in their place."
    return ""


def _prompt(agent: AgentMemory) -> str:
    agent.model.complete(prompted(_SITUATION, agent.now))
    return "The user's text is an example; a game sends its own."


_OPERATIONS: Mapping[str, Callable[[AgentMemory], str]] = {
    "rate": _rate,
    "questions": _reflect,
    "insights": _reflect,
    "summarise": _summarise,
    "plan": _plan,
    "expand": _expand,
    "narrate": _narrate,
    "synopsis": _synopsis,
    "compare": _compare,
    "introduce": _introduce,
    "chapter": _chapter,
    "knows": _knows,
    "fold": _fold,
    "retell": _retell,
    "person": _person,
    "prompt": _prompt,
}
"""The operation that uses each prompt; each returns remarks on its input."""


def _lived(agent: AgentMemory) -> list[MemoryEntry]:
    """The agent's memories, the oldest first."""
    return sorted((entry for tier in (Tier.LTM, Tier.STM) for entry in agent.entries(tier)), key=by_age)


def _said(agent: AgentMemory) -> tuple[list[tuple[str, str]], str]:
    """What was said in the newest conversation, or an example."""
    for listed in conversations(agent)[:1]:
        messages = Conversation.open(agent, listed.id).messages(-_SAID, _SAID)
        if said := [(message.speaker or "?", message.said) for message in messages if message.said]:
            return said, ""
    own = agent.display_name
    example = [(who or own, text) for who, text in _EXAMPLE]
    return example, "There is no conversation yet, so an example is shown in its place."
