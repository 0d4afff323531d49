"""Words of everyday assistant talk: stems, and the concepts that they stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

_TOKEN = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_COMPOUND = re.compile(r"[a-z]+-[a-z]+")
_SUFFIXES = ("ations", "ation", "ingly", "ings", "ing", "edly", "ied", "ies", "ed", "es", "ly", "s")

_STOP_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing don down during each either etc few for from further
    had has have having he her here hers him his how i if in into is it its just let like may me might
    mine more most much must my need next no not now of off ok okay on once one only onto or other our
    out over own per please quick quite rather really same shall she should so some something such than
    that the their them then there these they thing things this those through to too two under until up
    us very want was way we well were what when whenever where whether which while who whom whose why
    will with would yes you your yours able always generally usually typically normally default future
    forward going general ever never every specific certain certainly automatically prefer preferred
    preference prefers handle question standing rule plan know help make sure get got take go goes lets
    d ll m re s t ve e g i.e""".split()
)

SITUATIONS: Mapping[str, str] = {
    "flight": "flight fly flying plane airline airplane airport airfare aisle",
    "ground": "train bus rail railway coach taxi shuttle ride ferry drive car ground aisle",
    "travel": "trip travel traveling journey itinerary getaway vacation destination hop abroad route tour",
    "lodging": "hotel lodging accommodation stay room inn motel hostel suite overnight bed",
    "stops": "stop attraction sight sightseeing museum landmark gallery",
    "dining": "restaurant dinner dine dining eat meal lunch brunch cuisine table cafe bistro",
    "tickets": "ticket concert show performance festival theater theatre exhibition match play gig"
    " opera ballet dance cinema",
    "provider": "provider service barber salon hairdresser haircut dentist doctor clinic mechanic"
    " repair plumber massage"
    " technician fix therapist vet optician physio specialist workman repairman electrician cleaner",
    "shopping": "buy shop shopping purchase product item article order gear tool brand goods"
    " supplies groceries ingredient supplier",
    "delivery": "delivery parcel package shipping shipment ship",
    "returns": "return refund exchange broken damaged defective faulty replacement",
    "subscription": "subscription membership renewal renew tier charge recurring",
    "mail": "message email mail inbox letter correspondence newsletter reply text write sender note draft",
    "invites": "invite invitation rsvp",
    "calendar": "calendar meeting schedule appointment rehearsal call hour slot block shift clash"
    " overlap conflict",
    "reminders": "remind reminder alert",
    "files": "file folder download scan photo photograph picture recording paper archive delivery-note",
    "documents": "document doc report template memo slide spreadsheet presentation outline handout hand-out"
    " sheet form checklist",
    "trackers": "tracker log entry",
}
"""What a statement or a question is about."""

