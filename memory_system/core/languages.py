"""The language of a text, from its script and its most common words; English if nothing points to another.

This does not use the libraries that guess languages: they are trained on paragraphs and often wrong about a memory of
six words, and an English one would then be stemmed by another language's rules. Here a text is in another language
only if it has more of that language's common words than of English ones. Recall uses the same words as stop words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain, groupby
from types import MappingProxyType

ENGLISH = "en"


def _marks() -> str:
    """All combining marks (Mn and Mc) as part of an ``re`` character class, without variation selectors."""
    letters = (range(0x300, 0x3400), range(0xA000, 0xAC00), range(0xFB00, 0xFE00), range(0xFE10, 0xFE30))
    found = [
        code for code in chain(*letters, range(0x10000, 0x1F000)) if unicodedata.category(chr(code)) in ("Mn", "Mc")
    ]
    runs = [[code for _, code in run] for _, run in groupby(enumerate(found), lambda pair: pair[1] - pair[0])]
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)


MARKS = _marks()
"""Vowel signs, viramas, nuktas, tones, points and separate accents, for use in an ``re`` character class."""
JOINERS = "\u200c\u200d"
"""Signs that join or separate their neighbours: part of a word where they are next to a mark, as in Indic words."""


def _marked(letter: str) -> str:
    return rf"[{JOINERS}]?[{MARKS}][{MARKS}{JOINERS}]*{letter}*"


def word_of(letter: str) -> str:
    """The pattern of a word with its marks and with what follows an apostrophe.

    What follows its letters is compared with all marks only if it can be one, so that English is read as fast as
    before.
    """
    return rf"{letter}+(?:(?![\0-&(-\u02ff])(?:['’]{letter}+|{_marked(letter)}))*"


def long_word(least: int, letter: str) -> str:
    """The pattern of a word of at least ``least`` letters and marks."""
    more = rf"(?:(?![\0-\u02ff]){_marked(letter)})*"
    return rf"(?:{letter}{{{least},}}|{letter}(?:{letter}|[{MARKS}]){{{least - 1},}}){more}"


WORD = re.compile(word_of(r"[^\W_]"))
"""A word, or a run of signs of a script without spaces."""

_SCRIPTS = (
    ("ja", re.compile(r"[\u3041-\u30ff\uff66-\uff9d]")),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")),
    ("ko", re.compile(r"[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")),
    ("ru", re.compile(r"[\u0400-\u052f]")),
    ("ar", re.compile(r"[\u0620-\u064a\u066e-\u06d3]")),
    ("el", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("he", re.compile(r"[\u05d0-\u05ea]")),
    ("th", re.compile(r"[\u0e01-\u0e3a\u0e40-\u0e4e]")),
    ("hi", re.compile(r"[\u0900-\u0963]")),
    ("ta", re.compile(r"[\u0b82-\u0bcd]")),
    ("hy", re.compile(r"[\u0531-\u0556\u0561-\u0587]")),
)
_ALONE = (
    ("bn", re.compile(r"[\u0980-\u09e3\u09f0\u09f1]")),
    ("pa", re.compile(r"[\u0a01-\u0a5e\u0a70-\u0a75]")),
    ("gu", re.compile(r"[\u0a81-\u0ae3\u0af9-\u0aff]")),
    ("or", re.compile(r"[\u0b01-\u0b63\u0b71]")),
    ("te", re.compile(r"[\u0c00-\u0c63]")),
    ("kn", re.compile(r"[\u0c80-\u0ce3\u0cf1-\u0cf3]")),
    ("ml", re.compile(r"[\u0d00-\u0d63\u0d7a-\u0d7f]")),
    ("si", re.compile(r"[\u0d81-\u0ddf\u0df2\u0df3]")),
    ("lo", re.compile(r"[\u0e81-\u0ecd\u0edc-\u0edf]")),
    ("bo", re.compile(r"[\u0f00\u0f40-\u0fbc]")),
    ("my", re.compile(r"[\u1000-\u103f\u1050-\u108f\ua9e0-\ua9ef\uaa60-\uaa7f]")),
    ("ka", re.compile(r"[\u10a0-\u10ff\u1c90-\u1cbf\u2d00-\u2d2d]")),
    ("am", re.compile(r"[\u1200-\u135f\u1380-\u138f\u2d80-\u2dde\uab01-\uab2e]")),
    ("km", re.compile(r"[\u1780-\u17d3\u17d7\u17dc]")),
)
"""Scripts that identify a language about which nothing more is known."""
BY_SCRIPT = frozenset(name for name, _ in _ALONE)
"""The languages that are known by their script alone: they have neither common words here nor a stemmer."""
_OF_THESE = re.compile(r"[\u0980-\u0fff\u1000-\u1cbf\u2d00-\u2dde\ua9e0-\uab2e]")
_SYLLABIC = {"ja", "zh", "ko"}
_A_SYLLABLE = 3
"""Latin letters that one sign of these scripts counts for."""
_UKRAINIAN = re.compile(r"[іїєґ]", re.IGNORECASE)
_PERSIAN = re.compile(r"[\u067e\u0686\u0698\u06af\u06cc\u06a9]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")

_COMMON = {
    "en": """
