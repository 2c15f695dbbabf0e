"""``python -m infra.stack.identities FOLDER``: who may do what at a Redis of one's own, with passwords.

The contract: ``FOLDER/users.acl`` is for the server, digests alone and readable to its user; ``FOLDER/keys/redis`` has
the passwords where the key source looks for them. Given again, passwords that are there stay, and so do users of the
list that are not ours; what is missing is added. A server that runs has to be told (``ACL LOAD``, or start it again).
"""

from __future__ import annotations

import sys
from pathlib import Path

from infra.stack.redis import write_identities
from pratique.errors import ConfigurationError


def main(arguments: list[str]) -> int:
    """Write the files; return the exit status."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m infra.stack.identities FOLDER\n")
        return 2
    folder = Path(arguments[0])
    acl, keys = folder / "users.acl", folder / "keys"
    try:
        made = write_identities(acl, keys)
    except ConfigurationError as error:
        sys.stderr.write(f"pratique: {error}\n")
        return 2
    acl.chmod(0o644)  # digests of random passwords, for the user of a container
    new = ", ".join(identity.value for identity in made) or "none"
    sys.stderr.write(
        f"pratique: passwords made: {new}; those that were there are kept\n"
        f"pratique: {acl} is for the server; {keys / 'redis'} goes into the folder that PRATIQUE_KEYS names, beside "
        "the other keys there\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
