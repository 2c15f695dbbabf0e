#!/bin/bash
# Makes a Kafka image available and prints its name on standard output, progress on standard error.
#
#   PRATIQUE_BROKER_IMAGE   use this image and build nothing
#   apache/kafka:4.4.0     the official image: used where it is present, or can be pulled
#   pratique/kafka:4.4.0-local   built here otherwise, without any image registry: a root file system from the Debian
#                          packages that this machine's apt is configured for, and the jars that Maven resolved
#
# The local image is built again only when one of its inputs has changed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
official=apache/kafka:4.4.0
local_image=pratique/kafka:4.4.0-local

say() { echo "pratique: $*" >&2; }
present() { docker image inspect "$1" >/dev/null 2>&1; }

if [[ -n ${PRATIQUE_BROKER_IMAGE:-} ]]; then
  echo "$PRATIQUE_BROKER_IMAGE"
  exit
fi
if ! timeout 20 docker info >/dev/null 2>&1; then
  # Asked first: mmdebstrap, left without a reader, hangs up on its whole process group.
  say "no Docker engine answers: run infra/images/ensure-docker.sh first"
  exit 3
fi
if present "$official"; then
  echo "$official"
  exit
fi

inputs=("$root/infra/kafka/pom.xml" "$root/infra/kafka/broker.properties" "$here/build-kafka-image.sh" "$here/kafka-root.sh"
  "$here/kafka-entry.sh" "$here/log4j2.yaml")
digest=$(cat "${inputs[@]}" | sha256sum | cut -d' ' -f1)
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

jars=$root/infra/kafka/target/lib
[[ -d $jars ]] || { say "no broker jars in $jars: run \`python -m infra.stack install\` first"; exit 3; }
for tool in mmdebstrap docker; do
  command -v "$tool" >/dev/null || { say "$tool is not installed: run infra/images/ensure-docker.sh first"; exit 3; }
done

# shellcheck disable=SC1091
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:?}")
sources=()
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  [[ -s $file ]] && sources+=("$file")
done

say "building $local_image (about 20 s): root file system from Debian $suite, JRE, Kafka jars"
stale=$(docker image inspect --format '{{.Id}}' "$local_image" 2>/dev/null || true)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# `extract` unpacks packages without running their scripts: a JVM, a shell and coreutils need no more.
if ! mmdebstrap --variant=extract --include=default-jre-headless,dash,bash,coreutils \
  --extract-hook="$here/kafka-root.sh" \
  "$suite" - "${sources[@]}" 2>"$log" |
  docker import \
    --change 'USER 1000:1000' --change 'EXPOSE 9092' --change 'CMD ["/etc/kafka/docker/run"]' \
    --change "LABEL pratique.inputs=$digest" - "$local_image" >/dev/null; then
  cat "$log" >&2
  say "building $local_image failed"
  exit 3
fi
[[ -z $stale ]] || docker rmi "$stale" >/dev/null 2>&1 || true # in use by a container: stays
say "built $local_image"
echo "$local_image"
