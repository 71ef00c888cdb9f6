#!/bin/sh
# Switches to the release that contains this file, for an update or a rollback. As root:
#   sh /opt/petstore-1.1.0-202611291200/deploy/systemd/switch.sh
# Stops at the first step that fails. If the release cannot run on the schema, nothing is changed. If an instance does not become ready
# within two minutes, the remaining ones keep running their release.
set -eu
release="$(cd "$(dirname "$0")/../.." && pwd -P)"
units=/etc/systemd/system

(cd /var/lib/petstore && runuser -u petstore -- "$release/bin/petstore.js" db migrate)

install -m 0644 "$release"/deploy/systemd/*.service "$release"/deploy/systemd/*.timer "$units/"
if [ -e "$units/petstore-backup.service.d/postgresql.conf" ]; then
  install -m 0644 "$release/deploy/systemd/petstore-backup-postgresql.conf" "$units/petstore-backup.service.d/postgresql.conf"
fi
ln -sfn "$release" /opt/petstore
systemctl daemon-reload

for unit in $(systemctl list-units --plain --no-legend 'petstore@*.service' | cut -d ' ' -f 1); do
  port="${unit#petstore@}" && port="${port%.service}"
  systemctl restart "$unit"
  seconds=0
  until curl --silent --fail --output /dev/null --max-time 5 "http://127.0.0.1:$port/health/ready"; do
    seconds=$((seconds + 1))
    if [ "$seconds" -gt 120 ]; then
      echo "$unit is not ready; see journalctl -u $unit. The remaining instances were not restarted." >&2
      exit 1
    fi
    sleep 1
  done
  echo "$unit is ready."
  # nginx excludes an unreachable instance for 10 s.
  sleep 12
done
