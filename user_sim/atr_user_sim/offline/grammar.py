"""Grammatical signs, in one English sentence, of asking, of generality and of being about the case at hand.

Weights are in one unit: 1 is a sign that needs company, 2 one that stands alone.
"""

from __future__ import annotations

import re

_DIRECT = re.compile(r"\?[)\]\"'”’*_]*$")
_SOFT = re.compile(
    r"\blet me know\b|\b(?:please )?(?:do )?tell me\b|\bi(?:'|’)?d (?:love|like|be (?:curious"
    r"|interested|glad|happy)) to "
    r"(?:know|hear|learn|understand)\b|\bi(?:'|’)?m (?:just )?(?:curious|wondering)\b|\bi wonder\b"
    r"|\bit (?:would|'d|’d) (?:really )?help(?: me)?(?: a lot)? (?:to know|if i knew)\b|\bit (?:would"
    r"|'d|’d) be (?:good|great|useful|helpful)"
    r" to know\b|\b(?:feel free to|please|could you|just) (?:say|share|mention)\b",
    re.I,
)
_CLOSING = re.compile(
    r"\b(?:any(?:thing)?|something) else\b|\b(?:any|more|other|further) questions\b|\bif you(?:'d"
    r"| would)? (?:ever )?"
    r"(?:need|like any|want any)\b|\b(?:help|assist) you with\b|\b(?:like|want|need) (?:some |any "
    r"|more )?help\b|\breach out\b|\bany (?:changes|edits|help)\b"
    r"|\bwhenever you(?:'re| are)? (?:need|want|ready|like)\b"
    r"|\blet me know if (?:i can|there is|there's|something|it|everything|that|this)\b|\bask if you\b"
    r"|\bif something\b",
    re.I,
)

_GENERAL: tuple[tuple[float, re.Pattern[str]], ...] = tuple(
    (weight, re.compile(pattern, re.I))
    for weight, pattern in (
        (
            3.0,
            r"\b(?:in|for) (?:the )?future\b|\bfuture\b|\bgoing forward\b|\b(?:from|for) (?:now|here"
            r"|then) on\b|\bmoving forward\b",
        ),
        (
            3.0,
            r"\b(?:in general|as a rule|by default|generally|long[- ]term|in the long run|rule of thumb)\b",
        ),
        (
            3.0,
            r"\b(?:standing|default|lasting) (?:rule|preference|instruction|policy)s?\b|\b(?:rule"
            r"|policy) (?:for|about|on) (?:how|when)\b",
        ),
        (2.5, r"\b(?:always|never|usually|typically|normally|automatically|every time|each time|whenever)\b"),
        (2.0, r"\bnext (?:time|ones?)\b|\b(?:later|other|similar|upcoming) (?:[a-z]+ )?[a-z]+s\b"),
        (2.0, r"\b(?:a|any|your|some) (?:preferred|favou?rite|usual|go-to|typical|standard|regular)\b"),
        (
            2.0,
            r"\b(?:likes?|such as|as) (?:this|these|that|those)\b|\bsuch (?:a )?[a-z]+s?\b|\b(?:this"
            r"|these|that) (?:kind|sort|type)s? of\b",
        ),
        (
            2.0,
            r"\byour (?:take|view|policy|approach|stance|habit|attitude|rule|position|practice"
            r"|routine) (?:on|about|to|with|for|when)\b",
        ),
        (2.0, r"\bare you (?:more of )?(?:an? |the )?(?:[\w-]+ )*(?:person|type|fan|riser|owl|sort)\b"),
        (
            2.0,
            r"\b(?:what|which) (?:kind|sort|type)s? of\b|\bwhat (?:makes|matters)\b"
            r"|\bwhat [a-z ]*look for\b|\blook like to you\b",
        ),
        (
            2.0,
            r"\bhow do you (?!want)(?:[a-z]+)\b|\bhow (?:you|you'd|you would) (?:like|want|feel|prefer"
            r"|deal|handle|go|choose)\b",
        ),
        (
            1.5,
            r"\b(?:what|how) should i\b|\bwhat should happen\b|\bwho should\b|\bwhat would you like\b"
            r"|\bhow do you want (?!to)\b|\bwhat do you do\b|\bwhere do you\b|\bwhen do you\b",
        ),
        (
            1.5,
            r"(?<!what )(?<!which )(?<!day )(?:^|[,;:–—(*]+ ?|\b(?:and|or|but|where|how|also|way|that"
            r"|what|just) |[a-z]s )do you (?:ever |mostly |mainly |tend |just )?(?!want|need|have|still"
            r"|agree|mean|only|also|prefer|like|wish|know|think|see|happen|"
            r"remember)[a-z]+\b|\b(?:matter|important|worth [a-z ]+) to you\b",
        ),
        (
            1.0,
            r"\bdo you (?:generally )?(?:like|prefer|have (?:a |any )?(?:preference|rule|way|system"
            r"|habit))\b|\bis there an? \b|\bare there\b",
        ),
        (
            1.5,
            r"\bare (?:allowed|willing|welcome)\b|\bis allowed\b|\b(?:may|can|should) i [a-z]+ (?!it\b"
            r"|the\b|this\b|that\b|them\b|these\b|those\b|him\b|her\b|you\b"
            r"|your\b)(?:[a-z]+ ){0,2}[a-z]+s\b",
        ),
        (
            1.5,
            r"\bwithout (?:asking|checking)\b|\bbe asked before\b|\b(?:ask|check with) you\b"
            r"|\bbefore i [a-z]+\b",
        ),
        (
            1.5,
            r"\bhow (?:often|quickly|far|long|much|many|detailed|early)\b[^?]*\b(?:like|want|should"
            r"|before|ahead|hear|willing|feel|hold|do you)\b",
        ),
        (
            2.0,
            r"\b(?:when|if|once|while|after|before) (?:i(?:'m|’m| am)?|you(?:'re|’re| are)?|people"
            r"|someone|something|they(?:'re|’re| are)?"
            r"|plans|an?|two|several)\b(?! (?:say|said|want|wanted|like|need|mean)\b)|\b(?:when|while"
            r"|before|after) (?!this\b)[a-z]+(?:ing|s)\b",
        ),
        (
            2.0,
            r"(?:^|[,;:(–—*]+ ?|\b(?:and|or|also|know) )(?:with|on|given|for) (?:two|several|people"
            r"|[a-z]+ing|(?!this\b)[a-z]+s|(?!this\b)[a-z]+ [a-z]+s)\b",
        ),
        (1.5, r"\b(?:every|each) (?!day|week|month|year|morning|evening|second|other|of)[a-z]+\b"),
        (0.75, r"\b(?:an?|some|any) (?!bit|lot|few|couple|moment|look|reminder|summary|quick)[a-z]+"),
        (1.5, r"\b(?:in|at|on|of|to|with|from|for) an? [a-z]+(?: or [a-z]+)?\?"),
        (
            1.0,
            r"\b(?:okay|ok|all right|fine) (?:for me|with you) (?:to|if)\b|\ba problem for you\b"
            r"|\b(?:trust|mind|avoid(?:ed)?|stand)\b",
        ),
    )
)

