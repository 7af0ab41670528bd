"""How likely a text is: the letters of languages, and how often they occur."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from math import log

ALPHABETS = {  # letters beyond a to z
    "English": "éïöêèç",
    "German": "äöüß",
    "French": "àâæçèéêëîïôœùûüÿ",
    "Spanish": "áéíñóúü",
    "Portuguese": "àáâãçéêíóôõú",
    "Italian": "àèéìòù",
    "Dutch": "áéëïóöüè",
    "Danish": "æøåé",
    "Swedish": "äåöé",
    "Icelandic": "áæéíðóöúýþ",
    "Finnish": "äöåšž",
    "Polish": "ąćęłńóśźż",
    "Czech": "áčďéěíňóřšťúůýž",
    "Slovak": "áäčďéíĺľňóôŕšťúýž",
    "Hungarian": "áéíóöőúüű",
    "Romanian": "ăâîșțşţ",
    "Croatian": "čćđšž",
    "Turkish": "çğıöşüâîİ",
    "Lithuanian": "ąčęėįšųūž",
    "Latvian": "āčēģīķļņšūž",
    "Estonian": "äõöüšž",
}
RARER = ("Icelandic", "Slovak", "Estonian", "Latvian", "Lithuanian", "Croatian")
RARE = 3.0
REPEATS = 2  # a letter that occurs more often is no more evidence
FREQUENCIES = {  # letters with their share in percent, of scripts with one case or more
    "cyrillic": "о11 еаи8 нт6.5 срвл4.8 кмдпу3 яыьгзб1.8 чйхжш1 юцщэф0.4 іїєў0.3 ёъґ0.05",
    "greek": "α9 οιετςσν7 ηυρπκμλω4 δγχθφάίέόή2 βξζψύώ0.8 ϊϋΐΰ0.05",
    "arabic": "ا13 ل11 يمون6.5 رتب4.8 هةعدسف3.2 كقحجأ2.3 شصطخ1.3 ىضإذثزءغ0.8 ئؤآظ0.3",
    "hebrew": "י11 והל8.5 אמתרשב5.5 נ3.5 חדקעפטכםגצ2.3 סזןךףץ0.9",
    "thai": "านรกเงอ5 มวลดทสย3.5 ัี่้ิ4.5 ตปหแคบไข2 ์ุะำืชพโจใูซผถ1.2 ธณภศษฟฝญฉๆึ็๊๋0.4",
}
SHARES = {
    letter: log(float(share) / 100)
    for groups in FREQUENCIES.values()
    for letters, share in re.findall(r"([^\d .]+)([\d.]+)", groups)
    for letter in letters
}
HAN = (
    "的一是不了在人有我他这個大来上国國中和地到以说說时時要就出会會可也你对對生能而子那得于着下自之年过過发發后後作里用道行所然家种種"
    "事成方多经經么去法学學如都同现現当當没動动面起看定天分还還进進好小部其些主样樣理心本前开開但因只从從想实實日月公司市省区區"
    "县縣州北京上海广東东西南江山河湖安平新高金王李张張刘陳陈林路号號名称稱价價格數数量单單位商品产產口街町村郡府田川島岡崎木野原"
)
HANGUL = (
    "이다는에의가을로고하지사은기한어리대도서시자나를수인스일"
    "그아정부구주제장전해동원상국공미김박최강남북산선경광"
)
QUOTES = "’‘“”„«»–—…°"
SYMBOLS = "§£€±²³µ·•½¼¾×÷©®™¿¡ºª№\u00a0、。「」（）・"
FINALS = "ςךםןףץ"  # only at the end of a word
WORD = re.compile(r"[^\x00-&(-,./:-@\[-`{-\x7f]+")
RANGES = (
    ("latin", 0x41, 0x24F),
    ("greek", 0x370, 0x3FF),
    ("cyrillic", 0x400, 0x4FF),
    ("hebrew", 0x5D0, 0x5EA),
    ("arabic", 0x621, 0x6D2),
    ("thai", 0xE01, 0xE5B),
    ("kana", 0x3041, 0x30FF),
    ("han", 0x4E00, 0x9FFF),
    ("hangul", 0xAC00, 0xD7A3),
    ("narrow kana", 0xFF66, 0xFF9F),
)
PLAIN = {"kana": -4.7, "narrow kana": -7.0}
COMMON_ROWS = {
    "gb18030": (0xB0, 0xD7),
    "big5": (0xA4, 0xC6),
    "shift_jis": (0x88, 0x97),
    "euc_jp": (0xB0, 0xCF),
}
FOREIGN, STRANGE, IMPOSSIBLE = -5.0, -10.0, -40.0


def likelihood(words: list[str], encoding: str) -> float:
    """Return the logarithm of how likely words are in the best language; higher is likelier.

    Args:
        words: words with letters beyond ASCII.
        encoding: the encoding in which they were decoded; it tells common from rare Chinese characters.
    """
    common = sum(_word(word, encoding) for word in words)
    latin = Counter(
        sign.lower() for word in words for sign in word if sign > "\x7f" and script(sign) == "latin"
    )
    best = max(
        sum(FOREIGN * min(count, REPEATS) for sign, count in latin.items() if sign not in letters)
        - RARE * (language in RARER and bool(latin))
        for language, letters in ALPHABETS.items()
    )
    return common + best - 3.0 * latin.total()


@lru_cache(maxsize=20_000)
def script(sign: str) -> str:
    """Return the script of a letter; empty for all other characters."""
    if not unicodedata.category(sign).startswith(("L", "M")):
        return ""
    return next((name for name, first, last in RANGES if first <= ord(sign) <= last), "other")


def _word(word: str, encoding: str) -> float:
    score = sum(_sign(sign, encoding) for sign in word if sign > "\x7f")
    scripts = {found for sign in word if (found := script(sign))}
    foreign = scripts - {"kana", "narrow kana"} if "han" in scripts else scripts
    score -= 8 * max(0, len(foreign) - 1)
    if scripts & {"latin", "greek", "cyrillic"}:
        score += _case(word)
    letters = [sign for sign in word if script(sign)]
    accents = sum(sign > "\x7f" and script(sign) == "latin" for sign in letters)
    score -= 4 * max(0, accents - max(1, len(letters) // 2))
    score -= 2 * (len(letters) == 1 and letters[0] > "\x7f" and script(letters[0]) not in ("han", "kana"))
    score += sum(_pair(one, two) for one, two in pairwise(word))
    return score - 6 * unicodedata.category(word[0]).startswith("M")


def _pair(one: str, two: str) -> float:
    """Return a penalty for two characters that do not stand next to each other in words."""
    if one.isascii() and two.isascii():
        return 0.0
    if one in FINALS and script(two):
        return -4.0
    if (one.isdigit() and script(two) and two > "\x7f") or (two.isdigit() and script(one) and one > "\x7f"):
        return -2.0
    is_symbol = (bool(script(one)) and two in SYMBOLS) or (one in SYMBOLS and bool(script(two)))
    return -4.0 if is_symbol else 0.0


def _case(word: str) -> float:
    """Return a penalty for upper-case letters after lower-case ones, and for words of capitals."""
    pairs = pairwise(word)
    turns = sum(one.islower() and two.isupper() and (one > "\x7f" or two > "\x7f") for one, two in pairs)
    ends = len(word) > 2 and word[:2].isupper() and word[-1].islower() and max(word[:2]) > "\x7f"
    return -5.0 * (turns + ends) - 1.5 * (word.isupper() and not word.isascii())


@lru_cache(maxsize=50_000)
def _sign(sign: str, encoding: str) -> float:
    of = script(sign)
    if of in ("han", "hangul"):
        return _character(sign, of, encoding)
    if of == "latin":
        return 0.0  # `likelihood` knows the language
    if of in FREQUENCIES:
        return SHARES.get(sign.lower(), -8.0)
    if of:
        return PLAIN.get(of, STRANGE)
    is_none = unicodedata.category(sign) in ("Cc", "Cn", "Co", "Cs")
    known = {QUOTES: -1.8, SYMBOLS: -3.0}
    return next(
        (score for signs, score in known.items() if sign in signs), IMPOSSIBLE if is_none else STRANGE
    )


def _character(sign: str, of: str, encoding: str) -> float:
    """Return how likely a Chinese character or a Korean syllable is."""
    if sign in HAN or sign in HANGUL:
        return -5.5
    if of == "hangul":
        return -7.5
    first, last = COMMON_ROWS.get(encoding, (0xB0, 0xD7))
    return -8.5 if first <= sign.encode(encoding, "replace")[0] <= last else -13.0
