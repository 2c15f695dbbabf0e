#!/bin/bash
# Has a Docker engine answer, and mmdebstrap there to build images from.
#
# An engine that already answers is used as it is. As root on a Debian family, what is missing is installed from the
# configured package sources and `dockerd` is started where none answers (log: .pratique/dockerd.log); it stays up,
# since containers of others may use it by then. Otherwise one line says what to install.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
log=$root/.pratique/dockerd.log

say() { echo "pratique: $*" >&2; }
answers() { timeout 20 docker info >/dev/null 2>&1; }
may_install() { [[ $(id -u) == 0 && -f /etc/debian_version ]] && command -v apt-get >/dev/null; }

packages=()
command -v docker >/dev/null && { answers || command -v dockerd >/dev/null; } || packages+=(docker.io)
answers || command -v iptables >/dev/null || packages+=(iptables)
command -v mmdebstrap >/dev/null || packages+=(mmdebstrap)

if answers && [[ ${#packages[@]} == 0 ]]; then
  exit 0
fi
if [[ ${#packages[@]} != 0 ]]; then
  if ! may_install; then
    if answers; then
      exit 0 # mmdebstrap is needed only where the official image cannot be had: the build script says so then
    fi
    say "no Docker engine answers: install and start one (on Debian: apt-get install docker.io), then run this again"
    exit 3
  fi
  say "installing ${packages[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2 || true # an old list may still do
  # Later Debian suites keep the client in a package of its own.
  if [[ " ${packages[*]} " == *" docker.io "* ]] && apt-cache show docker-cli >/dev/null 2>&1; then
    packages+=(docker-cli)
  fi
  out=$(apt-get install -y -qq --no-install-recommends "${packages[@]}" 2>&1) || {
    echo "$out" | tail -n 30 >&2
    say "installing ${packages[*]} failed"
    exit 3
  }
fi

if ! answers; then
  if [[ $(id -u) != 0 ]]; then
    say "no Docker engine answers, and only root may start one: start it (systemctl start docker), then run this again"
    exit 3
  fi
  say "starting dockerd (log: $log)"
  mkdir -p "$(dirname "$log")"
  setsid dockerd >>"$log" 2>&1 </dev/null &
  echo $! >"$root/.pratique/dockerd.pid" # for whoever wants to end what was started here, as .ci/run does
  for _ in $(seq 60); do
    answers && break
    sleep 0.5
  done
  answers || { tail -n 20 "$log" >&2; say "dockerd did not come up"; exit 3; }
fi
say "Docker engine $(docker version --format '{{.Server.Version}}') answers"