a an the and or but if so as at by for from in into of off on onto out over to up with without i me my mine you your
yours he him his she her hers it its we us our ours they them their theirs this that these those who whom whose which
what when where why how is am are was were be been being has have had do does did will would shall should can could
may might must not no yes yeah hey hi hello wow oh thanks thank great good nice cool awesome there here then than too
also just very really now all some any more most much many one two about after again always because before between
both down during each even every few first get go going got know let like look make new old only other own people same
see since still such take tell them though through time under until while well want way year day back think come said
asked went made told saw found gave left i'm i've i'll i'd it's that's don't didn't isn't can't you're we're they're
""",
    "de": """
aber als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den denn der des die dich dir doch du
durch ein eine einem einen einer eines er es euch euer für gegen hab habe haben hat hatte hatten hinter ich ihm ihn
ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jeder jetzt kann kein keine keinen können man mein meine meinem
meinen mich mir mit muss nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie
sind so soll über um und uns unser unsere unter vom von vor war waren warum was wegen weil welche welcher welches wenn
wer werden wem wen wie wieder will wir wird wo wurde wurden wann zu zum zur zwischen
""",
    "fr": """
à ai as au aux avec avait avaient avant ce ces cette chez ci comme comment dans de depuis des donc du elle elles en est
et était étaient été être eu il ils je la le les leur leurs lui ma mais me mes moi mon ne nos notre nous on ont ou où
par parce pas pendant plus pour pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se ses si son sont
sous sur ta te tes toi ton tous tout toute très tu un une vos votre vous y j'ai c'est n'est d'un d'une qu'il qu'elle
""",
    "es": """
a al antes aunque con contra cómo como cual cuál cuando cuándo de del desde donde dónde durante e el él ella ellas
ellos en entre era eran es esa ese eso esta está están este esto estos estaba fue fueron ha había hace hasta hay he la
las le les lo los más me mi mis mucho muy nada ni no nos nosotros nuestra nuestro o para pero por porque pues que qué
quien quién se ser si sí sin sobre son su sus también te tiene todo todos tu tus un una uno unos y ya yo
""",
    "it": """
a ad ai al alla alle anche ancora avere aveva c'è che chi ci come con così cosa cui da dai dal dalla de degli dei del
della delle dello di dopo dove e è ed era erano fa fu gli ha hai hanno ho i il in io la le lei lo loro lui ma mi mia
mio molto ne nei nel nella nelle no noi non nostra nostro o per perché più poi prima qual quale quali quando quanto
quella quello questa questo qui se sei si sia siamo sono sta stata stato su sua sue sui sul sulla suo ti tra tu tutti
tutto un una uno vi voi l'ha dell' all'
""",
    "pt": """
a à ao aos após as às até com como da das de dela dele depois desde do dos e é ela elas ele eles em embora entre era
eram essa esse esta está este eu foi foram há isso isto já lhe mais mas me meu meus minha muito na não nas nem no nos
nós nossa nosso o os onde ou para pela pelo por porque quais qual quando que quem se sem ser seu seus sim só sobre sua
suas também tem tinha tudo um uma você
""",
    "nl": """
aan achter al als altijd bij daar dan dat de deze die dit doen door dus een en er had hadden heb hebben heeft hem het
hier hij hoe hun ik in is je jij jou jouw kan kon maar me meer men met mij mijn na naar niet niets nog nu of om omdat
onder ons onze ook op over te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we wel
welke werd wie wij wil worden wordt zal ze zei zich zij zijn zo zonder zou
""",
    "sv": """
alla att av bara blev bli både de dem den denna det detta dig din du där efter ej eller en ett från för ha hade han hans
har henne hennes hon hur här i icke inte jag kan kunde man med mellan men mig min mitt mot mycket ni nu när något och
om oss på sedan sig sin sina sitt ska skulle som så till under upp ut utan vad var varför varit vem vi vid vilken är
""",
    "no": """
