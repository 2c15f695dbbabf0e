# shellcheck shell=bash
# Sourced by the scripts that make an image available. An image is, in this order: the one that the user names, the
# official one where it is present, a local one built from the same inputs before, the official one where it can be
# pulled, and one built here without any image registry, from the Debian packages that this machine's apt is configured
# for. Its name goes to standard output, progress to standard error.

say() { echo "pratique: $*" >&2; }

# use_what_is_there GIVEN OFFICIAL LOCAL INPUT...: prints an image's name and ends the script where there is one; else
# leaves `official`, `local_image` and `digest` (of the inputs) behind.
use_what_is_there() {
  local given=$1 built
  official=$2 local_image=$3
  shift 3
  [[ -z $given ]] || use "$given"
  if ! timeout 20 docker info >/dev/null 2>&1; then
    # Asked first: mmdebstrap, left without a reader, hangs up on its whole process group.
    say "no Docker engine answers: run infra/images/ensure-docker.sh first"
    exit 3
  fi
  ! docker image inspect "$official" >/dev/null 2>&1 || use "$official"
  digest=$(cat "$@" | sha256sum | cut -d' ' -f1)
  built=$(docker image inspect --format '{{index .Config.Labels "pratique.inputs"}}' "$local_image" 2>/dev/null || true)
  [[ $built != "$digest" ]] || use "$local_image"
  say "looking for $official (20 s at most)"
  ! timeout 20 docker pull -q "$official" >/dev/null 2>&1 || use "$official"
}

use() {
  echo "$1"
  exit
}

# build_image CONTENTS SECONDS PACKAGES HOOK CHANGE...: builds `local_image` and prints its name.
build_image() {
  local contents=$1 seconds=$2 packages=$3 hook=$4 change suite file stale log
  local -a changes=() sources=()
  shift 4
  for change in "$@" "LABEL pratique.inputs=$digest"; do changes+=(--change "$change"); done
  command -v mmdebstrap >/dev/null || {
    say "mmdebstrap is not installed: run infra/images/ensure-docker.sh first"
    exit 3
  }
  # shellcheck disable=SC1091
  suite=$(. /etc/os-release && echo "${VERSION_CODENAME:?}")
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [[ -s $file ]] && sources+=("$file")
  done

  say "building $local_image (about $seconds s): root file system from Debian $suite, $contents"
  stale=$(docker image inspect --format '{{.Id}}' "$local_image" 2>/dev/null || true)
  log=$(mktemp)
  # shellcheck disable=SC2064
  trap "rm -f '$log'" EXIT
  # `extract` unpacks packages without running their scripts. Later Debian suites keep everything below /usr and expect
  # links from a package that is not unpacked here.
  # shellcheck disable=SC2016
  if ! mmdebstrap --variant=extract --include="$packages" \
    --extract-hook='cd "$1" && for folder in bin sbin lib lib64; do
      if [ ! -e "$folder" ] && [ -d "usr/$folder" ]; then ln -s "usr/$folder" "$folder"; fi; done' \
    --extract-hook="$hook" "$suite" - "${sources[@]}" 2>"$log" |
    docker import "${changes[@]}" - "$local_image" >/dev/null; then
    cat "$log" >&2
    say "building $local_image failed"
    exit 3
  fi
  [[ -z $stale ]] || docker rmi "$stale" >/dev/null 2>&1 || true # in use by a container: stays
  say "built $local_image"
  echo "$local_image"
}
