#!/bin/sh
# Prints the projects of a repository as a list in JSON, for a matrix of jobs: each directory
# below this one in which a .deployster.lock.hcl is committed.
set -eu
git ls-files -z -- '.deployster.lock.hcl' '*/.deployster.lock.hcl' | xargs -0 -r -n 1 dirname | sort | jq -Rnc '[inputs]'
