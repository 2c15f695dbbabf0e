"""The read side of policy distribution: verified targets of the TUF repository, for the client and the service alike.

``client`` holds the reader, ``fetchers`` how its bytes are obtained, ``errors`` what can go wrong. What the documents
mean is not decided here: the trust target is ``pratique.contract.trust``, the rest is the service's.
"""