alle at av bare ble bli de dem den denne det dette deg din du der eller en er et etter fra for ha hadde han hans har
henne hennes hun hva hvem hvor hvorfor hvordan når her i ikke jeg kan kunne man med mellom men meg min mitt mot mye nå
noe og også om opp oss over på seg sin sitt skal skulle som så til under ut uten var ved vi være vært å
""",
    "da": """
af alle at blev blive de dem den denne der det dette dig din du efter eller en er et fra for før ha havde han hans har
hende hendes hun hvad hvem hvor hvorfor hvordan hvornår når her i ikke jeg kan kunne man med mellem men mig min mit
mod meget nu noget og også om op os over på sig sin sit skal skulle som så til under ud uden var ved vi være været
""",
    "fi": """
ei eivät en ennen ettei että hän häntä he heidän hänen ja jo joka jos jossa kanssa kun kuka kuin koska me mikä minä
minun minut missä mitä mutta myös ne niin nyt oli olivat olen on ovat sai se sekä sen siellä siitä sinä sitten tai tämä
tässä vain vaikka vielä voi milloin miksi
""",
    "pl": """
a ale bardzo bez był była było były być co czy dla do dlaczego gdy gdzie go i ich ja jak jako jego jej jest jeszcze już
kiedy która które który kto ma mam mi mnie moja może mój mu na nad nas nie nim o od on ona oni pod po przed przez przy
są się ta tak także tam te tego tej ten to tu ty tylko w we więc z za ze że
""",
    "cs": """
a aby ale asi bude bych byl byla bylo byli být co jak jako jeho její jejich jen ještě jsem jsi jsme jsou k kam kde kdo
kdy když která které který má mi mě mezi můj na nad ne nebo není o od on ona oni pod po pro proč protože před při s se
si svou ta tak také tam ten to tu u už v ve však z za ze že
""",
    "tr": """
acaba ama ancak ben bana beni benim bir biz bize bizim bu bunu çok çünkü da daha de değil diye en gibi hem hep her hiç
için ile ise kadar ki kim mı mi mu mü nasıl ne neden nerede ne zaman o olan olarak oldu onlar onu onun sana sen senin
siz sonra şey şu var ve veya ya yok artık bugün bunun bütün dedi dün etti evet geldi gitti göre hayır önce şimdi
vardı yarın yine yoktu
""",
    "ro": """
a acea această acest acum ai al ale am ar are au avea ca că care când ce cel cei cine cu cum da dar de deci din după ea
ei el ele era eram este eu fi fost iar în între îi își la le lui mai mea meu mi nici nu o pe pentru prin sa să sau se
si și sunt te tu un unde una unei unui va vă voi
""",
    "hu": """
a az és hogy nem is ez azt egy de ha csak már még meg volt voltak van vannak mint vagy el ki be le fel én te ő mi ti ők
engem neki nekem ezt ami aki ahol mert miért mikor hol ezért nagyon minden után alatt
""",
    "ru": """
а без более бы был была были было быть в вам вас ведь весь во вот все всё всех вы где да даже для до его её ее если есть
ещё еще же за здесь и из или им их к как какая какие какой когда ко кого кто ли меня мне мной мой моя мои мы на над нам
нас наш не него неё нее нет ни них но о об он она они оно от очень перед по под после потому почему при про с сам свой
своя своё свои себя со так также там тебя то того тоже той только том тот ты у уже чего чем что чтобы чья эта эти это
этого этой этот я
""",
    "uk": """
а але без був була було були бути в вам вас ви він вона вони воно все всі де для до є його її ж за з і із їх й як яка
які який коли кого хто мене мені мій моя ми на над нам нас наш не ні о об от перед по під після тому чому при про
сам свій своя себе та так також там те то тебе ти тільки у вже чи що щоб ця це цей цього я
""",
    "ar": """
من في على إلى عن أن إن أو ثم لا لم لن ما هذا هذه ذلك تلك هو هي هم هن أنا أنت نحن كان كانت قد كل بعد قبل عند مع التي
الذي الذين و أين متى كيف لماذا هل ماذا
""",
    "el": """
