package apt

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"deployster/machine/internal/access"
)

// policy is what apt knows of a name.
type policy struct {
	candidate string // the version that it would install; "" = none
	versions  []available
	known     bool // false: no index has the name
}

// available is a version that can be installed.
type available struct {
	version string
	uris    []string // the repositories that have it; none: only the machine itself
}

// cacheTries is how often a query is repeated while somebody else changes what apt's cache is made of.
const cacheTries = 40

// cached runs a query of apt's cache. Where dpkg or apt changes a file while the query reads it, apt gives up.
func cached(ctx context.Context, m *access.Machine, args ...string) (string, error) {
	for try := 1; ; try++ {
		text, err := output(ctx, m, args...)
		exit, ended := errors.AsType[*access.ExitError](err)
		if !ended || try == cacheTries || !strings.Contains(exit.Output, "Cache is out of sync") {
			return text, err
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(lockPoll):
		}
	}
}

// policyOf queries apt for a name.
func (g manager) policyOf(ctx context.Context, name string) (policy, error) {
	return g.policies.find(g.machine, name, func() (policy, error) {
		text, err := cached(ctx, g.machine, "apt-cache", "policy", "--", name)
		if err != nil {
			return policy{}, err
		}
		return parsePolicy(text)
	})
}

// parsePolicy reads what apt-cache policy prints of one name: nothing if it is unknown.
func parsePolicy(text string) (p policy, err error) {
	table := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		fields := strings.Fields(strings.TrimPrefix(trimmed, "*** "))
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case len(fields) == 0:
		case indent == 0:
			p.known = true
		case !table:
			if value, is := strings.CutPrefix(trimmed, "Candidate: "); is && value != "(none)" {
				p.candidate = value
			}
			table = trimmed == "Version table:"
		case len(fields) < 2:
			return p, fmt.Errorf("apt-cache policy printed %q, which is not a version", trimmed)
		case indent <= 5: // " *** 1.2 500" and "     1.2 500"
			p.versions = append(p.versions, available{version: fields[0]})
		default: // "        500 http://deb.example/debian bookworm/main amd64 Packages"
			if _, err := strconv.Atoi(fields[0]); err != nil || len(p.versions) == 0 {
				return p, fmt.Errorf("apt-cache policy printed %q, which is not a source", trimmed)
			}
			if last := &p.versions[len(p.versions)-1]; len(fields) > 2 {
				last.uris = append(last.uris, strings.TrimSuffix(fields[1], "/"))
			}
		}
	}
	return p, nil
}

// virtual reports whether the name is only provided by other packages.
func (p policy) virtual() bool { return p.known && len(p.versions) == 0 }

// choose returns the newest version that matches a pattern and that one of the repositories has;
// "" stands for the candidate, no repositories for all.
func (p policy) choose(pattern string, repositories []string) (version string, ok bool) {
	if pattern == "" && len(repositories) == 0 {
		return p.candidate, p.candidate != ""
	}
	for _, v := range p.versions { // the newest first
		if len(v.uris) > 0 && (pattern == "" || matches(pattern, v.version)) && v.from(repositories) {
			return v.version, true
		}
	}
	return "", false
}

func (v available) from(repositories []string) bool {
	for _, r := range repositories {
		for _, uri := range v.uris {
			if uri == strings.TrimSuffix(r, "/") {
				return true
			}
		}
	}
	return len(repositories) == 0
}

// matches reports whether a version is the one that a config gives, or matches its pattern.
func matches(pattern, version string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", ""), strings.ReplaceAll(version, "/", ""))
	return pattern == version || err == nil && ok
}

// providersOf returns the packages that can be installed and that provide a virtual name.
func providersOf(ctx context.Context, m *access.Machine, name string) ([]string, error) {
	text, err := cached(ctx, m, "apt-cache", "showpkg", "--", name)
	if err != nil {
		return nil, err
	}
	return parseProviders(text), nil
}

// parseProviders reads the last part of what apt-cache showpkg prints: "exim4 4.96 (= )".
func parseProviders(text string) (names []string) {
	_, list, _ := strings.Cut(text, "Reverse Provides:")
	seen := map[string]bool{}
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); len(fields) > 1 && !seen[fields[0]] {
			seen[fields[0]] = true
			names = append(names, fields[0])
		}
	}
	return names
}
