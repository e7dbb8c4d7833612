"""What ``make test`` leaves to ``make test-all``: tests that repeat in more depth what another test shows.

``make test`` proves the product to a newcomer in minutes: every rule that is computed, one step at which a process is
killed, two processes, damage, a full disk, pages, servers, and the journeys in a browser that matter. What it leaves
out is marked ``full``: the rules of this repository, the same on a second store or journal, two of three cases of a
list, five of six tests that open an agent or a page, and tests that take longer than is worthwhile every time.
``long`` marks what only ``make faults`` runs.
"""

from __future__ import annotations

import zlib

import pytest

SECOND_PLACE = {"each_journal": "postgresql", "store_place": "on a server"}
"""Fixtures that run a test in two places, and the second; ``test_journal_on_a_server`` and ``test_chroma_server``
show in ``make test`` that it works at all."""

WHOLE = {
    "test_api_properties.py": "a made-up request for each address; test_api and test_service ask them all",
    "test_build.py": "what a wheel holds; test_wheel installs one and runs it",
    "test_container.py": "the steps of the Dockerfile",
    "test_house.py": "a rule of this house",
    "test_mutants_tool.py": "a developer's tool",
    "test_package_readmes.py": "the examples of packages",
    "test_reference.py": "that everything public is described",
    "test_requirements.py": "a rule of this house",
    "test_words.py": "a rule of this house",
    "test_news_spreads.py": "two days of six characters who talk",
    "test_kill_advance.py": "two days of six characters, lived through several times",
    "test_small_model.py": "a real language model, which rates and talks for a minute",
    "test_bench_conversation.py": "a benchmark, in small",
    "test_bench_recall.py": "a benchmark, in small",
    "test_bench_simulation.py": "a benchmark, in small",
}
"""Whole files, each with the reason."""

ONE_OF = {
    "test_a_change_killed_at_a_step_is_whole_or_not_at_all": 1,
    "test_a_client_over_stdio_remembers_recalls_searches_and_reflects": 2,
    "test_every_page_opens_without_an_exception": 1,
    "test_a_cursor_that_is_none_is_refused": 3,
    "test_a_file_that_is_no_whole_backup_is_refused_in_words_and_changes_nothing": 4,
    "test_a_foreign_database_is_refused_before_anything_is_built": 1_000,
    "test_a_page_has_no_violation_of_ours": 4,
    "test_a_page_shows_any_moment_and_lets_nothing_be_changed": 3,
    "test_a_query_killed_at_any_moment_is_whole_or_not_at_all": 2,
    "test_a_summary_keeps_to_its_length_whatever_is_fed": 5,
    "test_a_viewers_agent_refuses_every_change": 4,
    "test_a_wrong_body_is_refused_in_words": 4,
    "test_a_wrong_call_comes_back_to_the_model_in_words": 3,
    "test_an_operation_does_what_it_does_whatever_the_memories_order": 8,
    "test_each_operation_ends_in_a_clear_error_or_a_good_answer_and_loses_nothing": 4,
    "test_every_click_on_a_tab_opens_it": 9,
    "test_every_operation_can_be_previewed_and_done": 2,
    "test_every_prompt_is_shown_with_an_agent_s_own_data": 3,
    "test_no_prompt_exceeds_its_budget_in_any_script": 5,
    "test_reflecting_changes_nothing_that_is_marked": 3,
    "test_the_command_line_tells_it_in_a_sentence_and_stores_the_event": 3,
    "test_the_offline_rules_obey_nothing_either": 5,
    "test_what_cannot_be_kept_is_refused_and_changes_nothing": 3,
    "test_what_cannot_be_served_is_one_sentence": 3,
    "test_what_cannot_be_taken_is_refused_in_words_and_changes_nothing": 4,
    "test_what_does_not_hang_together_is_refused_and_later_writes_still_work": 3,
    "test_what_the_server_counts_corrects_the_estimate": 3,
    "test_who_still_holds_an_agent_that_was_moved_is_told_so": 3,
    "test_a_start_is_stopped_while_its_packages_are_still_loaded": 5,
    "test_garbage_is_not_collected_after_each_run_wherever_it_is_started": 9,
    "test_servers_of_the_command_line_end_in_one_line": 9,
    "test_the_example_of_a_package_runs": 3,
    "test_code_answers_what_the_page_does": 4,
}
"""Tests with many similar cases: one of so many stays, always the same ones, and the first in any case."""

