"""The words of the pages that tests name too: a sentence that is changed here is changed for both.

A sentence that at most one test names is kept where it is shown; ``tests/house/test_words.py`` says when it moves here.
"""

# bulk.py
SET_IMPORTANCE = "Set importance"
PIN_PROTECT_OR_MARK = "Pin, protect or mark"
TAKE_BY_A_PERSON_OFF = "Take “by a person” off"

# bars.py
BY_THEIR_SCORES = "Memories by their scores"
SEATS_END_HERE = "seats end here"

# card.py
WHO_TOLD_WHOM = "Who told whom"

# cast.py
CHARACTERS = "New, copy, rename, delete"

# character_settings.py
TUNE_CHARACTER = "Tune this character to its labels"
TUNE_CAST = "Tune the whole cast to the labels of all"
SHORT_TERM_SIZE = "Size of short-term memory"
MIGRATE_BY_ITSELF = "Overflow migrates by itself"
STATIC_THRESHOLD = "Static threshold"
WEIGHT_OF_RECENCY = "Weight of recency"
WEIGHT_OF_IMPORTANCE = "Weight of importance"
WEIGHT_OF_RELEVANCY = "Weight of relevancy"
SCALE_EACH_PART = "Scale each part by its min and max"
DAYS_IN_THE_BIN = "Days in the bin"
DECAY_BY = "Decay by"
DECAY_HELP = (
    "Exponential: the same share is lost each hour. Power: fast at first, then ever more slowly. "
    "Spaced: each recall makes forgetting slower. All three have half of recency left at the same age."
)
SEATS_BY = "Seats by"
ADDRESSED = "Somebody says it to the character"
INSTANCES = "Instances asked too"
ASKED_TOO = "Asked too:"
SEATS_HELP = (
    "Ranking: the best of all tiers, on one scale; a conversation's synopsis takes no seat where one of its turns "
    "passes, and memories in the same words take one. Cascade: static, short-term, long-term, while seats are free."
)
RELEVANCY_HELP = (
    "Similarity and cosine compare meanings as wholes, by the squared and by the cosine distance of the vectors. "
    "Hybrid also compares words, names, times and neighbours."
)
THRESHOLD_IS_OF = "Threshold of the"
THRESHOLD_HELP = "Confidence: the chance that a memory answers, by hybrid relevancy. Score: all parts together."

# comparing.py
SAVED_CUES = "Saved cues"

# conversation_form.py
THE_CONVERSATION = "The conversation"
REMEMBER_IT = "Remember it"

# exporting.py
EXPORT = "Export"

# happening_form.py
WHO_SAW_IT = "Who saw it"
TELL_THEM = "Tell them"

# drafts.py
SELECT_ALL = "Select all"

# embedder_settings.py
EMBEDDER = "Embedder"
USE_THIS_EMBEDDER = "Use this embedder"
RE_EMBED_ALL = "Re-embed all characters"

# forms.py
MARK_IT_AS = "Mark it as"
PASTE_LINES = "Paste lines, JSON, JSONL or CSV"
RATE_AGAIN = "Rate again"
WHAT_HAPPENED = "What happened"
WRITE_IT_FIRST = "Write what happened first."
DATES_HAVE = "Dates such as 03/04/2026 have"
REMEMBER_THESE = "Remember these"
SAVE_CHANGES = "Save changes"
EDIT_THIS_MEMORY = "Edit this memory"

# material.py
BRING_A_FILE = "Import a file from another program"
STILL_BROUGHT = "Still here from before"
LEAVE_OUT_FILE = "Leave it out"
TAKE_IT_IN = "Import it"
PREVIEW_THE_IMPORT = "Preview the import"
DOWNLOAD_LEFT_OUT = "Download what is left out"
READ_BY_MODEL = "Let the language model turn it into memories"
PROSE_WITHOUT_MODEL = "Each sentence becomes a memory. A language model, where one is set, can read the chapter."

# head.py
CHARACTER = "Character"
NEW_CHARACTER = "New character"
WORLD_TIME = "World time"

# history_tables.py
DERIVE_AGAIN = "Derive again"
KEEP_AS_IT_IS = "Keep as it is"

# history_undo.py
DONE_AGAIN = "Done again"

# inbox
ACCEPT = "Accept"
LATER = "Later"
UNTIL_TOMORROW = "Until tomorrow morning"
FOR_A_WEEK = "For a week"
UNTIL_IT_CHANGES = "Until something changes"
ASK_AGAIN_NOW = "Ask again now"
EVERYBODY = "Everybody"
NOTHING_WAITS = "Nothing waits."
OPEN_THE_INBOX = "Open the inbox"

# known_settings.py, comparing.py
WORLD_KNOWS = "What the world knows"
WHAT_IS_KNOWN = "What is known"
LET_THEM_KNOW = "Let them know"
GROUP = "Group"
MEMBERS = "Members"
SAVE_THE_GROUP = "Save the group"