ASPECTS: Mapping[str, str] = {
    "seat": "seat seating sit aisle window row balcony stall front stage",
    "review": "draft review send directly sent immediately instantly approve approval wording",
    "priority": "priority prioritize urgent urgently flag important escalate top win precedence",
    "label": "label tag color colour",
    "archive": "archive unread",
    "language": "language english french spanish german italian polish dutch portuguese bilingual",
    "tone": "tone formal formally casual warm friendly professional polite surname title informal",
    "length": "short brief concise long length detailed line summary",
    "sign_off": "sign-off signature signoff sign greeting initials closing",
    "daytime": "morning afternoon evening hour time early noon midday",
    "clash": "overlap conflict conflicted clash collide bump double-book",
    "respond": "accept decline tentative tentatively respond rsvp answer maybe refuse",
    "lead": "remind reminder ahead advance beforehand relative",
    "organise": "organize organise arrange sort filed folder project supplier composer store move",
    "naming": "naming convention filename versioning rename",
    "sections": "section structure contain heading",
    "extras": "accessory bundle add-on related insurance warranty voucher coupon discount gift",
    "amenities": "breakfast parking wifi kitchen pool gym accessibility check-in check-out checkout luggage",
    "loyalty": "loyalty membership points frequent",
    "surroundings": "nearby surrounding direction weather attraction neighborhood neighbourhood",
    "follow_up": "unanswered overview recap agenda minutes",
    "attachments": "attach attachment link receipt photo",
    "buffer": "buffer gap travel-time",
    "refundable": "refundable flexible cancellation",
    "diet": "dietary allergy vegetarian vegan gluten-free",
    "reuse": "template existing scratch blank fresh reuse start begin base old",
    "format": "slide spreadsheet format document presentation pdf",
    "consent": "confirm approve approval permission consent",
    "tier": "tier plan basic pro premium enterprise",
    "disposal": "delete trash discard throw erase",
    "money": "price cheap cheapest budget cost expensive inexpensive dear affordable value spend amount"
    " hundred money luxury low plain simple",
    "quality": "rating rated quality review-score best durable",
    "distance": "close closest near nearby nearest proximity distance walk",
    "local": "local locally independent family-run origin farm mill chain regional",
    "condition": "used second-hand secondhand refurbished vintage new",
    "settle": "refund credit exchange replacement money replace",
    "replace": "replace replacement substitute alternative swap shut closed disrupt disrupted cancel"
    " canceled",
    "updates": "update notify notification tell alert late delay track",
    "listing": "list collect cart",
    "mode": "train bus flight fly drive car plane rail ground transport",
    "loyal": "same regular known stick loyal familiar",
    "soon": "soon soonest quick quickly quickest fast fastest free available earliest",
    "outdoors": "outdoor outdoors outside patio terrace inside",
    "quiet": "quiet calm noise noisy street",
    "pace": "pace packed relaxed balance structured",
}
"""On which dimension something is decided."""


SERVICES = frozenset(
    """suggest recommend include add provide search check look link pull mention monitor create keep offer
    remind notify update maintain flag remove attach contact tell list propose invite summarise summarize
    unsubscribe set block highlight track compare ask share find order note put follow apply adjust call
    prepare""".split()
)
"""Verbs of services that an assistant offers beside the decision itself; most rules say nothing of them."""


def stem(word: str) -> str:
    """A crude common form of the inflections of a word; only good for comparing."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(suffix)
            if suffix in ("ied", "ies"):
                word += "y"
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


def content_words(text: str) -> list[str]:
    """The words that carry meaning, in order, repeats kept."""
    return [word for word in _words(text) if word not in _STOP_WORDS and len(word) > 1]


def content_stems(text: str) -> list[str]:
    return [stem(word) for word in content_words(text)]


def situations(text: str) -> frozenset[str]:
    return _concepts(text, _index("situations"))


def aspects(text: str) -> frozenset[str]:
    return _concepts(text, _index("aspects"))


def _words(text: str) -> list[str]:
    return [word.replace("’", "'").removesuffix("'s") for word in _TOKEN.findall(text.lower())]


def _concepts(text: str, index: Mapping[str, frozenset[str]]) -> frozenset[str]:
    words = {*_words(text), *_COMPOUND.findall(text.lower())}
    return frozenset(concept for word in words for base in _bases(word) for concept in index.get(base, ()))


def _bases(word: str) -> set[str]:
    """The forms of which an English word may be an inflection."""
    found = {word}
    for suffix in ("s", "es", "ed", "ing", "er"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            base = word.removesuffix(suffix)
            found |= {base, base + "e"} if suffix in ("ed", "ing", "er") else {base}
            if base[-1] == base[-2]:
                found.add(base[:-1])
    if word.endswith("ies"):
        found.add(word[:-3] + "y")
    return found


@cache
def _index(kind: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for concept, words in (SITUATIONS if kind == "situations" else ASPECTS).items():
        for word in words.split():
            found.setdefault(word, set()).add(concept)
    return {word: frozenset(concepts) for word, concepts in found.items()}