LATER = {
    "test_a_change_set_is_walked_ticked_and_applied_by_keyboard_while_a_game_writes": "a migration is in it",
    "test_a_form_changes_age_and_traits": "the form without a browser is in make test",
    "test_an_interview_shows_what_came_to_mind_and_leaves_no_trace": "another interview in a browser is in make test",
    "test_random_labels_change_nothing": "hundreds of weighings",
    "test_what_a_lasso_catches_is_offered_to_be_changed_together": "bulk changes without a browser are in make test",
    "test_where_uv_fails_pip_installs_and_its_reason_is_told": "a developer's tool",
    "test_a_backup_of_a_server_is_restored_into_files_and_the_other_way": "a backup either way is in make test",
    "test_a_change_that_a_test_notices_is_killed_and_another_survives": "two rounds of a developer's tool",
    "test_a_character_is_branched_while_another_program_asks_it": "five branches beside a busy program",
    "test_a_long_conversation_is_read_in_parts_and_the_synopsis_stays_short": "a talk of hundreds of turns",
    "test_a_long_conversation_offline_takes_statements_from_all_its_parts": "a talk of hundreds of turns",
    "test_a_large_change_of_strategy_says_what_was_never_summarised": "a talk of hundreds of turns",
    "test_a_small_context_holds_a_long_talk": "a talk of hundreds of turns",
    "test_a_summary_of_many_long_memories_still_fits": "thousands of sentences",
    "test_a_thousand_are_changed_in_a_moment": "a thousand memories",
    "test_bash_completes_commands_options_agents_and_presets": "four programs that start one after the other",
    "test_ctrl_c_stops_it_with_130_and_no_table": "Ctrl+C in `add` is in make test",
    "test_an_example_runs_from_its_first_line_to_its_last": "programs that start one after the other",
    "test_eight_threads_on_ten_agents_lose_nothing": "test_eight_threads_adding_lose_nothing is in make test",
    "test_code_of_every_character_answers_what_the_page_does": "the same for one character is in make test",
    "test_every_moment_is_answered_again_as_it_was_answered_then": "ten whole lives, each relived",
    "test_a_busy_port_is_one_sentence_and_nothing_is_started": "the next port is offered in make test",
    "test_a_check_beside_another_program_costs_no_acknowledged_change": "two processes are in make test",
    "test_a_script_in_any_folder_finds_the_packages": "programs that start one after the other",
    "test_a_setting_that_is_no_number_is_one_sentence": "programs that start one after the other",
    "test_memories_beside_each_other_are_told_alike": "one read alike on both sides is in make test",
    "test_nohup_lets_a_server_outlive_its_terminal": "servers and their signals are in make test",
    "test_rehearsals_are_played_alike": "one read alike on both sides is in make test",
    "test_whatever_of_the_dashboard_is_imported_without_a_server_says_nothing": "every module, one after the other",
    "test_no_color_is_heeded": "a second program on a terminal",
    "test_ratings_agree_with_those_of_a_large_model": "hundreds of ratings",
    "test_six_thousand_entries_go_in_and_out_at_once": "six thousand entries",
    "test_the_moments_before_and_after_every_change_of_a_character_open": "a page for each of dozens of changes",
    "test_the_reference_figures_are_found_again": "hundreds of questions of a data set",
    "test_the_shipped_weights_are_what_the_command_fits": "thousands of answers",
    "test_the_scene_survives_a_long_talk_by_plain_rules": "a talk of hundreds of turns",
    "test_on_the_command_line_too": "programs that start one after the other",
    "test_too_many_events_are_refused_as_a_whole": "ten thousand events",
    "test_memories_are_found_by_words_and_what_stands_in_the_list_stays_where_it_is": "a palette is in make test",
    "test_escape_closes_it_and_leaves_the_field_and_what_is_typed_there": "a palette is in make test",
    "test_on_a_phone_the_sidebar_goes_once_something_was_chosen": "a palette is in make test",
    "test_every_page_is_looked_at_as_of_a_change_and_back_again": "pages as of a change without a browser are in it",
    "test_a_saved_cue_tells_that_a_memory_was_forgotten": "a cue that fails, on Inbox, is in make test",
    "test_a_part_of_a_rehearsal_is_kept_undone_and_the_rest_dropped": "its page without a browser is in make test",
    "test_the_last_change_is_undone_in_the_drawer_over_any_page": "an undo in the history is in make test",
    "test_the_command_line_rates_and_tells_what_was_spent": "ratings and their price are in make test",
    "test_some_messages_of_a_long_talk_are_read_without_looking_at_the_others": "a talk of thousands of messages",
    "test_the_nearest_threshold_share_and_weight_are_found": "that every way recalls is in make test",
    "test_a_server_offers_to_curate_or_to_look_only_when_told_to": "servers that start one after the other",
    "test_it_is_told_on_the_command_line": "programs that start one after the other",
    "test_a_message_that_is_not_sent_is_there_when_one_comes_back_until_it_is_sent": "an open field is in it",
    "test_duplicates_and_contradictions_are_settled_and_undone": "their page without a browser is in make test",
    "test_a_query_of_a_game_is_lived_through_again": "its page without a browser is in make test",
    "test_the_graph_leads_from_a_reflection_to_its_evidence_and_back": "lineage without a browser is in make test",
    "test_a_spreadsheets_file_is_read_with_its_importance": "another file in a browser is in make test",
    "test_an_operation_is_previewed_refused_in_part_applied_and_undone": "a migration in a browser is in make test",
    "test_the_clock_is_played_at_a_speed_and_paused": "the clock without a browser is in make test",
    "test_a_memory_of_the_table_is_recalled_by_the_first_way_that_is_offered": "ways without one are in make test",
    "test_who_stops_listening_stores_nothing": "the same without a client is in make test",
    "test_a_killed_worker_leaves_changes_whole_and_is_started_again": "two workers that live are in make test",
    "test_two_workers_end_in_one_line_and_leave_nothing": "servers that end in one line are in make test",
    "test_processes_that_write_at_once_lose_nothing": "two that write in turns are in make test",
    "test_kills_while_it_is_repaired_lose_nothing": "a change and a query that are killed are in make test",
    "test_who_sends_a_byte_a_second_is_cut_off_and_everybody_else_is_served": "who gets in is in make test",
    "test_all_that_pass_end_with_0_and_one_that_fails_with_1": "programs that start one after the other",
    "test_the_check_finds_what_is_wrong_the_light_tells_it_and_it_is_repaired": "the doctor alone is in make test",
    "test_a_viewer_looks_at_everything_and_writes_nothing": "a viewer's page is in make test",
    "test_the_plugin_hands_a_test_the_world": "a run of pytest within pytest",
    "test_garbage_is_not_collected_after_each_run_wherever_it_is_started": "a server that starts to be asked once",
    "test_a_terminal_gets_a_drawn_table_in_which_strangers_steer_nothing": "a second program on a terminal",
    "test_a_clock_that_jumps_back_changes_neither_the_order_of_changes_nor_what_is_held": "a clock that jumps for days",
    "test_a_stdio_server_and_another_process_share_an_agent": "two processes are in make test",
    "test_a_server_that_hangs_ends_in_a_sentence_within_its_deadline": "a server that is down or dies is in make test",
    "test_a_strategy_can_be_changed_on_the_way": "each strategy is in make test",
    "test_nested_keys_are_followed_by_searching_and_no_answer_is_asked_for_twice": "an experiment, in small",
    "test_ten_thousand_turns_never_make_it_longer": "a talk of thousands of messages",
    "test_the_command_line_and_http_choose_too": "programs that start one after the other",
    "test_by_the_offline_rules_nobody_is_silent_for_more_than_a_round": "a talk of many turns",
    "test_what_was_forgotten_is_restored_from_the_bin_and_purged": "three clicks that bring one back are in it",
    "test_every_page_is_reached_by_links_and_says_which_of_its_place_it_is": "pages without a browser are in make test",
    "test_a_memory_is_pinned_edited_and_forgotten_and_nothing_stays_selected": "an edit and a forgetting are in it",
    "test_a_point_of_the_timeline_opens_its_card_and_its_link_survives": "a bar that opens its memory is in make test",
}
"""Single tests, each with the reason."""

