#!/bin/sh
# Runs inside.sh in a machine with systemd, which `booted` has booted beside it. Usage: machine-test.sh FILES
# FILES are inside.sh, readme.sh and the packages of two versions.
set -eu
tar -C "$1" -cf - . | ssh -F "$SSH_CONFIG" "$MACHINES" 'tar -C /srv -xf - && bash /srv/inside.sh'
