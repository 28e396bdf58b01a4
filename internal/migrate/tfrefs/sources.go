package tfrefs

import (
	"fmt"
	"strings"
)

// Published returns where a module that Terraform fetches could come from once it is published as
// manifests: a source of a module block. "" = the source is a directory.
func Published(source, version string) string {
	if strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../") {
		return ""
	}
	if rest, is := strings.CutPrefix(source, "git@"); is { // USER@HOST:PATH
		source = "git::ssh://git@" + strings.Replace(rest, ":", "/", 1)
	}
	for _, host := range []string{"github.com/", "bitbucket.org/", "gitlab.com/"} {
		if strings.HasPrefix(source, host) {
			repo, query, hasQuery := strings.Cut(source, "?")
			repo, dir, hasDir := strings.Cut(repo, "//")
			out := "git::https://" + strings.TrimSuffix(repo, ".git") + ".git"
			if hasDir {
				out += "//" + dir
			}
			if hasQuery {
				out += "?" + query
			}
			return out
		}
	}
	if strings.HasPrefix(source, "git::") && strings.Contains(source, "://") {
		return source
	}
	name, dir, hasDir := strings.Cut(source, "//")
	if parts := strings.Split(name, "/"); len(parts) < 3 || len(parts) > 4 || strings.Contains(name, ":") {
		return "git::https://HOST/PATH//DIRECTORY?ref=TAG"
	} else if len(parts) == 4 {
		name = strings.Join(parts[1:], "/")
	}
	tag := "TAG"
	if version != "" && !strings.ContainsAny(version, "<>=!~, ") {
		tag = version
	}
	out := fmt.Sprintf("oci://HOST/%s:%s", name, tag)
	if hasDir {
		out += "//" + dir
	}
	return out
}
