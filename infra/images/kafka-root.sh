#!/bin/sh
# Lays the broker out in an unpacked root file system; mmdebstrap calls it with the folder as its only argument.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
kafka=$here/../kafka
cd "$1"

ln -sf dash bin/sh
ln -sf /usr/lib/jvm/default-java/bin/java usr/bin/java

mkdir -p opt/kafka/libs opt/kafka/config etc/kafka/docker mnt/shared/config var/lib/kafka/data tmp
chmod 1777 tmp
cp "$kafka"/target/lib/*.jar opt/kafka/libs/
install -m 0755 "$here/kafka-entry.sh" etc/kafka/docker/run
install -m 0644 "$here/log4j2.yaml" etc/kafka/docker/log4j2.yaml
install -m 0644 "$here/log4j2.yaml" etc/kafka/docker/tools-log4j2.yaml
install -m 0644 "$kafka/broker.properties" etc/kafka/docker/server.properties
chown -R 1000:1000 opt/kafka/config var/lib/kafka
