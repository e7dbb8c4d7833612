"""The Interview page: three modes, the inspector, ablation, questions, two characters, strategies."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, words
from dashboard.components import working
from dashboard.data import tables
from dashboard.data.moments import Moment
from dashboard.views import PAGES
from dashboard.views.interview import live as talk_live
from dashboard.views.interview import questions, talk_tables
from memory_system import AgentMemory, Tier
from memory_system.conversation import interview
from memory_system.conversation.conversation import Conversation
from memory_system.conversation.documents import documents
from memory_system.conversation.interview import sittings
from memory_system.conversation.people import people, trust_over_time
from memory_system.conversation.talk import Strategy, TalkSettings
from memory_system.llm.openai.errors import KEY_REFUSED
from tests.fake_server import FakeServer, calling, error, pieces, says, streamed, talks
from tests.waiting import LAST_RESORT, until

from . import change_sets, lines

OpenPage = Callable[..., AppTest]
KEY = "Who has the mill key?"
AGAIN = "Say it again"
LONGEST = LAST_RESORT
LAVA = "My name is John. My mother Brenda baked me a chocolate lava cake."


@pytest.fixture
def cast() -> Collection[str]:
    """Those who talk with each other."""
    return ("mira", "tobias", "edda")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No work of another test goes on, and a page waits for its own as long as a slow machine needs."""
    wait = working.Work.wait
    monkeypatch.setattr(working.Work, "wait", lambda work, _: wait(work, LONGEST))
    monkeypatch.setattr(talk_live, "_PATIENCE", LONGEST)
    yield
    for name in ("ready-questions", "talk-strategies"):
        working.put_away(name)


def mira() -> AgentMemory:
    return session.world().agent("mira")


def shown(page: AppTest) -> str:
    kinds = (page.caption, page.text, page.markdown, page.success, page.error, page.info, page.warning)
    said = "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "")
    return f"{said}\n{change_sets.text(page)}".strip()


def press(page: AppTest, begins: str) -> AppTest:
    next(button for button in page.button if button.label.replace("\\", "").startswith(begins)).click().run()
    assert not page.exception, page.exception
    return page


def say(page: AppTest, text: str) -> AppTest:
    page.chat_input[0].set_value(text).run()
    assert not page.exception, page.exception
    return page


def in_the_field(page: AppTest) -> str | None:
    """What the page writes into the field of the chat; ``None`` where it leaves it alone."""
    field = page.chat_input[0].proto
    return field.value if field.set_value else None


def choose(page: AppTest, option: str) -> AppTest:
    group = next(one for one in page.button_group if any(option in str(shown) for shown in one.options))
    group.set_value([option]).run()
    assert not page.exception, page.exception
    return page


def test_an_interview_answers_from_memory_and_leaves_no_trace(open_page: OpenPage) -> None:
    before, touched = mira().stamp, {entry.id: entry.last_access for entry in mira().entries(Tier.LTM)}
    page = open_page("interview")
    assert words.NEEDS_A_LANGUAGE_MODEL in shown(page)
    assert f"{words.WITHOUT_A_TRACE}." in shown(page)
    press(page, KEY)
    told = shown(page)
    assert KEY in told
    assert "(offline)" in told, "an answer of rules says that it is one"
    assert "the tide mill" in told
    assert mira().stamp == before
    assert {entry.id: entry.last_access for entry in mira().entries(Tier.LTM)} == touched
    assert not Conversation.all(mira())
    assert mira().queries(5) == []
    press(page, words.START_OVER)
    assert KEY not in {text.value for text in page.text}


def test_what_an_interview_writes_into_core_memory_is_its_own(open_page: OpenPage) -> None:
    page = say(open_page("interview"), "My name is John.")
    before = mira().stamp
    page.session_state["inspector-mira"] = words.CORE_MEMORY
    page.run()
    human = next(area for area in page.text_area if area.label.endswith("(human)"))
    assert "John" in human.value
    human.set_value("Name: Johanna").run()
    press(page, "Save")
    human = next(area for area in page.text_area if area.label.endswith("(human)"))
    assert human.value == "Name: Johanna"
    assert mira().stamp == before


