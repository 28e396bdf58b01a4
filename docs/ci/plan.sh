#!/bin/sh
# Plans and writes what a reviewer needs: plan.bin, its digest in plan.digest, and comment.md.
# PROJECT is the name of the project in the comment, where a repository has several; plan.code is 2 where
# there are changes, else 0. Arguments are further flags of plan, such as -var-file=prod.hcl.
set -eu
code=0
deployster plan -input=false -detailed-exitcode -out=plan.bin "$@" || code=$?
case $code in 0|2) ;; *) exit "$code" ;; esac
echo "$code" >plan.code
deployster show -digest plan.bin >plan.digest
{ [ "${PROJECT:-.}" = . ] || printf '## %s\n\n' "$PROJECT"; deployster show -markdown plan.bin; } >comment.md
