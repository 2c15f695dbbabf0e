"""The injection detector: a linear model over hashed n-grams and multilingual concepts, in integer arithmetic.

The contract: ``artifact.read_artifact`` reads the pinned numbers beside this file, plain bytes and never code;
``scorer.Scorer`` turns a text into a calibrated score and the place that gave it; ``detector`` puts that behind the two
ports that ask for it. The same text gives the same score on every machine: nothing here depends on floating point, hash
seeds or the interpreter's Unicode version.

It decides nothing: what a score means is policy's. How the artifact is made is in ``infra/models/injection``.
"""