def test_a_talk_is_kept_undone_and_remembered(open_page: OpenPage) -> None:
    page = open_page("interview", mode="play")
    next(field for field in page.text_input if field.label == words.YOUR_NAME).set_value("John").run()
    press(page, "Begin")
    (talk,) = Conversation.all(mira())
    assert page.query_params["talk"] == talk.id
    say(page, LAVA)
    say(page, "Actually, my name is Mike.")
    assert "Mike" in talk.head.blocks.human
    assert "The last turn is stored." in shown(page)
    press(page, "Replay")
    assert "all identical to what is stored" in shown(page)
    press(page, "Undo")
    assert "Mike" not in talk.head.blocks.human
    assert "John" in talk.head.blocks.human
    assert [message.text for message in talk.messages() if message.speaker == "John"] == [LAVA]
    say(page, "Where can I leave the cake until tonight?")
    held = {entry.id for entry in mira().entries(Tier.STM)}
    press(page, words.LEAVE_AND_REMEMBER)
    assert {entry.id for entry in mira().entries(Tier.STM)} == held, "a preview changes nothing"
    press(page, words.REMEMBER_IT)
    (synopsis,) = [entry for entry in mira().entries(Tier.STM) if entry.id not in held]
    assert "John" in synopsis.document
    assert "The character remembers this talk" in shown(page)
    assert "talk" not in {tag for entry in mira().entries(Tier.STM) for tag in entry.tags}
    mira().forget([synopsis.id])
    page.run()
    assert "The character remembers this talk" not in shown(page)
    assert "See what became of it" in {button.label for button in page.button}


def test_the_last_turn_can_be_undone_after_a_reload_and_then_the_one_before_it(open_page: OpenPage) -> None:
    talk = Conversation.begin(mira(), human="John")
    for text in (LAVA, "Actually, my name is Mike."):
        talk.step(text)
    page = open_page("interview", mode="play", talk=talk.id)
    press(page, "Replay")
    assert page.success
    for left in ([LAVA], []):
        press(page, "Undo")
        assert [message.text for message in talk.messages() if message.speaker == "John"] == left
    assert not any(button.label == "Replay" for button in page.button)


def test_the_last_turn_is_answered_again_with_what_is_remembered_by_now(open_page: OpenPage) -> None:
    talk = Conversation.begin(mira(), human="John")
    page = open_page("interview", mode="play", talk=talk.id)
    say(page, LAVA)
    former = talk.messages()[-1]
    page.run()
    press(page, words.ANSWER_AGAIN)
    assert [one.change_set.operation for one in mira().history(3)] == ["talk", "undo", "talk"]
    assert [message.text for message in talk.messages() if message.speaker == "John"] == [LAVA]
    assert talk.messages()[-1].number == former.number


@pytest.mark.parametrize("events", [False, True])
def test_a_talk_is_removed_with_what_was_remembered_of_it_or_without(open_page: OpenPage, *, events: bool) -> None:
    talk = Conversation.begin(mira(), human="John", title="The cake")
    talk.step("Where can I leave the cake?")
    talk.synopsis()
    held = {entry.id for entry in mira().entries(Tier.STM)}
    page = open_page("interview", mode="play", talk=talk.id)
    if events:
        page.checkbox(key=f"remove-events-{talk.id}").check().run()
    page.button(key=f"remove-{talk.id}").click().run()
    assert not Conversation.all(mira())
    assert ({entry.id for entry in mira().entries(Tier.STM)} == held) is not events
    assert "talk" not in page.query_params
    assert "Removed: “The cake”" in shown(page)
    press(page, "Undo")
    assert [one.id for one in Conversation.all(mira())] == [talk.id]
    assert {entry.id for entry in mira().entries(Tier.STM)} == held