# life.py
ADVANCE_A_DAY = "Advance a day"
PLAY_THE_CLOCK = "Play"
PAUSE_THE_CLOCK = "Pause"

# looking_back.py
LOOK_AT_THE_PAST = "Look at the past"
BACK_TO_NOW = "Back to now"
ONE_CHANGE_LATER = "One change later"
MOMENT_BEFORE = "Look at the moment before"
MOMENT_AFTER = "Look at the moment after"

# model_settings.py
TEST_THE_LANGUAGE_MODEL = "Test the language model"
SAVE_AND_USE = "Save and use"

# prompt_settings.py
RESTORE_THE_SHIPPED_TEXT = "Restore the shipped text"

# operations.py
LOOK_UP = "Look up"
WHAT_TO_DO = "Operation or lookup"
APPLY_TO_ALL = "Apply to all"
WHAT_CHANGES_FOR = "What changes for"

# recent.py
NOTHING_HAS_HAPPENED = "Nothing has happened yet."

# recall_compare.py
BLIND_TEST = "Blind test"
WHO_IS_AHEAD = "Who is ahead?"
CHOOSE_TWO = "Choose two different presets to test them blind."
OVER_A_TALK = "Test two presets blind over a talk"

# over_talk.py
OVER_THIS_TALK = "Test two presets blind over this talk"
ONE_CUE = "Back to one cue"
NO_TALK_YET = "No talk yet."
LINES_OF_YOUR_OWN = "Lines of your own"
BOTH_RECALL_THE_SAME = "Both recall the same, so there is nothing to judge on this line."
PREVIOUS_LINE = "Previous line"
NEXT_LINE = "Next line"
NEXT_WITHOUT_THUMBS = "Next unjudged"
TOO_FEW_LINES = "too few to say which is better"
ENOUGH_IS_JUDGED = "Enough has been judged to say which is better."

# recall_controls.py
TOP_K = "Top-k: most memories to recall"
THRESHOLD = "Threshold to exceed"
RECENCY_KEPT = "Recency kept per hour (decay k)"
HAPPENED_FROM = "Happened from"
HAPPENED_UNTIL = "Happened until"
NOT_RECALLED = "Not recalled"
CHANGE_THE_QUERY = "Change the query"
DECAY_AND_TIME = "Decay, relevancy, static memory and time"
ONLY_MEMORIES_OF = "Filter by kind, tag, time, importance or words"

# recall_cues.py
NO_CUE_IS_SAVED_YET = "No saved cues yet."
SAVE_THE_CUE = "Save the cue"

# recall_forgotten.py
WOULD_HAVE_BEEN_RECALLED = "would have been recalled."
RESTORE_THEM = "Restore"

# recall_narrative.py
TELL_IT_AS_A_NARRATIVE = "Tell it as a narrative"

# recall_why.py
CLOSE_THIS_MEMORY = "Close this memory"
WHAT_WOULD_RECALL_IT = "What would recall it"

# rehearsing.py
WHAT_TO_TRY = "What do you want to try?"
REHEARSAL_OF = "Rehearsal of"
STAYS_AS_BEFORE = "stays as before until you keep something."
BACK_TO = "Back to"
REHEARSE_WITH = "Rehearse with"

# safekeeping.py
ALL_IS_WELL = "All is well."
CHECK_EVERYTHING = "Check everything"
REPAIR_WHAT_IS_WRONG = "Repair what is wrong"
NOTHING_IS_WRONG = "Nothing is wrong."
MAKE_A_BACKUP = "Make a backup"
RESTORED_WORLD_OF = "Restored: the world of"
RESTORE_IT = "Restore it"
WORLD_AS_IT_WAS = "The world is back to its state of"
PUT_BACK = "Put back"

# palette.py
SEARCH_OR_DO = "Search or do …"

# stale.py
RESTS_ON_WHAT_CHANGED = "What this rests on has changed since."

# suspects.py
BOTH_ARE_RIGHT = "Both are right"
KEEP_THIS_ONE = "Keep this one"

# talk_ablation.py
PERSONA_BLOCK = "Core block: persona"
ASK_AGAIN_WITHOUT_THEM = "Ask again without them"
WITH_EVERYTHING = "With everything"

# talk_tables.py, talk_figures.py
CAME_TO_MIND = "came to mind"

# talk_duet.py
LET_THEM_TALK = "Let them talk"
UNDO_ALL = "Undo all"

# talk_inspector.py
CORE_MEMORY = "Core memory"

# talk_leaving.py
LEAVE_AND_REMEMBER = "Leave and remember it"

# talk_play.py
BEGIN_ANOTHER = "Begin another …"
YOUR_NAME = "Your name"

# talk_room.py
START_OVER = "Start over"

