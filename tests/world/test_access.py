"""Secrets, roles and waiting: who may do what at a server, and when it does not start at all."""

from __future__ import annotations

import pytest

from memory_system import Settings
from memory_system.errors import InvalidParameter, TooMany
from memory_system.world.auth import Door, Role, Throttle, is_this_machine, refuse_unsafe

CURATOR, VIEWER = "curators-token-1234", "viewers-token-12345"


def settings(**given: str) -> Settings:
    return Settings(**given)  # type: ignore[arg-type]


def test_a_server_without_secrets_lets_everybody_do_everything() -> None:
    door = Door.of_api(settings())
    assert not door.locked
    assert door.most is Role.CURATOR


def test_each_secret_gives_its_role_and_no_other_gives_any() -> None:
    door = Door.of_api(settings(token=CURATOR, viewer_token=VIEWER))
    assert door.locked
    assert door.role(CURATOR, "10.0.0.1") is Role.CURATOR
    assert door.role(VIEWER, "10.0.0.1") is Role.VIEWER
    assert [door.role(wrong, f"10.0.1.{at}") for at, wrong in enumerate(["", CURATOR[:-1], CURATOR.upper()])] == [
        None
    ] * 3


def test_an_empty_secret_is_none() -> None:
    assert not Door.of_dashboard(settings(password="")).locked


def test_where_everybody_is_a_viewer_the_curators_secret_makes_a_viewer_too() -> None:
    door = Door.of_api(settings(token=CURATOR, role="viewer"))
    assert door.role(CURATOR, "10.0.0.1") is Role.VIEWER
    assert Door.of_api(settings(role="viewer")).most is Role.VIEWER


def test_after_five_wrong_secrets_an_address_waits_and_then_twice_as_long_each_time() -> None:
    now = [100.0]
    throttle = Throttle(lambda: now[0])
    waits = []
    for _ in range(14):
        throttle.failed("10.0.0.1")
        waits.append(throttle.wait("10.0.0.1"))
        now[0] += waits[-1]
    assert waits == [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert throttle.wait("10.0.0.2") == 0
    now[0] += 901
    throttle.failed("10.0.0.1")
    assert throttle.wait("10.0.0.1") == 0


def test_a_right_secret_does_not_shorten_the_wait_nor_is_it_looked_at_meanwhile() -> None:
    now = [100.0]
    door = Door(Door.of_api(settings(token=CURATOR, viewer_token=VIEWER)).secrets, throttle=Throttle(lambda: now[0]))
    for _ in range(4):
        assert door.role("a guess", "10.0.0.1") is None
    assert door.role(VIEWER, "10.0.0.1") is Role.VIEWER
    assert door.role("a guess", "10.0.0.1") is None
    with pytest.raises(TooMany, match="Try again in 1 seconds"):
        door.role(CURATOR, "10.0.0.1")
    assert door.role(CURATOR, "10.0.0.2") is Role.CURATOR
    now[0] += 1
    assert door.role(CURATOR, "10.0.0.1") is Role.CURATOR


def test_the_many_addresses_of_one_network_wait_together_and_not_all_are_remembered() -> None:
    throttle = Throttle(lambda: 100.0)
    for number in range(5):
        throttle.failed(f"2001:db8::{number}")
    assert throttle.wait("2001:db8::ffff") == 1
    for number in range(10_001):
        throttle.failed(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert throttle.wait("2001:db8::1") == 0


def test_another_network_of_ipv6_does_not_wait() -> None:
    throttle = Throttle(lambda: 100.0)
    for _ in range(5):
        throttle.failed("2001:db8:0:1::1")
    assert throttle.wait("2001:db8:0:1:ffff::1") == 1
    assert throttle.wait("2001:db8:0:2::1") == 0


def test_what_is_no_address_waits_by_its_first_hundred_letters() -> None:
    throttle = Throttle(lambda: 100.0)
    for _ in range(5):
        throttle.failed("x" * 100 + "a")
    assert throttle.wait("x" * 100 + "b") == 1
    assert throttle.wait("x" * 99) == 0


def test_a_wrong_secret_is_forgotten_after_more_than_a_quarter_of_an_hour() -> None:
    now = [100.0]
    throttle = Throttle(lambda: now[0])
    for _ in range(4):
        throttle.failed("10.0.0.1")
    now[0] += 900
    throttle.failed("10.0.0.1")
    assert throttle.wait("10.0.0.1") == 1
    now[0] += 900.5
    throttle.failed("10.0.0.1")
    assert throttle.wait("10.0.0.1") == 0


def test_ten_thousand_addresses_are_remembered_and_the_one_that_failed_longest_ago_makes_room() -> None:
    throttle = Throttle(lambda: 100.0)
    for _ in range(5):
        throttle.failed("10.0.0.1")
    for number in range(9_999):
        throttle.failed(f"address {number}")
    assert throttle.wait("10.0.0.1") == 1
    throttle.failed("one more")
    assert throttle.wait("10.0.0.1") == 0


def test_however_many_wrong_secrets_came_the_wait_is_a_minute() -> None:
    throttle = Throttle(lambda: 100.0)
    for _ in range(1_100):
        throttle.failed("10.0.0.1")
    assert throttle.wait("10.0.0.1") == 60


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", "LOCALHOST"])
def test_an_address_of_this_machine_needs_no_secret(host: str) -> None:
    assert is_this_machine(host)
    refuse_unsafe(settings(host=host), dashboard=True, api=True)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", "127.0.0.1.example.com"])
@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "MEMORY_PASSWORD"),
        ({"token": CURATOR}, "MEMORY_PASSWORD"),
        ({"password": "curators-word"}, "MEMORY_TOKEN"),
        ({"password": "", "token": ""}, "MEMORY_PASSWORD"),
    ],
    ids=["nothing", "no password", "no token", "empty ones"],
)
def test_no_server_starts_open_to_other_machines_without_a_secret(host: str, given: dict[str, str], named: str) -> None:
    with pytest.raises(InvalidParameter, match=named) as caught:
        refuse_unsafe(settings(host=host, **given), dashboard=True, api=True)
    assert CURATOR not in caught.value.sentence


