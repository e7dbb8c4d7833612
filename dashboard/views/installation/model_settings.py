"""The world's language model: what is in use, what is sent to it, which other to use, and a trial of it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from memory_system import MemorySystemError
from memory_system.llm import PROVIDERS, ModelChoice, Provider, Trial, WorldModel, keys

from ... import session, words
from ...components import bulk, widgets
from ...data import tables

LINK = "model"
"""The value in a link that shows this."""
_ADDRESS, _MODEL, _PLACE, _TURN, _TRIAL, _OFFERED = (
    "model-address", "model-name", "model-key-place", "model-key-turn", "model-trial", "model-offered",
)  # fmt: skip
_IN_USE = "in-use"
_SESSION, _KEYRING = "until the program ends", "in the system's keyring"


def show() -> None:
    """What is in use, and, if the person may choose, the alternatives."""
    models = session.world().models
    with st.container(border=True):
        _in_use(models)
    if not models.decided:
        with st.container(border=True):
            _choose(models)


def _in_use(models: WorldModel) -> None:
    st.header("In use", anchor=False)
    choice = models.in_use
    st.markdown(f"**{widgets.plain(models.label)}**")
    st.caption(widgets.plain(_destination_in_words(models)))
    if models.problem:
        st.warning(widgets.plain(models.problem), icon=":material/warning:")
    if models.decided:
        st.caption(widgets.plain(models.decided))
    else:
        by = "Chosen here, for this world." if models.chosen else "Set by the environment; nothing was chosen here."
        st.caption(by)
        if not choice.offline:
            _key_in_words(models, choice.endpoint)
    st.caption(widgets.plain(f"Embedding model: {session.world().embedder.identity}"))
    with st.container(horizontal=True):
        test = st.button(
            words.TEST_THE_LANGUAGE_MODEL, icon=":material/network_check:", help="In Python: world.models.try_in_use()"
        )
        back = None if models.decided else _way_back(models, choice)
    if test:
        _try(_IN_USE, models.try_in_use)
    if back is not None:
        back()
    _trial(_IN_USE)


def _destination_in_words(models: WorldModel) -> str:
    """Where memories are sent."""
    choice = models.in_use
    if models.name == "offline":
        return "Nothing leaves this program: plain rules rate, summarise, plan and talk, and are labelled as such."
    where = "this machine" if choice.local else choice.host
    if models.decided and choice.offline:
        where = "wherever the program has it"
    words = (
        f"Memories used for rating, reflecting, summarising, planning and talking are sent to {where}, "
        "with the personality and what is said."
    )
    return f"{words} It goes there unencrypted." if choice.readable_on_the_way else words


def _key_in_words(models: WorldModel, endpoint: str) -> None:
    place = models.key_of(endpoint)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/key: A key is set ({place})." if place else ":material/key_off: No key is set.")
        ours = place in ("this session", "keyring")
        forget = ours and st.button(
            "Forget the key", type="tertiary", help="In Python: world.models.forget_key(endpoint)"
        )
    if forget:
        _done(lambda: models.forget_key(endpoint), "The key is forgotten. To use it again, enter it again.")


def _way_back(models: WorldModel, choice: ModelChoice) -> Callable[[], None] | None:
    """The buttons that lead away from a server; returns what to do if one was pressed."""
    if not choice.offline and st.button("Use the offline rules", icon=":material/cloud_off:"):
        return lambda: _use(models, ModelChoice(), "The offline rules are in use.")
    usual = models.of_environment
    if models.chosen is not None and st.button(
        "Let the environment decide",
        icon=":material/restart_alt:",
        help=f"It says: {'offline rules' if usual.offline else usual.label}. In Python: world.models.use_environment()",
    ):
        return lambda: _chosen(models, models.use_environment, "The environment decides again.")
    return None


def _choose(models: WorldModel) -> None:
    st.header("Use a server", anchor=False)
    st.caption("Works with any OpenAI-compatible server. Choose one of these, or enter another address:")
    for provider in PROVIDERS:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(provider.name, key=f"take-{provider.name}", on_click=_take, args=(provider,), width=120)
            st.caption(f"{widgets.plain(provider.endpoint)} · {provider.about}", width="stretch")
    chosen = models.chosen or ModelChoice()  # the environment's address may contain a password
    st.session_state.setdefault(_ADDRESS, chosen.endpoint)
    st.session_state.setdefault(_MODEL, chosen.model)
    left, right = st.columns(2)
    endpoint = left.text_input(
        "Address", key=_ADDRESS, max_chars=500, placeholder="http://127.0.0.1:11434/v1", persist_state="session"
    ).strip()
    model = right.text_input(
        "Model", key=_MODEL, max_chars=200, placeholder="as the server calls it", persist_state="session"
    ).strip()
    _offered(endpoint)
    choice, ready = ModelChoice(endpoint, model), bool(endpoint and model)
    if choice.readable_on_the_way:
        st.warning(
            "This address is on another machine and uses http: memories and the key can be "
            "read in transit. Use https if the server supports it.",
            icon=":material/lock_open:",
        )
    # a form submits the field's content; a password field on its own, left by Tab, sends nothing
    with st.form("use-a-server", border=False, enter_to_submit=False):
        key, in_keyring = _key(models, endpoint.rstrip("/"))
        st.caption(
            "Saved for this world, beside its folder; it takes effect at once, on every page and in the HTTP API."
        )
        with st.container(horizontal=True):
            test = st.form_submit_button(
                "Test", icon=":material/network_check:", disabled=not ready,
                help="Rates an example, none of your memories. In Python: world.models.try_out(choice)",
            )  # fmt: skip
            save = st.form_submit_button(
                words.SAVE_AND_USE, type="primary", icon=":material/save:", disabled=not ready,
                help="In Python: world.models.use(choice, key)",
            )  # fmt: skip
    if test:
        _try(_of(choice), lambda: models.try_out(choice, key))
    if save:
        _use(models, choice, f"{choice.label} is in use.", key, in_keyring=in_keyring)
    _trial(_of(choice))


def _of(choice: ModelChoice) -> str:
    """The key of a trial: one for another address or model than the present ones is not shown."""
    return f"{choice.endpoint} {choice.model}"


def _take(provider: Provider) -> None:
    st.session_state[_ADDRESS], st.session_state[_MODEL] = provider.endpoint, provider.model
    st.session_state.pop(_TRIAL, None)


def _key(models: WorldModel, endpoint: str) -> tuple[str, bool]:
    """The key as typed, and whether the keyring is to keep it. The field is never filled in."""
    place = models.key_of(endpoint)
    turn = st.session_state.get(_TURN, 0)  # a new field after each saving, so that it is empty again
    key = st.text_input(
        "Key",
        type="password",
        max_chars=1000,
        key=f"{_TURN}-{turn}",
        autocomplete="off",
        placeholder=f"A key is set ({place}); write another to replace it"
        if place
        else "none, if the server needs none",
    )
    keyring = keyring_name()
    if not keyring:
        st.caption(
            "The key is kept until the program ends, in its memory only. This machine has no keyring that could keep "
            "it longer; for that, set OPENAI_API_KEY with OPENAI_BASE_URL."
        )
        return key, False
    where = st.segmented_control("Keep the key", [_SESSION, _KEYRING], default=_SESSION, required=True, key=_PLACE)
    st.caption(widgets.plain(f"The system's keyring is {keyring}. Neither way is the key in a file of this program."))
    return key, where == _KEYRING


@st.cache_resource(ttl=60, show_spinner=False)
def keyring_name() -> str:
    """The name of the system's keyring; empty if there is none."""
    return keys.available()


