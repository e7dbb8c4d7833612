"""What a browser session holds of its talks: the mode, the settings, the current talk and its steps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import streamlit as st

from memory_system import AgentMemory
from memory_system.conversation import (
    Context,
    Conversation,
    Interview,
    Message,
    Step,
    Talk,
    TalkSettings,
    checked_blocks,
)

from ... import session, words

INTERVIEW, PLAY, WHISPER = "Interview", "Play", "Whisper"
MODES = {
    INTERVIEW: (":material/visibility:", words.WITHOUT_A_TRACE, "Nothing is stored; everything is discarded."),
    PLAY: (":material/theater_comedy:", "A normal talk", "It is kept, and the character remembers it."),
    WHISPER: (
        ":material/psychology:",
        "Plants a thought",
        "It becomes a memory that the character believes is its own.",
    ),
}
"""The ways to speak with a character: an icon, what it is, and what it leaves behind."""
LINK = "interview"
"""The value in a link for this session's interview, which has no id."""
_LAST_MODE = "talk-mode-last"
_MOST_MESSAGES = 10_000


@dataclass
class OpenTalk:
    """A talk in progress, and its steps in this browser session.

    Args:
        source: the talk: an interview that leaves no trace, or a stored conversation.
        steps: by the number of their first message.
    """

    source: Interview | Conversation
    steps: dict[int, Step] = field(default_factory=dict)

    @property
    def last(self) -> Step | None:
        """The last step taken here; ``None`` before the first."""
        return self.steps[max(self.steps)] if self.steps else None

    @property
    def talk(self) -> Talk:
        """The talk as it is, without its messages."""
        return self.source.talk if isinstance(self.source, Interview) else self.source.head

    @property
    def key(self) -> str:
        """A key that distinguishes it from other talks in this session."""
        return f"fleeting-{id(self.source)}" if isinstance(self.source, Interview) else self.source.id

    def messages(self, most: int) -> tuple[Message, ...]:
        """The last messages, the oldest first."""
        if isinstance(self.source, Interview):
            return self.source.transcript[-most:]
        return self.source.messages(-most, min(most, _MOST_MESSAGES))

    def context(self) -> Context:
        """What is in the prompt right now."""
        return self.source.context()

    def take(self, step: Step) -> None:
        """Store a step, to show what it was made from."""
        if step.messages:
            self.steps[step.messages[0].number] = step

    def edit_core(self, block: str, text: str) -> None:
        """Rewrite a block of core memory: permanently, or only in the fleeting talk.

        Raises:
            InvalidParameter: the text does not fit.
        """
        if isinstance(self.source, Interview):
            talk = self.source.talk
            blocks = checked_blocks(replace(talk.blocks, **{block: text}), talk.settings.block_room)
            self.source.talk = replace(talk, blocks=blocks)
        else:
            self.source.edit_core(block, text)


def mode() -> str:
    """The chosen mode, or the one in the link, or the last one; a talk in the link means play."""
    linked = session.from_link("mode").capitalize()
    last = st.session_state.get(_LAST_MODE, INTERVIEW)
    first = linked if linked in MODES else PLAY if session.from_link("talk") else last
    chosen = str(st.session_state.setdefault("talk-mode", first))
    st.session_state[_LAST_MODE] = chosen  # Streamlit forgets a widget's value when the page is left
    return chosen


def wanted_settings(agent: AgentMemory) -> TalkSettings:
    """The settings of the next talk with this character."""
    found: TalkSettings = st.session_state.setdefault(f"talk-settings-{agent.name}", TalkSettings())
    return found


def want_settings(agent: AgentMemory, settings: TalkSettings) -> None:
    """Set the settings of the next talk with this character."""
    st.session_state[f"talk-settings-{agent.name}"] = settings


def interview(agent: AgentMemory) -> OpenTalk:
    """The fleeting talk with this character, begun if there is none."""
    key = f"talk-interview-{session.place()}"
    if key not in st.session_state:
        st.session_state[key] = OpenTalk(Interview(agent, wanted_settings(agent)))
    found: OpenTalk = st.session_state[key]
    found.source.agent = agent  # as it is now: it may have another author, or have been reopened since
    return found


def had(agent: AgentMemory) -> bool:
    """Whether something was said in the fleeting talk with this character."""
    return f"talk-interview-{session.place()}" in st.session_state and bool(interview(agent).messages(1))


def start_over() -> None:
    """Forget the fleeting talk with the current character."""
    st.session_state.pop(f"talk-interview-{session.place()}", None)


def kept(agent: AgentMemory, talk_id: str) -> OpenTalk:
    """A stored conversation, with its steps taken here.

    Raises:
        ConversationNotFound: there is no conversation of this id.
    """
    key = f"talk-kept-{session.place()}-{talk_id}"
    conversation = Conversation.open(agent, talk_id)
    found: OpenTalk = st.session_state.setdefault(key, OpenTalk(conversation))
    found.source = conversation
    newest = conversation.head.next_number
    found.steps = {number: step for number, step in found.steps.items() if number < newest}  # the others were undone
    return found
