"""From a published verdict to the ledger's commands: what the verdict app asks of the ledger by itself.

The contract: a verdict never waits for the ledger, and is never lost over it. Commands go to the log with the verdict
that they follow from, before its evidence is marked, so that none is lost; evidence that is delivered again gives the
same bytes again, and the ledger takes an addition once. What can't be asked for is counted and left: the text is met
again when it is recalled again.

While the fingerprint key is rotated, what is quarantined already is asked for under the generation that the ledger is
being filled with (``streams.domain.quarantine.carrying``).

A text that is recalled again and again is not asked for again and again: what this process asked for within
``REPEATED_MS`` is left out. That spares the log, and decides nothing.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from pratique.contract import avro
from pratique.contract.records import Verdict
from pratique.contract.signing import Ed25519Signer
from pratique.errors import RefusedError
from streams.application.ports.log import Channel, Output
from streams.application.ports.metrics import Metrics
from streams.domain.quarantine.automatic import AutomaticAddition, additions, sign_addition
from streams.domain.quarantine.carrying import carrying
from streams.domain.quarantine.command import Command, sign_command
from streams.domain.verdicts.joins import Effect, Publication

LOG: Final = logging.getLogger(__name__)

REPEATED_MS: Final = 10 * 60 * 1000
MOST_REMEMBERED: Final = 10_000


class Nominator:
    """Makes commands of nominations.

    Args:
        gate: Returns the gate's signer of the moment.
        partition_count: Partitions of the ledger's topics.
        metrics: Counts what is asked for, and what could not be.
    """

    def __init__(self, gate: Callable[[], Ed25519Signer], partition_count: int, metrics: Metrics) -> None:
        self._gate = gate
        self._partition_count = partition_count
        self._metrics = metrics
        self._asked: OrderedDict[bytes, int] = OrderedDict()

    def commands(self, effects: Sequence[Effect]) -> list[Output]:
        """Return what follows from these effects for the ledger; nothing for most."""
        found: list[Output] = []
        for effect in effects:
            if isinstance(effect, Publication) and effect.nomination is not None:
                found += self._commands(effect)
        return found

    def _commands(self, publication: Publication) -> list[Output]:
        if publication.nomination is None:
            return []
        try:
            what = (avro.decode(publication.decided.verdict, Verdict), publication.nomination, publication.join_key)
            wanted: list[AutomaticAddition | Command] = [*additions(*what), *carrying(*what)]
            outputs = [self._output(item) for item in wanted if not self._was_asked(item, what[0])]
        except RefusedError as error:  # a tenant that no ledger key can have, a key that is not the gate's any more
            LOG.warning("nothing is asked of the ledger: %s", error)
            self._metrics.count("nominations_refused_total", why=type(error).__name__)
            return []
        for item in wanted:
            self._remember(item, what[0])
        if outputs:
            self._metrics.count("nominations_total", len(outputs))
        return outputs

    def _output(self, item: AutomaticAddition | Command) -> Output:
        sealed = sign_command(item, self._gate()) if isinstance(item, Command) else sign_addition(item, self._gate())
        key = item.key
        return Output(Channel.COMMANDS, key.record_key, sealed, partition=key.partition(self._partition_count))

    def _was_asked(self, item: AutomaticAddition | Command, verdict: Verdict) -> bool:
        before = self._asked.get(item.key.record_key)
        return before is not None and abs(verdict.decided_at - before) < REPEATED_MS

    def _remember(self, item: AutomaticAddition | Command, verdict: Verdict) -> None:
        if not self._was_asked(item, verdict):
            self._asked[item.key.record_key] = verdict.decided_at
            self._asked.move_to_end(item.key.record_key)
        if len(self._asked) > MOST_REMEMBERED:
            self._asked.popitem(last=False)
