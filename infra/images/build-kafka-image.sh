#!/bin/bash
# Makes a Kafka image available and prints its name on standard output, progress on standard error.
#
#   PRATIQUE_BROKER_IMAGE   use this image and build nothing
#   apache/kafka:4.4.0     the official image: used where it is present, or can be pulled
#   pratique/kafka:4.4.0-local   built here otherwise, of a JRE and the jars that Maven resolved
#
# The local image is built again only when one of its inputs has changed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
kafka=$here/../kafka
# shellcheck source=infra/images/local-image.sh
. "$here/local-image.sh"

use_what_is_there "${PRATIQUE_BROKER_IMAGE:-}" apache/kafka:4.4.0 pratique/kafka:4.4.0-local \
  "$kafka/pom.xml" "$kafka/broker.properties" "$here/build-kafka-image.sh" "$here/local-image.sh" \
  "$here/kafka-root.sh" "$here/kafka-entry.sh" "$here/log4j2.yaml"

[[ -d $kafka/target/lib ]] || {
  say "no broker jars in infra/kafka/target/lib: run \`python -m infra.stack install\` first"
  exit 3
}
# A JVM, a shell and coreutils need none of their packages' scripts.
build_image "JRE, Kafka jars" 20 default-jre-headless,dash,bash,coreutils "$here/kafka-root.sh" \
  'USER 1000:1000' 'EXPOSE 9092' 'CMD ["/etc/kafka/docker/run"]'