# talk_state.py
TALK_IS_GONE = "The talk in the link does not exist here; showing another one."
WITHOUT_A_TRACE = "Asks without leaving a trace"

# talk_whisper.py
THE_THOUGHT = "The thought"

# pages/history/history.py
NO_CHANGE_IS_LIKE_THIS = "No matching changes."
STILL_TO_COME = "This change came after the moment you are looking at, so the table does not list it."

# pages/interview/interview.py
HEARTBEAT = "Speaks unprompted after … minutes"
REFLECT_ON_THEM = "Reflect on them"
SET_TRUST = "Set this trust"
TRUST_HAS_NOT_CHANGED = "Trust has not changed yet."
MUTE_AND_ASK_AGAIN = "Mute and ask again"

# pages/personality/personality.py
BRING_BOTH_TOGETHER = "Merge both"
RESTORE_MY_TEXT = "Restore my text"
LEAVE_THE_FILE_OUT = "Leave the file out"
EDIT_AS = "Edit as"
PERSONALITY_JSON = "Personality JSON"
LOAD_AGAIN = "Load again"

# pages/recall/recall.py
AS_CODE = "As code"
CONTEXT_TEXT = "Context text"
COMPARE_PRESETS = "Compare presets"

# pages/rehearsal/rehearsal.py
CHANGE_BY_CHANGE = "Change by change"
KEEP_IN = "Keep in"
KEPT_IN = "Kept in"

# pages/relive/relive.py
REBUILT_EXACTLY = "Rebuilt exactly as it was answered"
SCORES_THEN_AND_NOW = "Scores then and now"

# pages/short_term/short_term.py
MANY_EVENTS = "Many events"
SHARED_EVENT = "Shared"
A_CONVERSATION = "A conversation"
A_FILE = "A file"

# pages/tidy/tidy.py
NEEDS_A_LANGUAGE_MODEL = "Needs a language model"
CHOOSE_A_LANGUAGE_MODEL = "Choose a language model"

# widgets.py
A_VIEWER = "You are here as a viewer"

# standing.py
DEMO = "This is a demo: look at everything and ask everything; nothing can be changed."
INSTALL_IT = "Install it to change things"

# world_time.py
SET_THE_CLOCK = "Set the clock"
THE_CLOCK = "The clock"
TIME_ZONE = "Time zone"
ANSWER_AGAIN = "Answer again"
NO_TIME_ZONE = "None: a fixed distance from UTC"
FOLLOWS_THE_REAL_TIME = "follows the real time"

# evening.py
ASK_ANYTHING = "Ask anything"
ASK_ALL = "Ask all"

# memory: the Memory page
ASK_OR_FILTER = "Ask or filter"
RECALLED = "Recalled"

# new_character: the page New character
IN_A_PARAGRAPH = "In a paragraph"
OR_A_FILE = "Or a file of at most"
PASTE_A_LIFE = "Lines, or a table from a spreadsheet"
MEND_LINE = "Line"
TRY_A_CUE = "A first cue"
CREATE_IT = "Create"

# showing: the tour and presenter mode
TAKE_THE_TOUR = "Take the tour"
PRESENTER_MODE = "Presenter mode"
NEXT = "Next"
FINISH = "Finish"
UNDO_IT = "Undo it"
CHANGED_IN_THE_TOUR = "Changed, and written in the history as one change. The next step undoes it."
AS_IT_WAS = "Undone: everything is as it was, and the history says so."

# worlds, and the pages that notice that another one is open
ANOTHER_WORLD = "Another world was opened here. This page showed"
NOT_SAVED_THERE = "What had not been saved there was not saved."
SHOW_IT = "Show it"
WHICH_WORLD = "World"
NEW_WORLD_NAME = "Name of the new world"
OTHER_NAME = "Another name"
CREATE_WORLD = "Create the world"
SWITCH_TO_IT = "Switch to it"
BRANCH_IT = "Branch"
RENAME_IT = "Rename"
DELETE_IT = "Delete it"
COMPARE_WITH = "Compare with"

# who_knows
A_FACT = "A fact"
ASK_EVERYBODY = "Ask everybody"
OPEN_MEMORY = "Open the memory"
ASK_BOTH_FIRST = "Neither has been asked yet."
NOBODY_ELSE = "There is nobody to compare with."
NOBODY_TRUSTS = "Nobody knows anybody yet."
OPEN_CHARACTER = "Open the character"
EVERYBODY = "Everybody"
CHOOSE_CLUSTERS = "Clusters to change together"
NOBODY_KNOWS = "Nobody knows of it at this time."
SAY_SO = "Correct it"
KEEP_AS_TEST = "Keep as a world test"
RUN_TESTS = "Run them"
PASSED = "passed"
RED = "red"
UNDO_THIS = "Undo this"
TRY_SEVERAL = "Try several on the recall bench"
