#!/bin/sh
# What the action for GitHub keeps about a request, as a status of the commit that was planned:
#   github.sh reviewed COMMIT DIGEST   the plan of this project at that commit has this digest
#   github.sh digest COMMIT            prints it for the request that was merged as COMMIT
# PROJECT names the project; gh needs GH_TOKEN, and GITHUB_REPOSITORY is set by the runner.
set -eu
context=deployster/${PROJECT:-.}
case $1 in
reviewed)
	gh api --silent -X POST "repos/$GITHUB_REPOSITORY/statuses/$2" -f state=success -f "context=$context" -f "description=$3" ;;
digest)
	head=$(gh api "repos/$GITHUB_REPOSITORY/commits/$2/pulls" -q '.[0].head.sha // empty')
	[ -n "$head" ] || { echo "no request was merged as commit $2: apply by hand, with the digest that was reviewed" >&2; exit 1; }
	digest=$(gh api "repos/$GITHUB_REPOSITORY/commits/$head/statuses?per_page=100" -q "map(select(.context == \"$context\"))[0].description // empty")
	case $digest in
	sha256:*) echo "$digest" ;;
	*) echo "commit $head has no plan of $context: run its plan again, then this" >&2; exit 1 ;;
	esac ;;
esac
