#!/bin/bash
# Makes .venv with exactly what requirements/dev.lock pins (by hash), and both distributions of the repository, editable.
#
#   PYTHON   interpreter to use; otherwise the first of python3.11, 3.12, 3.13 and python3 that is 3.11 or newer
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

say() { echo "pratique: $*" >&2; }
is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
may_install() { [[ $(id -u) == 0 && -f /etc/debian_version ]] && command -v apt-get >/dev/null; }

if [[ ! -x .venv/bin/python ]]; then
  python=${PYTHON:-}
  if [[ -z $python ]]; then
    for candidate in python3.11 python3.12 python3.13 python3; do
      if is_new_enough "$candidate"; then
        python=$candidate
        break
      fi
    done
  fi
  if [[ -z $python ]] || ! is_new_enough "$python"; then
    say "Python 3.11 or newer is needed: install it (on Debian: apt-get install python3 python3-venv), or set PYTHON"
    exit 3
  fi
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    if ! may_install; then
      say "$python cannot make virtual environments: install its venv module (on Debian: apt-get install python3-venv)"
      exit 3
    fi
    say "installing python3-venv"
    apt-get update -qq >&2 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >&2
  fi
  say "making .venv with $("$python" --version)"
  "$python" -m venv .venv
fi

say "installing what requirements/dev.lock pins ($(grep -c '==' requirements/dev.lock) packages; minutes the first time)"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input --require-hashes -r requirements/dev.lock
say "installing pratique and pratique-streams, editable"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input --no-deps --no-build-isolation -e sdk -e .
