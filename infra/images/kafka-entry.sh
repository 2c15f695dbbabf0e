#!/bin/sh
# Main program of the locally built broker image. It offers the environment contract of the official image
# (KAFKA_<PROPERTY>, CLUSTER_ID, KAFKA_HEAP_OPTS) by calling the class that the official image calls.
set -eu

export CLUSTER_ID="${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw}"
jars='/opt/kafka/libs/*'

# Writes /opt/kafka/config from the environment and formats the data folder. At a restart it has been formatted before:
# the class then says so and fails, after it has written the settings.
if ! said=$(java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
  -Dlog4j2.configurationFile=/etc/kafka/docker/tools-log4j2.yaml -cp "$jars" kafka.docker.KafkaDockerWrapper setup \
  --default-configs-dir /etc/kafka/docker \
  --mounted-configs-dir /mnt/shared/config \
  --final-configs-dir /opt/kafka/config 2>&1); then
  case $said in
    *"already formatted"*) ;;
    *)
      echo "$said" >&2
      exit 1
      ;;
  esac
fi

# The JVM becomes process 1, so that `docker stop` reaches it. The options are lists of words on purpose.
# shellcheck disable=SC2086
exec java ${KAFKA_HEAP_OPTS:--Xmx512m} ${KAFKA_JVM_PERFORMANCE_OPTS:--XX:+UseSerialGC} \
  -Dlog4j2.configurationFile=/opt/kafka/config/log4j2.yaml \
  -cp "$jars" kafka.Kafka /opt/kafka/config/server.properties
