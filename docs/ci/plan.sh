#!/bin/sh
# Plans and writes what a reviewer needs: plan.bin, its digest in plan.digest, and comment.md.
# Arguments are further flags of plan, such as -var-file=prod.hcl.
set -eu
deployster plan -input=false -out=plan.bin "$@"
deployster show -digest plan.bin >plan.digest
deployster show -markdown plan.bin >comment.md