ο η το οι τα του της των τον την και ή αλλά να θα δεν μη με σε για από ως που πού ποιος ποια τι πότε γιατί πώς είναι
ήταν έχει είχε εγώ εσύ αυτός αυτή αυτό μου σου στο στη στην στον στα ένα ένας μια
""",
}
COMMON: Mapping[str, frozenset[str]] = MappingProxyType(
    {name: frozenset(words.split()) for name, words in _COMMON.items()}
)
"""The words of a language that occur in any text, in lower case, by the language."""

_LOANS = """
a e o i y u de da di do la le las los el al del en es et me te se si no ne on un van von der den als os em na mi man
also was will war am an in is so over under had dan men her hem vi at for il ha ma mais ja je tu bin die par pour plus
son sur tout que fur san santa re voi fi ki be ti ez fel
"""
_WEAK = frozenset(_LOANS.split())
"""Words that also occur in names and loans, or in several languages: half a sign each."""


_BITS = 16
"""Bits for the votes, in halves, of one language in a number that holds all of them: a text has 500 words at most."""


class _Votes(dict[str, int]):
    """The votes of a word for all languages, in one number, so that those of a text are the sum of its words'."""

    def __missing__(self, word: str) -> int:
        """Of a word with an apostrophe, the part after it counts: "l'acqua" is Italian as "acqua" would be."""
        return self.get(word.rpartition("'")[2], 0)


def _votes() -> _Votes:
    found = _Votes()
    for place, (language, common) in enumerate(COMMON.items()):
        for word in common:
            halves = 1 if word in _WEAK and language != ENGLISH else 2
            found[word] = found.get(word, 0) + (halves << _BITS * place)
    return found


_VOTES = _votes()
_LANGUAGES = tuple(COMMON)
_OF_ENGLISH = 1 << _BITS
"""English comes first: a sum below this is of English words alone."""
_SHIFTS = tuple(range(0, _BITS * len(_LANGUAGES), _BITS))
_MOST_READ = 1000
"""Characters of a text that are read."""
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|https?://\S+")
"""Markup for programs: its Latin letters count for no language."""

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "am": "Amharic", "ar": "Arabic", "bn": "Bengali", "bo": "Tibetan", "cs": "Czech", "da": "Danish",
        "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fa": "Persian", "fi": "Finnish",
        "fr": "French", "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian", "hy": "Armenian",
        "it": "Italian", "ja": "Japanese", "ka": "Georgian", "km": "Khmer", "kn": "Kannada", "ko": "Korean",
        "lo": "Lao", "ml": "Malayalam", "my": "Burmese", "nl": "Dutch", "no": "Norwegian", "or": "Odia",
        "pa": "Punjabi", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
        "si": "Sinhala", "sv": "Swedish", "ta": "Tamil", "te": "Telugu", "th": "Thai", "tr": "Turkish",
        "uk": "Ukrainian", "zh": "Chinese",
    }
)  # fmt: skip
"""The English name of each language that ``language_of`` can return, by its ISO 639-1 code."""


def same_words(text: str) -> str:
    """A text in the form in which it is compared with others: without regard to case and white space."""
    return " ".join(text.casefold().split())


def language_of(text: str) -> str:
    """The language of a text as its ISO 639-1 code, such as ``de``; ``en`` if nothing points to another.

    Its first 1,000 characters are read, without HTML tags and addresses. A text in two languages counts as the one that
    it has more of.
    """
    head = text[:_MOST_READ]
    if "<" in head or "://" in head:
        head = _MARKUP.sub(" ", head)
    if not head.isascii():
        head = unicodedata.normalize("NFC", head)
        if script := _script(head):
            return script
    votes = sum(map(_VOTES.__getitem__, WORD.findall(head.lower().replace("’", "'"))))
    if votes < _OF_ENGLISH:
        return ENGLISH
    counts = [votes >> shift & 0xFFFF for shift in _SHIFTS]
    most = max(counts)
    if most < 2 or (counts[0] == most and head.isascii()):  # English wins a tie, unless there are accents
        return ENGLISH
    return _LANGUAGES[counts.index(most, counts[1:].count(most) > 0)]


def rules_of(text: str) -> str:
    """The language whose rules apply to the words of a text: its own, or English where only its script is known."""
    language = language_of(text)
    return ENGLISH if language in BY_SCRIPT else language


def _script(text: str) -> str:
    """The language that the script implies; empty if most is in Latin letters or a script not listed."""
    counts = {name: len(signs.findall(text)) * (_A_SYLLABLE if name in _SYLLABIC else 1) for name, signs in _SCRIPTS}
    if _OF_THESE.search(text):
        counts |= {name: len(signs.findall(text)) for name, signs in _ALONE}
    if counts["ja"]:  # Japanese also uses Chinese signs; Chinese does not use these
        counts["ja"] += counts.pop("zh")
    best = max(counts, key=lambda name: counts[name])
    if counts[best] <= len(_LATIN.findall(text)):
        return ""
    if best == "ru" and _UKRAINIAN.search(text):
        return "uk"
    return "fa" if best == "ar" and _PERSIAN.search(text) else best


def languages_of(texts: Iterable[str]) -> dict[str, int]:
    """How many of the texts are in each language, the most common first."""
    return dict(Counter(map(language_of, texts)).most_common())
