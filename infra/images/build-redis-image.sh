#!/bin/bash
# Makes a Redis image available and prints its name on standard output, progress on standard error.
#
#   PRATIQUE_REDIS_IMAGE   use this image and build nothing
#   redis:7.4              the official image: used where it is present, or can be pulled
#   pratique/redis:7-local   built here otherwise
#
# The local image is built again only when one of its inputs has changed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=infra/images/local-image.sh
. "$here/local-image.sh"

use_what_is_there "${PRATIQUE_REDIS_IMAGE:-}" redis:7.4 pratique/redis:7-local \
  "$here/build-redis-image.sh" "$here/local-image.sh"

# shellcheck disable=SC2016
build_image redis-server 10 redis-server \
  'cd "$1" && mkdir -p data tmp && chmod 1777 tmp && chown 1000:1000 data' \
  'USER 1000:1000' 'EXPOSE 6379' 'WORKDIR /data' 'CMD ["redis-server"]'
