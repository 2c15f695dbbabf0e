"""The development stack: a real broker in the local JVM and the apps as real processes, on loopback ports.

``python -m infra.stack up|down|status`` is what ``make up`` and ``make down`` call. Tests and benchmarks use the
classes: ``EmbeddedBroker``, ``Supervisor``, ``PssSampler``, ``Stack``.

It is not a way to run Pratique in production: nothing listens beyond loopback, and nothing is replicated.
"""
