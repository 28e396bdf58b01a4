package apt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/deb822"
	"deployster/protocol"
)

// rendered returns the text of a source's file. block is the key's text, or a path.
func rendered(c SourceConfig, block string) string {
	var b strings.Builder
	if c.KeyURL != "" {
		fmt.Fprintf(&b, "%s%s %s\n", keyComment, c.KeySHA256, sum(block))
	}
	field := func(name string, values []string) {
		if len(values) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(values, " "))
		}
	}
	field("Types", c.Types)
	field("URIs", c.URIs)
	field("Suites", c.Suites)
	field("Components", c.Components)
	field("Architectures", c.Architectures)
	if c.Trusted {
		b.WriteString("Trusted: yes\n")
	}
	switch block = strings.TrimSpace(block); {
	case strings.HasPrefix(block, "/"):
		fmt.Fprintf(&b, "Signed-By: %s\n", block)
	case block != "":
		b.WriteString("Signed-By:\n" + deb822.Lines(block))
	}
	return b.String()
}

// repository is one of those that apt's files name.
type repository struct {
	file       string // of the machine
	uri, suite string
}

// repositoriesBut returns the repositories in all files but one.
func repositoriesBut(m *access.Machine, but string) (found []repository, err error) {
	paths := []string{sourceList}
	for _, pattern := range []string{"/*.list", "/*.sources"} {
		more, err := filepath.Glob(m.Path(sourcesDir + pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range more {
			paths = append(paths, sourcesDir+"/"+filepath.Base(path))
		}
	}
	for _, path := range paths {
		text, err := os.ReadFile(m.Path(path))
		switch {
		case path == but || errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case strings.HasSuffix(path, ".sources"):
			for _, f := range deb822.Stanzas(string(text)) {
				if f["Enabled"] == "no" {
					continue
				}
				for _, uri := range strings.Fields(f["URIs"]) {
					for _, suite := range strings.Fields(f["Suites"]) {
						found = append(found, repository{path, uri, suite})
					}
				}
			}
		default:
			found = append(found, oneLine(path, string(text))...)
		}
	}
	return found, nil
}

// oneLine returns the repositories of a file of one line each: deb [options] URI SUITE COMPONENT...
func oneLine(path, text string) (found []repository) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "deb" && f[0] != "deb-src" {
			continue
		}
		if f = f[1:]; len(f) > 0 && strings.HasPrefix(f[0], "[") {
			for len(f) > 0 && !strings.HasSuffix(f[0], "]") {
				f = f[1:]
			}
			f = f[min(1, len(f)):]
		}
		if len(f) > 1 {
			found = append(found, repository{path, f[0], f[1]})
		}
	}
	return found
}

// twice refuses a repository that another file has: apt would have it two times, or refuse all.
func (k Source) twice(c *sourceCall) error {
	others, err := repositoriesBut(k.machine, sourcePath(c.Config.Name))
	if err != nil {
		return err
	}
	for i, uri := range c.Config.URIs {
		for _, suite := range c.Config.Suites {
			for _, r := range others {
				if strings.TrimSuffix(r.uri, "/") == strings.TrimSuffix(uri, "/") && r.suite == suite {
					return protocol.Errorf(protocol.ConfigError, fmt.Sprintf("/uris/%d", i),
						"%s has this repository already: %s %s. Remove it there, or choose the name of that file", r.file, r.uri, r.suite)
				}
			}
		}
	}
	return nil
}
