#!/bin/bash
# Makes a Redis image available and prints its name on standard output, progress on standard error.
#
#   PRATIQUE_REDIS_IMAGE   use this image and build nothing
#   redis:7.4              the official image: used where it is present, or can be pulled
#   pratique/redis:7-local   built here otherwise, without any image registry: a root file system from the Debian
#                          packages that this machine's apt is configured for
#
# The local image is built again only when this script has changed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
official=redis:7.4
local_image=pratique/redis:7-local

say() { echo "pratique: $*" >&2; }
present() { docker image inspect "$1" >/dev/null 2>&1; }

if [[ -n ${PRATIQUE_REDIS_IMAGE:-} ]]; then
  echo "$PRATIQUE_REDIS_IMAGE"
  exit
fi
if ! timeout 20 docker info >/dev/null 2>&1; then
  say "no Docker engine answers: run infra/images/ensure-docker.sh first"
  exit 3
fi
if present "$official"; then
  echo "$official"
  exit
fi

digest=$(sha256sum <"$here/build-redis-image.sh" | cut -d' ' -f1)
built=$(docker image inspect --format '{{index .Config.Labels "pratique.inputs"}}' "$local_image" 2>/dev/null || true)
if [[ $built == "$digest" ]]; then
  echo "$local_image"
  exit
fi

say "looking for $official (20 s at most)"
if timeout 20 docker pull -q "$official" >/dev/null 2>&1; then
  echo "$official"
  exit
fi

command -v mmdebstrap >/dev/null || { say "mmdebstrap is not installed: run infra/images/ensure-docker.sh first"; exit 3; }

# shellcheck disable=SC1091
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:?}")
sources=()
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  [[ -s $file ]] && sources+=("$file")
done

say "building $local_image (about 10 s): root file system from Debian $suite, redis-server"
stale=$(docker image inspect --format '{{.Id}}' "$local_image" 2>/dev/null || true)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# `extract` unpacks packages without running their scripts. Later Debian suites keep everything below /usr and expect
# links from a package that is not unpacked here.
# shellcheck disable=SC2016
if ! mmdebstrap --variant=extract --include=redis-server \
  --extract-hook='cd "$1" && for folder in bin sbin lib lib64; do
    if [ ! -e "$folder" ] && [ -d "usr/$folder" ]; then ln -s "usr/$folder" "$folder"; fi; done
    mkdir -p data tmp && chmod 1777 tmp && chown 1000:1000 data' \
  "$suite" - "${sources[@]}" 2>"$log" |
  docker import \
    --change 'USER 1000:1000' --change 'EXPOSE 6379' --change 'WORKDIR /data' --change 'CMD ["redis-server"]' \
    --change "LABEL pratique.inputs=$digest" - "$local_image" >/dev/null; then
  cat "$log" >&2
  say "building $local_image failed"
  exit 3
fi
[[ -z $stale ]] || docker rmi "$stale" >/dev/null 2>&1 || true # in use by a container: stays
say "built $local_image"
echo "$local_image"
