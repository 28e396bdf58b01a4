#!/bin/sh
# Plans and writes what a reviewer needs: plan.bin, its digest in plan.digest, and comment.md.
# Arguments are further flags of plan, such as -var-file=prod.hcl.
set -eu
deployster plan -input=false -out=plan.bin "$@" >plan.txt
deployster show -digest plan.bin >plan.digest
{
	printf '### Deployster plan\n\n```text\n'
	head -c 60000 plan.txt # comments have a limit of 65,536 characters
	printf '```\n\nTo apply exactly this plan, approve `%s`.\n' "$(cat plan.digest)"
} >comment.md