def test_a_secret_each_is_enough_and_only_for_what_is_served() -> None:
    refuse_unsafe(settings(host="0.0.0.0", password="curators-word", token=CURATOR), dashboard=True, api=True)
    refuse_unsafe(settings(host="0.0.0.0", token=CURATOR), dashboard=False, api=True)
    refuse_unsafe(settings(host="0.0.0.0", viewer_token=VIEWER, role="viewer"), dashboard=False, api=True)


def test_secrets_of_just_the_shortest_length_are_taken() -> None:
    refuse_unsafe(settings(host="0.0.0.0", password="8letters", token="just-16-letters!"), dashboard=True, api=True)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"password": "secret7"}, "MEMORY_PASSWORD is too short: 8"),
        ({"viewer_password": "a"}, "MEMORY_VIEWER_PASSWORD is too short: 8"),
        ({"token": "only-15-letters"}, "MEMORY_TOKEN is too short: 16"),
        ({"password": "the-same-one", "viewer_password": "the-same-one"}, "MEMORY_VIEWER_PASSWORD are the same"),
        ({"token": CURATOR, "viewer_token": CURATOR}, "MEMORY_VIEWER_TOKEN are the same"),
    ],
)
def test_secrets_that_are_none_are_refused_without_being_told(given: dict[str, str], told: str) -> None:
    with pytest.raises(InvalidParameter, match=told) as caught:
        refuse_unsafe(settings(**given), dashboard=True, api=True)
    assert not any(secret in caught.value.sentence for secret in given.values() if len(secret) > 1)


def test_no_secret_stands_in_what_settings_and_doors_say_of_themselves() -> None:
    held = settings(password="curators-word", token=CURATOR, viewer_token=VIEWER)
    told = f"{held!r} {held} {held.model_dump()} {held.model_dump_json()} {Door.of_api(held)!r}"
    assert not any(secret in told for secret in ("curators-word", CURATOR, VIEWER))