_TASK: tuple[tuple[float, re.Pattern[str]], ...] = tuple(
    (weight, re.compile(pattern, re.I))
    for weight, pattern in (
        (
            3.0,
            r"\b(?:tonight|(?<!not )today|tomorrow|right (?:now|away)|at this point|this (?:time|week"
            r"|weekend|evening|morning|afternoon|month|year|one))\b",
        ),
        (
            3.0,
            r"\b(?:on|this|next|last|for|until|by) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
            r"|\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2}:\d\d\b|\b\d{1,2} ?[ap]\.?m\b",
        ),
        (
            2.5,
            r"(?<!like )(?<!such as )(?<!as )\b(?:this|these|those)\b(?! (?:kind|sort|type))"
            r"|\bof (?:them|these|those|the two)\b|\bwhich one\b|\bthe (?:two|three|four|one|ones|first"
            r"|second)\b",
        ),
        (
            2.0,
            r"\b(?:shall|should|may|can) i (?:[a-z]+ly |also |now "
            r"|just )?[a-z]+(?: ahead(?: and [a-z]+)?)? (?:it|them|this|that|one|him|her)\b|\bshall i\b",
        ),
        (
            2.0,
            r"\b(?:want|like|prefer) me to (?:[a-z]+ )?(?:[a-z]+ )(?:it|this|that|them|the)\b"
            r"|\bgo ahead\b|\bis (?:that|it|this) (?:okay|ok|fine|right|all right|correct)\b",
        ),
        (
            1.5,
            r"\b(?:would you (?:like|prefer|rather)|do you (?:still|agree|mean|also|only|have my"
            r"|want to change))\b",
        ),
        (
            1.5,
            r"\bdid you\b|\bwas (?:it|that)\b|\byou(?:'d| would) like me to\b|\bwere you\b"
            r"|\bwhat should i call\b",
        ),
        (1.0, r"^(?!.*\b(?:an?|any|some|something|[a-z]+s) .*\b(?:it|them)\b)(?=.*\b(?:it|them|him)\b)"),
        (1.0, r"(?<![\w.])[$€£]? ?\d+(?:[.,]\d+)*\b|\boption [a-z0-9]\b"),
        (1.0, r"\b(?:now|still|instead|again|already)\b"),
        (
            2.0,
            r"\b(?:do|will|would|did) you (?:need|have in mind)\b|\bare you (?:looking|searching"
            r"|thinking|planning)\b|\bin mind\b|\bspecific(?:ally)?\b",
        ),
        (
            1.5,
            r"\b(?:what|which|how (?:many|much|long)|when|where|who)\b(?: [a-z]+){0,4} should (?:i|we"
            r"|it|the)\b(?! (?:do|pick|choose)\b)"
            r"(?!.*\b(?:when|if|once|on|people)\b)|\bwhen do you need\b|\bto (?:get started|proceed"
            r"|continue)\b",
        ),
        (1.5, r"\b(?:want me to|should i) (?:search|look|book|check|find|order|include|add|send|reserve)\b"),
        (3.0, r"^(?:and |also,? |but )?before i [a-z]+(?: (?:it|this|that|the|your)\b[^,]*)?,"),
        (
            1.0,
            r"\byour (?:budget|trip|stay|visit|order|booking|flight|appointment|reservation|event"
            r"|message|party|price range)\b",
        ),
    )
)