FIRST = frozenset({"test_ready_made.py", "test_small_model.py", "test_kill_advance.py"})
"""Files with tests of a minute and more, which start before all others."""

COSTLY = frozenset({"agent", "world", "open_page", "api", "root", "remember"})
"""Fixtures that open an agent for each test: of the tests with one of them, one in six stays; the first test of each
file always stays, as does the first case of a test."""
_TESTS, _CASES = 6, 3

SERVERS = "test_running_servers.py"
"""Both servers against attackers: who gets in stays in ``make test``, and the first case of everything else."""


def mark(items: list[pytest.Item]) -> None:
    """Mark what is left to ``make test-all``."""
    seen: set[str] = set()
    for item in items:
        names = {item.path.name, f"{item.path.name} {_name(item)}"}
        if _left_to_all(item, first=not names <= seen, new=item.path.name not in seen):
            item.add_marker(pytest.mark.full)
        else:
            seen |= names


def _name(item: pytest.Item) -> str:
    return getattr(item, "originalname", None) or item.name


def _left_to_all(item: pytest.Item, *, first: bool, new: bool) -> bool:
    """Whether an item is left out; ``first``: no case of its test is in yet, ``new``: no test of its file."""
    name, cases = _name(item), getattr(item, "callspec", None)
    if item.path.name in WHOLE or name in LATER:
        return True
    if cases is not None and any(cases.params.get(fixture) == place for fixture, place in SECOND_PLACE.items()):
        return True
    costly = bool(COSTLY & set(getattr(item, "fixturenames", ())))
    if costly and not new and "browser" not in item.path.parts and zlib.crc32(name.encode()) % _TESTS:
        return True
    share = 1_000 if item.path.name == SERVERS else ONE_OF.get(name, _CASES)
    return not first and cases is not None and bool(zlib.crc32(item.name.encode()) % share)
