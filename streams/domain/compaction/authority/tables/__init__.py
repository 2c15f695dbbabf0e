"""The word tables of all languages."""

from typing import Final

from streams.domain.compaction.authority.tables.de import GERMAN
from streams.domain.compaction.authority.tables.en import ENGLISH
from streams.domain.compaction.authority.tables.es import SPANISH
from streams.domain.compaction.authority.tables.fr import FRENCH
from streams.domain.compaction.authority.tables.it import ITALIAN
from streams.domain.compaction.authority.tables.ja import JAPANESE
from streams.domain.compaction.authority.tables.nl import DUTCH
from streams.domain.compaction.authority.tables.pt import PORTUGUESE
from streams.domain.compaction.authority.tables.ru import RUSSIAN
from streams.domain.compaction.authority.tables.zh import CHINESE

TABLES: Final = (ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN, DUTCH, RUSSIAN, CHINESE, JAPANESE)
"""One table a language."""