_QUANTIFIED = re.compile(r"\([^()]*\)")
_DEFINITE = re.compile(
    r"\bthe (?!(?:future|calendar|inbox|same|best|right|aisle|window|front|back|weather|way|day|evening"
    r"|time|first place|cheap\w*|high\w*"
    r"|most|earl\w*|late\w*|clos\w*|near\w*|last|user|morning|afternoon|other|better|usual)\b)[a-z0-9]",
    re.I,
)
_PROPER = re.compile(r"(?<=[a-z,] )(?!I\b|I'|I’|OK\b)[A-Z][a-z]+")
_PLURAL = re.compile(r"\b(?:([a-z’']+) )?([a-z]{2,}(?:s|people|children))\b")
_NOT_BARE = frozenset(
    "the these those both two three four five six my its their his her our which all we i you it he she"
    " they this that of".split()
)
_NO_PLURAL = frozenset(
    "is was has does this his its yes us as always perhaps unless less across class business address"
    " previous various"
    " sometimes besides lets gets goes thanks pass press plus bus process access news series towards"
    " afterwards"
    " otherwise else status dress guess miss discuss focus bonus gas lens campus details options"
    " changes others".split()
)


def asks(sentence: str) -> bool:
    """A direct question, or a soft one such as "let me know whether"."""
    return bool(_DIRECT.search(sentence) or _SOFT.search(sentence))


def closes(sentence: str) -> bool:
    """A polite offer of more help."""
    return bool(_CLOSING.search(sentence))


def generality(sentence: str) -> float:
    plain = _QUANTIFIED.sub("", sentence) if not sentence.startswith("(") else sentence
    signs = sum(weight for weight, pattern in _GENERAL if pattern.search(plain))
    return signs + min(2.0, _bare_plurals(plain))


def task_boundness(sentence: str) -> float:
    plain = _QUANTIFIED.sub("", sentence) if not sentence.startswith("(") else sentence
    signs = sum(weight for weight, pattern in _TASK if pattern.search(plain))
    definite = min(1.5, 0.75 * len(_DEFINITE.findall(plain)))
    names = min(1.5, 0.75 * len(_PROPER.findall(plain)))
    return signs + definite + names


def signs(sentence: str) -> dict[str, float]:
    """Every sign on its own, by name."""
    found = {
        f"{kind}_{number}": 1.0
        for kind, patterns in (("general", _GENERAL), ("task", _TASK))
        for number, (_, pattern) in enumerate(patterns)
        if pattern.search(sentence)
    }
    return found | {
        "generality": generality(sentence) / 2,
        "task_boundness": task_boundness(sentence) / 2,
        "direct": float(bool(_DIRECT.search(sentence))),
        "soft": float(bool(_SOFT.search(sentence))),
        "closes": float(closes(sentence)),
        "names": min(3, len(_PROPER.findall(sentence))) / 2,
        "definite": min(3, len(_DEFINITE.findall(sentence))) / 2,
        "plurals": min(3, _bare_plurals(sentence)) / 2,
    }


def _bare_plurals(sentence: str) -> int:
    """Plural nouns without a word before them that would single things out: kinds, not things."""
    return sum(
        noun not in _NO_PLURAL and (before or "") not in _NOT_BARE
        for before, noun in _PLURAL.findall(sentence.lower())
    )