def test_a_turn_that_was_undone_hides_none_of_those_after_it(open_page: OpenPage) -> None:
    open_page("interview")
    talk = Conversation.begin(mira(), human="John")
    first = talk.step(LAVA)
    talk.step("Where is the lantern?")
    talk.step("Who has it?")
    assert first.change_set is not None
    assert first.change_set.revision is not None
    later = [clash.key for clash in mira().conflicts(first.change_set.revision)]
    mira().undo(first.change_set.revision, keep=later)
    page = open_page("interview", mode="play", talk=talk.id)
    assert "Where is the lantern?" in shown(page)
    assert not [one for one in page.button if one.label == "Earlier turns"]


def test_the_turns_whose_prompt_can_be_inspected_are_called_by_what_was_said(open_page: OpenPage) -> None:
    open_page("interview")
    talk = Conversation.begin(mira(), human="John")
    talk.step("What was said before this session")
    page = open_page("interview", mode="play", talk=talk.id)
    for text in (LAVA, "And then?", "And then?"):
        say(page, text)
    turns = next(box for box in page.selectbox if box.label == "Of which turn")
    assert turns.options == ["And then? (2)", "And then?", f"{LAVA[:39].rstrip()}…", "Next turn"]
    turns.set_value(turns.options[2]).run()
    assert not page.exception, page.exception
    assert LAVA in shown(page)


def test_a_memory_that_the_talk_would_write_is_kept_or_dropped(open_page: OpenPage, server: FakeServer) -> None:
    talk = Conversation.begin(mira(), human="John")
    mira().model = server.model()
    for text in ("John will come at noon", "John likes *bread*"):
        server.queue(
            talks(None, calling("archival_memory_insert", {"content": text, "request_heartbeat": True})),
            talks(None, calling("send_message", {"message": "I shall remember."})),
            says({"explanation": "A promise.", "rating": 6}),
        )

    def stored() -> set[str]:
        return {entry.id for entry in mira().entries(Tier.STM) if "talk" not in entry.tags}

    before = stored()
    page = say(open_page("interview", talk=talk.id), "I come at noon")
    assert "John will come at noon" in shown(page)
    assert stored() == before
    press(page, "Keep")
    say(page, "I like bread")
    press(page, "Drop")
    (added,) = stored() - before
    kept = mira().find(added)
    assert kept is not None
    assert kept.document == "John will come at noon"
    assert not [button for button in page.button if button.label in ("Keep", "Drop")]


def test_a_model_that_fails_leaves_the_message_and_a_sentence(open_page: OpenPage, server: FakeServer) -> None:
    talk = Conversation.begin(mira(), human="John")
    mira().model = server.model()
    server.on("*", error(401, "no such key"))
    page = say(open_page("interview", talk=talk.id), "Hello?")
    assert [message.text for message in talk.messages()] == ["Hello?"]
    assert KEY_REFUSED in shown(page)
    assert page.warning, "it is said beside the message"
    server.on("*", talks(None, calling("send_message", {"message": "Good morning."})))
    press(page, AGAIN)
    assert [message.text for message in talk.messages() if message.speaker == "John"] == ["Hello?", "Hello?"]
    assert "Good morning." in shown(page)
    assert not [button for button in page.button if button.label == AGAIN]


def test_a_message_that_cannot_be_taken_stands_in_its_field_again(open_page: OpenPage) -> None:
    page = say(open_page("interview"), " ")
    assert page.error
    assert in_the_field(page) == " "


