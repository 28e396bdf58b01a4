package workspace

import (
	"cmp"
	"net/url"
	"os/user"
	"strconv"
	"time"

	"deployster/internal/app/runs"
	"deployster/internal/base/rootless"
	"deployster/state/actions"
)

// RunURL names the variable with the URL of the run in a CI that deployster does not know.
const RunURL = "DEPLOYSTER_RUN_URL"

// maxRunURL is the maximum length of such a URL, in bytes.
const maxRunURL = 500

// Author returns who starts this command. env reads the environment.
func Author(env func(string) string) actions.Author {
	return actions.Author{User: userName(env), CI: runURL(env)}
}

// NewRun returns the record of a run that starts now. env reads the environment.
func NewRun(command, version string, env func(string) string) runs.Run {
	now := time.Now()
	return runs.Run{ID: runs.NewID(now), Command: command, Deployster: version, Started: now.UTC(),
		Host: actions.Myself("").Host, Author: Author(env)}
}

// userName returns the name of the user, and of the one who has become root by sudo.
func userName(env func(string) string) string {
	name := strconv.Itoa(rootless.UserID())
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	if before := env("SUDO_USER"); before != "" && before != name {
		return before + " as " + name
	}
	return name
}

// runURL returns the URL of the run of GitHub, GitLab or Jenkins; "" = none, or it is not a URL of http.
func runURL(env func(string) string) string {
	text := cmp.Or(env(RunURL), env("CI_JOB_URL"), env("BUILD_URL"))
	if id := env("GITHUB_RUN_ID"); text == "" && id != "" {
		text = env("GITHUB_SERVER_URL") + "/" + env("GITHUB_REPOSITORY") + "/actions/runs/" + id
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(text) > maxRunURL {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", "" // they may hold a password or a token
	return u.String()
}
