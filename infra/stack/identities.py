"""``python -m infra.stack.identities FOLDER``: who may do what at a Redis of one's own, with new passwords.

The contract: ``FOLDER/users.acl`` is for the server, digests alone and readable to its user; ``FOLDER/keys/redis`` has
the passwords where the key source looks for them. Given again, both are made anew, and a server that runs has to be
told (``ACL LOAD``, or start it again).
"""

from __future__ import annotations

import sys
from pathlib import Path

from infra.stack.redis import write_identities


def main(arguments: list[str]) -> int:
    """Write the files; return the exit status."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m infra.stack.identities FOLDER\n")
        return 2
    folder = Path(arguments[0])
    acl, keys = folder / "users.acl", folder / "keys"
    write_identities(acl, keys)
    acl.chmod(0o644)  # digests of random passwords, for the user of a container
    sys.stderr.write(
        f"pratique: {acl} is for the server; {keys / 'redis'} goes into the folder that PRATIQUE_KEYS names, beside "
        "the other keys there\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