@pytest.mark.parametrize("typed", [True, False])
def test_what_was_typed_stands_in_its_field_again_when_its_answer_is_stopped(
    typed: bool, open_page: OpenPage, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("interview")
    mira().model = server.model()
    monkeypatch.setattr(talk_live, "_PATIENCE", 0.0)
    stopped = threading.Event()
    server.on("*", streamed(*pieces("word " * 10), held_until=stopped))
    if typed:
        say(page, "Hello?")
    else:
        press(page, KEY)
    assert page.chat_input[0].disabled
    press(page, "Stop")
    stopped.set()
    live = page.session_state[f"talk-live-{page.session_state['talk-interview-mira'].key}"]
    live.wait(LAST_RESORT)
    page.run()
    assert "This turn was discarded." in shown(page)
    assert f"You had said: {'Hello?' if typed else KEY}" in shown(page)
    assert in_the_field(page) == ("Hello?" if typed else None), "what is clicked overwrites nothing that is typed"


@pytest.mark.parametrize("strategy", [Strategy.BUFFER, Strategy.VIRTUAL])
def test_a_stopped_answer_leaves_nothing(open_page: OpenPage, server: FakeServer, strategy: Strategy) -> None:
    open_page("interview")
    talk = Conversation.begin(mira(), settings=TalkSettings(strategy))
    mira().model = server.model()
    before = mira().stamp
    words = calling("send_message", {"message": "word " * 10_000})
    chunks = pieces("word " * 10_000) if strategy is Strategy.BUFFER else pieces(None, words)
    server.queue(streamed(*chunks, pause=0.05))
    live = talk_live.Live("Hello?", lambda one: talk.step("Hello?", heard=one.receive_piece, told=one.receive_call))
    until(lambda: live.pieces)
    assert "".join(live.pieces).startswith("w")
    live.stop()
    live.wait(LAST_RESORT)
    assert (live.running, live.stopped, live.step, live.problem) == (False, True, None, None)
    assert mira().stamp == before


def test_a_name_with_underscores_opens_every_page_that_has_a_component_of_ours(open_page: OpenPage) -> None:
    open_page("overview")
    session.world().create_agent("a___b").add_short_term([{"document": f"Saw {n} geese", "rating": 3} for n in (1, 2)])
    for view, link in (("interview", {}), ("interview", {"mode": "play"}), ("memory", {}), ("inbox", {})):
        open_page(view, agent="a___b", **link)


def test_a_whisper_is_planted_and_undone(open_page: OpenPage) -> None:
    thought = "The key never left the *mill*"
    page = open_page("interview", mode="whisper")
    press(page, "Whisper")
    assert "Write the thought first." in shown(page)
    field = next(area for area in page.text_area if area.label == words.THE_THOUGHT)
    field.set_value(thought)
    before = mira().stamp
    press(page, "Preview")
    assert mira().stamp == before
    assert thought in shown(page)
    press(page, "Whisper")
    (entry,) = [entry for entry in mira().entries(Tier.STM) if "whisper" in entry.tags]
    assert (entry.document, entry.authored, entry.rating is None) == (thought, False, False)
    press(page, "Undo")
    assert not [entry for entry in mira().entries(Tier.STM) if "whisper" in entry.tags]
    assert not [button for button in page.button if button.label == "Undo"]


def test_a_muted_memory_is_missing_from_the_second_answer(open_page: OpenPage) -> None:
    page = open_page("interview", show="ablation")
    press(page, "Ask")
    assert f"**{words.WITH_EVERYTHING}**" in shown(page), "the first answer is read before anything is muted"
    box = next(one for one in page.checkbox if "Tobias owned up" in one.label)
    assert next(one for one in page.button if one.label.startswith("Ask again")).disabled
    box.check().run()
    before = mira().stamp
    press(page, words.ASK_AGAIN_WITHOUT_THEM)
    first, second = page.dataframe[0].value, page.dataframe[1].value
    muted = first.set_index("what").loc["muted"]
    assert muted["memory"].startswith("Tobias owned up")
    assert muted["second"] != muted["second"], "it has no rank in the second answer"
    assert page.dataframe[0].proto.HasField("placeholder"), "and its cell is empty, where it would say None"
    assert second.set_index("section").loc[words.CAME_TO_MIND, "told"] == "changed"
    assert mira().stamp == before
    block = next(one for one in page.checkbox if one.label == words.PERSONA_BLOCK)
    block.check().run()
    press(page, words.ASK_AGAIN_WITHOUT_THEM)
    assert page.dataframe[1].value.set_index("section").loc["core memory", "difference"] < 0


def test_a_muted_fact_that_core_memory_tells_too_is_pointed_out(open_page: OpenPage) -> None:
    page = open_page("interview", show="ablation")
    page.text_input[0].set_value("How many true keys to the tide mill are there?").run()
    press(page, "Ask")
    next(one for one in page.checkbox if "only one true key" in one.label).check().run()
    press(page, words.ASK_AGAIN_WITHOUT_THEM)
    assert "still stands in core memory; mute its block as well" in shown(page)
    next(one for one in page.checkbox if one.label == words.PERSONA_BLOCK).check().run()
    press(page, words.ASK_AGAIN_WITHOUT_THEM)
    assert "still stands in core memory" not in shown(page)


def test_answers_are_kept_and_compared_after_an_edit(open_page: OpenPage) -> None:
    page = open_page("interview", show="questions")
    assert "Nothing to compare yet" in shown(page)
    choose(page, "memory")
    press(page, "Ask 3 questions")
    press(page, "Keep these answers")
    (kept,) = sittings(mira())
    assert {one.category for one in kept.answers} == {"memory"}
    assert next(one for one in page.button if one.label == "Keep these answers").disabled, "they are kept once"
    later = shown(open_page("interview", show="questions"))
    assert "**Kept: " in later
    assert kept.answers[0].answer in later
    mira().add_short_term({"document": "I promised Oswin a barrel of salt", "rating": 9}, rate=False)
    press(page, "Ask 3 questions")
    assert "3 answers, of which 1 differs" in shown(page)
    assert any("barrel of salt" in block.proto.body for block in page.get("html"))
    choose(page, "plans")
    press(page, "Ask 3 questions")
    assert "0 answers, of which none differ. 6 questions were asked in one of the two only." in shown(page)
    press(page, "Drop the earlier one")
    assert not sittings(mira())


def test_of_questions_that_were_cancelled_it_is_told_how_many_were_answered_and_by_whom(open_page: OpenPage) -> None:
    page = open_page("interview", "tobias", show="questions")
    both = [session.character(name) for name in ("mira", "tobias")]
    ask = questions._asking(both, interview.ready(["memory"]), TalkSettings())
    stops = iter([False] * 3)
    working.begin(questions.WORK, lambda tell, _: ask(tell, lambda: next(stops, True)))
    work = working.of(questions.WORK)
    assert work is not None
    work.wait(LAST_RESORT)
    page.run()
    assert not page.exception
    assert re.search("Cancelled: [12] of 6 questions were answered[.]", shown(page))
    assert "**Mira Holloway**" in shown(page), "whose answers these are"


def test_two_characters_talk_and_it_is_undone(open_page: OpenPage) -> None:
    page = open_page("interview", show="duet")
    tobias = session.world().agent("tobias")
    next(one for one in page.selectbox if one.label.endswith("talks with")).select("tobias")
    next(one for one in page.number_input if one.label == "Turns").set_value(2)
    press(page, words.LET_THEM_TALK)
    assert [len(Conversation.all(one)) for one in (mira(), tobias)] == [1, 1]
    assert "**Mira Holloway**" in shown(page)
    assert "**Tobias Finch**" in shown(page)
    (talk,) = Conversation.all(mira())
    reloaded = open_page("interview", show="duet", together=talk.id)
    assert "**Tobias Finch**" in shown(reloaded)
    press(reloaded, words.UNDO_ALL)
    assert [len(Conversation.all(one)) for one in (mira(), tobias)] == [0, 0]
    assert words.UNDO_ALL not in [one.label for one in open_page("interview", show="duet", together=talk.id).button]


def test_two_who_are_called_alike_are_told_apart_while_they_talk(open_page: OpenPage) -> None:
    open_page("interview")
    session.opened().duplicate_agent("mira", "twin")
    page = open_page("interview", show="duet")
    other = next(one for one in page.selectbox if one.label.endswith("talks with"))
    assert "Mira Holloway (twin)" in other.options
    other.select("twin")
    next(one for one in page.number_input if one.label == "Turns").set_value(2)
    press(page, words.LET_THEM_TALK)
    assert "**Mira Holloway (mira)**" in shown(page)
    assert "**Mira Holloway (twin)**" in shown(page)


def test_a_group_talks_with_a_heartbeat_and_it_is_undone(open_page: OpenPage) -> None:
    page = open_page("interview", show="duet")
    cast = [session.world().agent(name) for name in ("mira", "edda", "tobias")]
    next(one for one in page.selectbox if one.label.endswith("talks with")).select("edda").run()
    next(one for one in page.multiselect if one.label == "And with").select("tobias")
    next(one for one in page.number_input if one.label == "Turns").set_value(3)
    next(one for one in page.number_input if one.label == words.HEARTBEAT).set_value(30)
    press(page, words.LET_THEM_TALK)
    talks = [talk for one in cast for talk in Conversation.all(one)]
    assert [talk.head.settings.heartbeat for talk in talks] == [30] * 3
    assert "**Mira Holloway**" in shown(page)
    assert len(set(re.findall(r"\*\*([A-Z]\w+ [A-Z]\w+)\*\*", shown(page)))) >= 2
    for one in cast:  # whoever does not speak next has only heard what was said
        kept = open_page("interview", agent=one.name, mode="play")
        assert not kept.warning
        assert AGAIN not in [button.label for button in kept.button]
    press(page, words.UNDO_ALL)
    assert not any(Conversation.all(one) for one in cast)


def test_strategies_are_compared_on_one_transcript(open_page: OpenPage) -> None:
    page = open_page("interview", show="strategies")
    before = mira().stamp
    press(page, "Compare")
    frame = page.dataframe[0].value.set_index("strategy")
    assert list(frame.index) == ["buffer", "window, last 8", "summary, every 3", "otherwise, every 1", "virtual"]
    assert frame.loc["buffer", "in the prompt"] == 30
    assert frame.loc["window, last 8", "lost"] == 22
    assert frame.loc["virtual", "lost"] == 0
    assert frame["most"].max() <= 2000
    assert "What the summaries say" in shown(page)
    assert mira().stamp == before


def test_a_link_to_a_talk_that_is_not_there_says_so(open_page: OpenPage) -> None:
    page = open_page("interview", talk="gone")
    assert "Begin a talk with Mira Holloway" in shown(page)
    talk = Conversation.begin(mira(), title="About *bread*")
    page = open_page("interview", talk="gone")
    assert words.TALK_IS_GONE in shown(page)
    assert page.query_params["talk"] == talk.id


def test_a_play_is_open_again_when_the_page_is_come_back_to(workbench: OpenPage) -> None:
    page = workbench(next(one for one in PAGES if one.name == "interview"), mode="play")
    assert page.text_input(key="begin-human-mira")
    page.switch_page("views/history/history.py").run()
    page.query_params.pop("mode", None)
    page.switch_page("views/interview/interview.py").run()
    assert page.session_state["talk-mode"] == "Play"
    assert page.text_input(key="begin-human-mira")


def test_talks_of_one_title_are_numbered_as_they_began(open_page: OpenPage) -> None:
    open_page("interview")
    first, second = (Conversation.begin(mira(), human="John") for _ in range(2))
    other = Conversation.begin(mira(), human="John", title="The lantern")
    told = next(one for one in open_page("interview", mode="play").selectbox if one.label == "Talk").options
    title = first.head.title
    assert set(told) > {f"{title} (1)", f"{title} (2)", "The lantern"}
    assert talk_tables.titles([second.head, other.head, first.head])[second.id] == f"{title} (2)"


def test_a_talk_of_the_past_is_only_read(open_page: OpenPage) -> None:
    talk = Conversation.begin(mira(), title="About bread")
    talk.step("My name is John.")
    revision = mira().stamp[0]
    talk.step("I like rye.")
    page = open_page("interview", talk=talk.id, revision=str(revision))
    page.session_state["moment"] = Moment(revision=revision)
    page.session_state["moment-of"] = "mira"
    page.run()
    assert not page.exception, page.exception
    told = shown(page)
    assert "My name is John." in told
    assert "I like rye." not in told
    assert page.chat_input[0].disabled
    assert not [button for button in page.button if button.label in ("Begin", "Undo") or "Leave" in button.label]


def test_a_document_is_loaded_searched_undone_and_removed(open_page: OpenPage) -> None:
    page = open_page("interview", show="documents")
    assert "No documents yet." in shown(page)
    press(page, "Load Hester")
    (held,) = documents(mira())
    assert held.name == "receipt_book.md"
    next(field for field in page.text_input if field.label.startswith("Search as")).set_value("copy of the key").run()
    assert "The smith's name was Pardoe." in shown(page)
    press(page, "Look inside")
    assert "Fog bread" in shown(page)
    press(page, "Undo")
    assert not documents(mira())
    press(page, "Load Hester")
    press(page, "Remove")
    assert not documents(mira())
    press(page, "Undo")
    assert len(documents(mira())) == 1


def test_whom_a_character_knows_is_shown_and_edited(open_page: OpenPage) -> None:
    page = open_page("interview", show="people")
    assert "Tobias Finch" in shown(page)
    field = next(field for field in page.text_area if "Tobias Finch" in field.label)
    field.set_value("He owes me a loaf.").run()
    press(page, "Save")
    (known,) = [one for one in people(mira()) if one.name == "Tobias Finch"]
    assert known.text == "He owes me a loaf."
    next(field for field in page.text_input if field.label == "Name").set_value("Juno").run()
    press(page, "Add")
    assert [one.text for one in people(mira()) if one.name == "Juno"] == [""]


def test_trust_is_drawn_over_time_with_its_evidence_after_a_reflection_that_was_shown_first(
    open_page: OpenPage,
) -> None:
    name = "Tobias Finch"
    key = f"trust-mira-{name}"
    page = open_page("interview", show="people")
    page.session_state[key] = True
    page.run()
    assert words.TRUST_HAS_NOT_CHANGED in shown(page)
    press(page, words.REFLECT_ON_THEM)
    assert not trust_over_time(mira(), name), "it is only shown"
    press(page, "Apply")
    (point,) = trust_over_time(mira(), name)
    assert point.evidence
    page.run()
    assert tables.visible(point.why) in shown(page)
    assert set(point.evidence) <= {one["id"] for one in lines.drawn(page)}


def test_trust_is_set_by_a_slider_drawn_over_time_and_undone(open_page: OpenPage) -> None:
    name = "Tobias Finch"
    page = open_page("interview", show="people")
    page.session_state[f"trust-mira-{name}"] = True
    page.run()
    (slider,) = [one for one in page.slider if one.label == f"How far it trusts {name}"]
    (before,) = [one for one in people(mira()) if one.name == name]
    assert slider.value == before.trust
    assert next(one for one in page.button if one.label == words.SET_TRUST).disabled
    slider.set_value(0.25).run()
    press(page, words.SET_TRUST)
    (point,) = trust_over_time(mira(), name)
    assert (point.before, point.trust) == (before.trust, 0.25)
    assert next(one for one in people(mira()) if one.name == name).text.count("0.25 of 1") == 1
    assert words.TRUST_HAS_NOT_CHANGED not in shown(page)
    assert [one.value for one in page.slider if one.label == slider.label] == [0.25]
    press(page, "Undo")
    assert [one for one in people(mira()) if one.name == name] == [before]
    assert [one.value for one in page.slider if one.label == slider.label] == [before.trust]
