"""Compiled grammars, kept by digest: compiling costs far more than judging.

The contract: safe for many threads; at most ``MAX_GRAMMARS`` are kept, the one unused for longest goes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from streams.domain.compaction.compiler import compile_grammar
from streams.domain.compaction.grammar import Grammar
from streams.domain.policy.model import PolicySet

MAX_GRAMMARS: Final = 64


class Grammars:
    """The grammars of the policy sets that are worked under."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._compiled: OrderedDict[str, Grammar] = OrderedDict()

    def of(self, policy_set: PolicySet) -> Grammar:
        """Return a set's grammar.

        Raises:
            PolicyError: It does not compile.
        """
        with self._lock:
            grammar = self._compiled.get(policy_set.grammar_sha256)
            if grammar is None:
                grammar = self._compiled[policy_set.grammar_sha256] = compile_grammar(policy_set.grammar)
                if len(self._compiled) > MAX_GRAMMARS:
                    self._compiled.popitem(last=False)
            else:
                self._compiled.move_to_end(policy_set.grammar_sha256)
            return grammar