def _offered(endpoint: str) -> None:
    """The models that the server listed at the last trial, to choose from."""
    where, trial = _last_trial()
    if trial is None or not trial.models or not where.startswith(f"{endpoint} "):
        return

    def take() -> None:
        if name := st.session_state.get(_OFFERED):
            st.session_state[_MODEL] = name

    st.selectbox(
        f"The server offers {tables.counted(len(trial.models), 'model', 'models')}",
        trial.models,
        index=None,
        key=_OFFERED,
        on_change=take,
        placeholder="Choose one",
        format_func=tables.visible,
    )


def _use(models: WorldModel, choice: ModelChoice, words: str, key: str = "", *, in_keyring: bool = False) -> None:
    def use() -> None:
        if not models.use(choice, key, in_keyring=in_keyring).offline:
            st.session_state[_TURN] = st.session_state.get(_TURN, 0) + 1

    _chosen(models, use, words)


def _chosen(models: WorldModel, do: Callable[[], None], words: str) -> None:
    """Use another model; the previous one can be used again, with the key stored for its address."""
    before = models.chosen

    def back() -> None:
        if before is None:
            models.use_environment()
        else:
            models.use(before)

    def use_and_offer_undo() -> None:
        do()
        chosen = models.chosen
        bulk.did(
            words, back, f"{models.of_environment.label if before is None else before.label} is in use again.",
            holds=lambda: models.chosen == chosen, where="world.models.use(choice)",
        )  # fmt: skip

    _done(use_and_offer_undo)


def _done(do: Callable[[], None], words: str = "") -> None:
    """Do something, say so, and redraw the page; or say why not."""
    try:
        do()
    except MemorySystemError as error:
        widgets.problem(error)
    else:
        st.session_state.pop(_TRIAL, None)
        if words:
            widgets.say_next(words)
        st.rerun()


def _try(where: str, ask: Callable[[], Trial]) -> None:
    with st.spinner("Asking …"):
        try:
            st.session_state[_TRIAL] = where, ask()
        except MemorySystemError as error:
            st.session_state.pop(_TRIAL, None)
            widgets.problem(error)
            return
    if where != _IN_USE:
        st.rerun()  # the server's models are listed above


def _last_trial() -> tuple[str, Trial | None]:
    last_trial: tuple[str, Trial | None] = st.session_state.get(_TRIAL, ("", None))
    return last_trial


def _trial(where: str) -> None:
    """The round trip of the last trial."""
    asked, trial = _last_trial()
    if asked != where or trial is None:
        return
    took = f"{trial.milliseconds:,.0f} ms"
    if trial.problem:
        st.error(widgets.plain(f"{trial.label}, after {took}: {trial.problem}"), icon=":material/error:")
    else:
        tokens = "" if not trial.tokens else f", {trial.tokens:,} tokens"
        st.success(widgets.plain(f"{trial.label} answered in {took}{tokens}."), icon=":material/check_circle:")
    if trial.unlisted:
        st.caption(widgets.plain(trial.unlisted))
    elif trial.models and where == _IN_USE:
        st.caption(widgets.plain(f"It offers: {', '.join(trial.models[:20])}{' …' if len(trial.models) > 20 else ''}"))
    with st.expander("What was asked"):
        st.code(tables.lines(trial.asked), language=None, wrap_lines=True)
    if trial.answered:
        st.caption("What came back:")
        st.code(tables.lines(trial.answered), language=None, wrap_lines=True)
