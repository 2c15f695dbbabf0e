"""Where a sentence claims that a person asked for, approved, confirmed, allowed or forbade something.

The contract: one pass over the sentence's words with the joined lexicon (``vocabulary``); its rules are
``docs/reference/authority.md``'s. It errs towards finding a claim: what it can't tell apart is one. Words of others,
in quotations, are not given to it. It knows words, not meanings: a claim in words of no table is not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Final

from streams.domain.compaction.authority.vocabulary import Kind, Lexicon, Phrases
from streams.domain.compaction.authority.words import Word

_PERSON: Final = int(Kind.PERSON)
_THING: Final = int(Kind.THING)
_OTHER: Final = int(Kind.OTHER)
_ASSENT: Final = int(Kind.ASSENT)
_SPEECH: Final = int(Kind.SPEECH)
_WEAK: Final = int(Kind.WEAK)
_PASSIVE: Final = int(Kind.PASSIVE)
_AUXILIARY: Final = int(Kind.AUXILIARY)
_AGENT: Final = int(Kind.AGENT)
_OF: Final = int(Kind.OF)
_OWNED: Final = int(Kind.AGENT | Kind.OF)
_NOUNS: Final = int(Kind.NOUN | Kind.ASSENT_NOUN)
_ASSENT_NOUN: Final = int(Kind.ASSENT_NOUN)
_GIVER: Final = int(Kind.GIVER)
_WITH: Final = int(Kind.WITH)
_LACK: Final = int(Kind.LACK)
_DUE: Final = int(Kind.DUE)
_BASE: Final = int(Kind.BASE)
_DO: Final = int(Kind.DO)
_SKIP: Final = int(Kind.SKIP)
_JOIN: Final = int(Kind.JOIN)
_ACCORDING: Final = int(Kind.ACCORDING)
_INVERTED: Final = int(Kind.INVERTED)
_LAST: Final = int(Kind.LAST)
_PERFECT: Final = int(Kind.PERFECT)
_OBJECT: Final = int(Kind.OBJECT)
_PLACE: Final = int(Kind.PLACE)
_CLIENT: Final = int(Kind.CLIENT)
_TECHNICAL: Final = int(Kind.TECHNICAL)
_ACTORS: Final = _PERSON | _OTHER | _AUXILIARY
_BESIDE: Final = int(Kind.AGENT | Kind.WITH | Kind.PLACE)
_VERBS: Final = _ASSENT | _SPEECH | _WEAK | _PASSIVE | _BASE
_ENDING: Final = _JOIN | _PERFECT | _AUXILIARY
_FINITE: Final = _ASSENT | _SPEECH | _WEAK | _PASSIVE
_LOUD: Final = _VERBS | _NOUNS | _ACCORDING

_NEAR: Final = 4
"""Most words between a person and a noun of authority, or a verb and whom it names."""
_GIVING: Final = 6
"""Most words between a noun of authority and the verb that passes it on."""
_CONDITION: Final = 4
"""Most words between a condition (unless, must) and what it is a condition of."""
_LABEL_WORDS: Final = 3
"""Most words of a label at the start of a sentence: ``The user:``."""
_AUXILIARY_NEAR: Final = 10
"""Most words between an auxiliary and its participle, in any language."""
_CLAUSE: Final = 16
"""Most words before an object that are looked at for who acts."""
_PAIRS: Final = 3
"""Most words that are joined to an object: the script *and the test*."""
_STRETCH: Final = 16
"""Words of a sentence that are first looked at as one; no rule looks further than that."""
_FEW: Final = 4
"""Most words of a sentence that are looked at one by one at once."""
_SPELLED: Final = 6
"""Fewest single letters in a row that are a word spelled out; what it is nobody looks up."""


def claims(words: Sequence[Word], lexicon: Lexicon, *, beside_foreign_words: bool = False) -> int:
    """Return how many claims a sentence makes; those that nothing parts are one.

    Args:
        words: Its words, quotations of others left out.
        lexicon: The tables.
        beside_foreign_words: It quotes an untrusted message: whoever is named in it may seem to have said that.
    """
    sentence = _Sentence(words, lexicon)
    count = sentence.count()
    return max(count, int(sentence.names_person())) if beside_foreign_words else count


class _Sentence:
    """One sentence under the rules."""

    def __init__(self, words: Sequence[Word], lexicon: Lexicon) -> None:
        self._words = words
        self._lexicon = lexicon
        self._openings = lexicon.openings
        self._spelled = (0, 0)
        self._followed = (-1, -1)
        self._around: list[int] = []

    def count(self) -> int:
        """Return the number of claims."""
        found = 0
        person = False
        apart = True
        skipped = 0
        for place, word in enumerate(self._words):
            apart = apart or word.joined or word.kind & _JOIN != 0
            opens = word.word in self._openings
            if place < skipped:
                continue
            if not (word.kind or opens):
                if apart and len(word.word) == 1 and not word.inner and self._is_spelled(place):
                    found += 1
                    apart = False
                continue
            exempt = self._phrase(place, self._lexicon.exempt) if opens else 0
            if exempt:
                skipped = place + exempt
                continue
            if apart and self._is_claim(place, word, after_person=person):
                found += 1
                apart = False
            person = person or (
                word.kind & _PERSON != 0 and self._is_person(place) and not self._has(_LACK, place - 2, place)
            )
        return found

    def names_person(self) -> bool:
        """Return whether somebody is in it whose word would count."""
        return any(self._is_person(place) for place in range(len(self._words)))

    def _is_claim(self, place: int, word: Word, *, after_person: bool) -> bool:
        kind = word.kind
        if word.inner:
            return bool(kind & (_ASSENT | _SPEECH)) and self._has(_PERSON, place - 2, place + 3, inner=True)
        if word.word in self._openings and self._phrase(place, self._lexicon.phrases):
            return True
        if len(word.word) == 1 and self._is_spelled(place):
            return True
        if place < _LABEL_WORDS and word.labels and kind & _PERSON and not self._is_program(place):
            return True
        return bool(kind & _LOUD) and (
            bool(kind & _VERBS and self._is_verb_of_authority(place, kind, after_person=after_person))
            or bool(kind & _NOUNS and self._is_noun_of_authority(place, kind))
            or bool(kind & _ACCORDING and self._names_source(place))
        )

    def _names_source(self, place: int) -> bool:
        return self._has(_PERSON, place + 1, place + _NEAR) or self._has(_PERSON, place - 1, place)

    # -- verbs -------------------------------------------------------------------------------------------------------

    def _is_verb_of_authority(self, place: int, kind: int, *, after_person: bool) -> bool:
        near = self._near(place)
        conditional = near & _LACK != 0 and not after_person and self._is_conditional(place)
        if (
            kind & _FINITE and near & _PERSON and near & _AGENT and self._names_person(place, _AGENT)
        ):  # approved by the user, confirmed with her
            return not conditional
        before = self._subject(place)
        by_other = near & _OTHER and near & _AGENT and self._is_done_by_other(place, after_person=after_person)
        if conditional or by_other or self._does_other(place, before):
            return False  # the log confirmed; was confirmed by the test; but not: the owner confirmed by mail
        if kind & (_ASSENT | _SPEECH):
            return not (before is None and kind & _SPEECH and self._has_object(place))
        if kind & _PASSIVE and near & _AUXILIARY and self._is_passive(place):
            return True
        absent = kind & _NOUNS and self._has(_DUE, place + 1, place + 2)  # the user's confirmation is not there
        if kind & _WEAK and not absent:
            return after_person or bool(kind & _INVERTED and self._has(_PERSON, place + 1, place + 4))
        return bool(kind & _BASE and after_person and before is not None and self._words[before].kind & _DO)

    def _is_done_by_other(self, place: int, *, after_person: bool) -> bool:
        """Whether what is named after a verb did it, and not somebody before it: it is passive, or stands apart."""
        if not self._names_other(place):
            return False
        auxiliary = self._auxiliary(place)
        passive = auxiliary is not None and not self._has(_PERSON, auxiliary, place)
        return not after_person or self._words[place].joined or passive

    def _is_conditional(self, place: int) -> bool:
        """Whether a condition or a lack stands close before, in the same part of the sentence."""
        for distance in range(1, _CONDITION + 1):
            if place < distance or self._words[place - distance + 1].joined:
                return False
            if self._words[place - distance].kind & _LACK:
                return True
        return False

    def _subject(self, place: int) -> int | None:
        """Return where the word before a verb stands, adverbs and the like left out; null where there is none."""
        before = place - 1
        known, subject = self._followed
        while before >= 0 and self._words[before].kind & _SKIP and not self._words[before].kind & _PERSON:
            if before == known:  # what stands before it was walked through already
                before = subject
                break
            if self._words[before].kind & _OTHER and before and _is_doer(self._words[before - 1]):
                break  # by me
            before -= 1
        self._followed = (place, before)
        return before if before >= 0 else None

    # -- who acts ----------------------------------------------------------------------------------------------------

    def _does_other(self, place: int, before: int | None) -> bool:
        """Whether the word before a verb, no person's, is who acts: the log confirmed; not: hat den Test genehmigt."""
        if before is None or not _is_other(self._words[before]) or self._is_in_brackets(before, place):
            return False
        first = before
        for pair in range(before - 2, max(-1, before - 2 * _PAIRS - 1), -2):
            if not self._words[pair + 1].kind & (_JOIN | _OF) or not _is_other(self._words[pair]):
                break
            first = pair
        if self._words[place].kind & _LAST:
            return not self._is_object(place, first)
        if self._follows(first, _OBJECT):
            subject = self._subject(first - 1)
            return subject is not None and _is_other(self._words[subject])
        return True

    def _is_in_brackets(self, before: int, place: int) -> bool:
        """Whether a word ends what is said of a person between commas: the owner, who wrote the script, approved."""
        words = self._words
        if not self._near(place) & _PERSON or not any(
            word.joined for word in words[max(before + 1, place - _NEAR) : place + 1]
        ):
            return False
        return any(self._is_actor(here) and words[here + 1].joined for here in range(max(0, before - _CLAUSE), before))

    def _is_object(self, place: int, first: int) -> bool:
        """Whether a word stands between who acts, or an auxiliary, and the verb that ends the clause."""
        words = self._words
        marked = self._follows(first, _OBJECT)
        ends = place + 1 >= len(words) or words[place + 1].joined or words[place + 1].stopped
        ends = ends or words[place + 1].kind & _ENDING != 0
        ends = ends and words[place].kind & (_ASSENT | _SPEECH | _PASSIVE) != 0
        ends = ends and not any(word.kind & _PERFECT for word in words[max(first + 1, place - _NEAR) : place])
        far = ends and (marked or words[place].kind & _ASSENT != 0)  # has, as she wrote, the script approved
        if not self._near(place) & (_PERSON | _PERFECT | _AUXILIARY):
            return first > _CLAUSE and not any(
                word.joined or (word.kind & _JOIN and not ends) for word in words[first - _CLAUSE + 1 : first + 1]
            )
        passive = person = inside = other = beyond = False
        active = place + 1 < len(words) and words[place + 1].kind & _PERFECT != 0  # genehmigt hat
        for here in range(first - 1, max(-1, first - 1 - _CLAUSE), -1):
            kind = words[here].kind
            if (words[here + 1].joined and not far) or (kind & _JOIN and not ends):
                break
            beyond = beyond or words[here + 1].joined or kind & _JOIN != 0
            if kind & _PERFECT:
                if person:
                    return not self._is_bare(here - 1)
                return not other and self._has_actor(here, marked=marked)
            if here == 0 and kind & _AUXILIARY and not words[place].kind & _ASSENT:
                break  # ist der Test bestätigt, läuft
            if kind & _ACTORS:
                passive = passive or (kind & _AUXILIARY != 0 and (not beyond or words[place].kind & _ASSENT != 0))
                person = person or self._is_actor(here)
                inside = inside or (person and not beyond)
                other = other or self._is_other_actor(here)
        else:
            inside = inside or first > _CLAUSE  # too far to see: found rather than missed
        if passive:
            certain = words[place].kind & (_ASSENT | _SPEECH)
            return not self._follows(first, _AGENT, 2) and (bool(certain) or not self._follows(first, _PLACE, 2))
        return inside or (person and bool(active or words[place].kind & _ASSENT))

    def _has_actor(self, auxiliary: int, *, marked: bool) -> bool:
        """Whether who stands before an auxiliary may have acted: a person, or where an object is marked anyone."""
        words = self._words
        before = self._subject(auxiliary)
        if before is None:
            return False
        if words[auxiliary].joined:  # the user, who is away, has
            start = max(0, auxiliary - _CLAUSE)
            return any(self._is_actor(here) and words[here + 1].joined for here in range(start, auxiliary))
        if _is_other(words[before]) and not self._is_beside(before) and not self._is_owned(before):
            return False
        for here in range(before, max(-1, before - _CLAUSE), -1):
            if self._is_actor(here):
                return True
            marked = marked and not self._is_other_actor(here)
            if words[here].joined:
                break
        return marked

    def _is_other_actor(self, place: int) -> bool:
        return _is_other(self._words[place]) and not self._is_beside(place) and not self._follows(place, _OBJECT)

    def _is_actor(self, place: int) -> bool:
        """Whether a person's word may be who acts: not by, for or of that person."""
        if not self._words[place].kind & _PERSON or not self._is_person(place):
            return False
        if self._words[place].kind & _OBJECT or self._follows(place, _OBJECT):
            return False
        owned = place > 1 and self._words[place - 1].kind & _OF and _is_other(self._words[place - 2])
        return not owned and not self._follows(place, _AGENT | _PLACE, 2)

    def _is_bare(self, place: int) -> bool:
        """Whether a clause begins with a subject without an article: ich habe."""
        if place < 0 or not _is_other(self._words[place]):
            return False
        return place == 0 or self._words[place].joined or self._words[place - 1].kind & _JOIN != 0

    def _is_beside(self, place: int) -> bool:
        return self._follows(place, _BESIDE, 2)

    def _is_owned(self, place: int) -> bool:
        """Whether it says whose a person is: the user of the API."""
        return place > 1 and self._words[place - 1].kind & _OF != 0 and self._words[place - 2].kind & _PERSON != 0

    def _follows(self, place: int, kind: int, most: int = 1) -> bool:
        """Whether a word of a kind stands before another, with an article between them where there may be two."""
        for before in range(place - 1, max(-1, place - 1 - most), -1):
            if self._words[before + 1].joined:
                return False
            if self._words[before].kind & kind:
                return True
        return False

    # -- verbs' parts ------------------------------------------------------------------------------------------------

    def _has_object(self, place: int) -> bool:
        """Whether a verb without a subject has a person after it: asked the user."""
        return self._has(_PERSON, place + 1, place + 3)

    def _is_passive(self, place: int) -> bool:
        return self._auxiliary(place) is not None

    def _auxiliary(self, place: int) -> int | None:
        """Return where the auxiliary stands that makes a participle passive; null where none does."""
        gaps = self._lexicon.passive_gap
        for distance in range(1, min(place, _AUXILIARY_NEAR) + 1):
            before = self._words[place - distance]
            if before.kind & _AUXILIARY and distance <= gaps.get(before.word, 0) + 1:
                return place - distance
        return None

    def _names_person(self, place: int, kind: int) -> bool:
        """Whether a person is named after a preposition that follows."""
        for distance in range(1, _NEAR + 1):
            if place + distance < len(self._words) and self._words[place + distance].kind & kind:
                return self._has(_PERSON, place + distance + 1, place + distance + _NEAR)
        return False

    def _names_other(self, place: int) -> bool:
        for distance in range(1, 3):
            if place + distance < len(self._words) and self._words[place + distance].kind & _AGENT:
                return self._has(_OTHER, place + distance + 1, place + distance + _NEAR)
        return False

    # -- nouns -------------------------------------------------------------------------------------------------------

    def _is_noun_of_authority(self, place: int, kind: int) -> bool:
        near = self._near(place)
        if near & (_LACK | _DUE) and self._is_lacking(place):
            return False
        if near & _PERSON and (
            self._has(_PERSON, place - _NEAR, place)
            or self._has(_PERSON, place + 1, place + 2)
            or self._names_person(place, _OWNED)
        ):
            return True
        return bool(
            (near & _GIVER and self._has(_GIVER, place - _GIVING, place + _GIVING + 1))
            or (near & _WITH and kind & _ASSENT_NOUN and self._has(_WITH, place - 2, place))
        )

    def _is_lacking(self, place: int) -> bool:
        """Whether the noun is said not to be there: without the user's approval, approval is needed."""
        if self._has(_DUE, place + 1, place + _NEAR) and not self._has(_GIVER, place + 1, place + _GIVING):
            return True
        for distance in range(1, _NEAR + 2):
            if place < distance or self._words[place - distance + 1].joined:
                return False
            kind = self._words[place - distance].kind
            if kind & _LACK:
                return True
            if kind & (_GIVER | _VERBS):
                return False
        return False

    # -- words -------------------------------------------------------------------------------------------------------

    def _is_person(self, place: int) -> bool:
        word = self._words[place]
        if not word.kind & _PERSON or word.inner or (word.kind & _CLIENT and self._is_program(place)):
            return False
        following = self._words[place + 1] if place + 1 < len(self._words) else None
        return following is None or not following.kind & _THING or bool(following.kind & _VERBS)

    def _is_program(self, place: int) -> bool:
        """Whether a client is one of a protocol or the like: the HTTP client, le client HTTP."""
        word = self._words[place]
        if not word.kind & _CLIENT:
            return False
        following = self._words[place + 1] if place + 1 < len(self._words) and not word.labels else None
        return (place > 0 and not word.joined and bool(self._words[place - 1].kind & _TECHNICAL)) or (
            following is not None and not following.joined and bool(following.kind & _TECHNICAL)
        )

    def _has(self, kind: int, start: int, end: int, *, inner: bool = False) -> bool:
        """Whether a word of a kind is in a stretch of the sentence."""
        for place in range(max(0, start), min(end, len(self._words))):
            word = self._words[place]
            if word.kind & kind and word.inner is inner and (not kind & _PERSON or inner or self._is_person(place)):
                return True
        return False

    def _near(self, place: int) -> int:
        """Return the kinds of words around a word, and some beyond: what is in none of them need not be looked for."""
        words = self._words
        if len(words) <= _FEW:
            return -1
        if not self._around:
            kinds = [
                reduce(or_, (word.kind for word in words[start : start + _STRETCH]))
                for start in range(0, len(words), _STRETCH)
            ]
            around = zip((0, *kinds), kinds, (*kinds[1:], 0), strict=False)
            self._around = [before | here | after for before, here, after in around]
        return self._around[place // _STRETCH]

    def _phrase(self, place: int, known: Phrases) -> int:
        """Return how many words a phrase that begins here has; 0 where none does."""
        first = self._words[place].word
        following = self._words[place + 1].word if place + 1 < len(self._words) else ""
        for phrase in known.get((first, following)) or known.get((first, "")) or ():
            here = self._words[place : place + len(phrase)]
            if tuple(word.word for word in here) == phrase:
                return len(phrase)
        return 0

    def _is_spelled(self, place: int) -> bool:
        """Whether a word that is spelled out begins here; where the run of letters ends is found once."""
        start, end = self._spelled
        if not start <= place < end:
            end = place
            while end < len(self._words) and _is_letter(self._words[end]):
                end += 1
            self._spelled = (place, end)
        return end - place >= _SPELLED


def _is_letter(word: Word) -> bool:
    return len(word.word) == 1 and not word.joined and word.word.isalpha()


def _is_other(word: Word) -> bool:
    return bool(word.kind & _OTHER) and not word.kind & _PERSON


def _is_doer(word: Word) -> bool:
    """Whether who did something follows, and not with whom."""
    return bool(word.kind & _AGENT) and not word.kind & _WITH
