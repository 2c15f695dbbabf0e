"""The published language: records, digests, reason codes, signatures, topic names.

Both sides of every topic read this package: the service (``streams``, ``topologies``) and the client. It holds no
policy and no I/O beyond reading the schema files it ships with.
"""
