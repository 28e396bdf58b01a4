package apt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"deployster/machine/internal/access"
	"deployster/machine/internal/deb822"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// SourceConfig is what a user writes about a repository of packages.
type SourceConfig struct {
	Name          string   `json:"name" pattern:"^[A-Za-z0-9_-][A-Za-z0-9_.-]*$" deployster:"identity"`
	Types         []string `json:"types,omitempty" enum:"deb,deb-src" default:"[\"deb\"]"`
	URIs          []string `json:"uris" minItems:"1" pattern:"^[a-z+]+:[^ ]+$"`
	Suites        []string `json:"suites" minItems:"1" pattern:"^[^ ]+$"`
	Components    []string `json:"components,omitempty" pattern:"^[^ ]+$"`
	Architectures []string `json:"architectures,omitempty" pattern:"^[a-z0-9-]+$"`
	Key           string   `json:"key,omitempty" minLength:"1"`
	KeyURL        string   `json:"key_url,omitempty" pattern:"^https?://"`
	KeySHA256     string   `json:"key_sha256,omitempty" pattern:"^[0-9a-f]{64}$"`
	Trusted       bool     `json:"trusted,omitempty"`
}

var sourceDocs = map[string]string{
	"name":          "The name of the source: that of its file in /etc/apt/sources.list.d, without .sources.",
	"types":         "deb for packages, deb-src for their sources.",
	"uris":          "Where the repository is.",
	"suites":        "The suites, such as bookworm. One that ends with / is a directory, and then there are no components.",
	"components":    "The components, such as main.",
	"architectures": "Only these architectures. Left out, those of the machine.",
	"key": "The key that signs the repository: its text (BEGIN PGP PUBLIC KEY BLOCK), or the path of a keyring of the machine. Left " +
		"out, and without key_url, apt accepts the keys that it trusts for all.",
	"key_url":    "Where the key is fetched from, in place of key. It is fetched once, and must have key_sha256.",
	"key_sha256": "The checksum of what is at key_url, in hexadecimal digits.",
	"trusted":    "Whether the repository is used without a signature. Whoever can change what comes from it is then root here.",
}

// SourceState is what exists.
type SourceState struct {
	Name       string   `json:"name" doc:"the name in the config"`
	Path       string   `json:"path" doc:"the path of its file"`
	URIs       []string `json:"uris" doc:"where the repository is"`
	Suites     []string `json:"suites" doc:"its suites"`
	Components []string `json:"components" doc:"its components"`
	KeyExpires string   `json:"key_expires" doc:"the day on which its key expires, never, or empty if the key is not in the file"`

	text string
	link string
}

type sourceCall = protocol.Call[SourceConfig, SourceState]

// Source is the kind of apt's repositories.
type Source struct {
	manager
	one *sync.Mutex // held by an action: each changes the directory of all sources
}

// NewSource returns the kind apt_source.
func NewSource(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Source{newManager(m), &sync.Mutex{}}, protocol.About{Label: "Source of packages",
		Kind: "linux/apt_source", Worker: true, Unknowns: true, Docs: sourceDocs})
}

func (k Source) check(c *sourceCall) error {
	if err := check(k.machine); err != nil {
		return err
	}
	if bare, is := strings.CutSuffix(c.Config.Name, ".sources"); is {
		return protocol.Errorf(protocol.ConfigError, "/name", "a source has its name without .sources: write %q", bare)
	}
	flat := func(suite string) bool { return strings.HasSuffix(suite, "/") }
	for i, suite := range c.Config.Suites {
		switch pointer := fmt.Sprintf("/suites/%d", i); {
		case c.IsUnknown("/suites") || c.IsUnknown("/components"):
		case flat(suite) && len(c.Config.Components) > 0:
			return protocol.Errorf(protocol.ConfigError, pointer, "%s is a directory, which has no components", suite)
		case !flat(suite) && len(c.Config.Components) == 0:
			return protocol.Errorf(protocol.ConfigError, pointer, "the suite %s has components: name them, such as main", suite)
		}
	}
	return k.checkKey(c)
}

// Read returns the source's file, or nil.
func (k Source) Read(_ context.Context, c *sourceCall) (*SourceState, error) {
	if err := k.check(c); err != nil {
		return nil, err
	}
	path := sourcePath(c.Config.Name)
	state := &SourceState{Name: c.Config.Name, Path: path}
	info, err := os.Lstat(k.machine.Path(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		if c.Intent == protocol.Absent {
			return nil, nil
		}
		state.link, err = os.Readlink(k.machine.Path(path))
	default:
		var text []byte
		text, err = os.ReadFile(k.machine.Path(path))
		state.text = string(text)
	}
	if err != nil {
		return nil, err
	}
	fields := deb822.First(state.text)
	state.URIs, state.Suites, state.Components = words(fields["URIs"]), words(fields["Suites"]), words(fields["Components"])
	state.KeyExpires = expiry(fields["Signed-By"])
	return state, nil
}

// words returns the words of a field; never nil, so that the state has a list.
func words(text string) []string { return append([]string{}, strings.Fields(text)...) }

// Plan compares the file with what the config makes of it.
func (k Source) Plan(_ context.Context, c *sourceCall, have *SourceState) (*protocol.Plan, error) {
	if len(c.Unknown) == 0 {
		if err := k.twice(c); err != nil {
			return nil, err
		}
	}
	forecast := map[string]any{"name": c.Config.Name, "path": sourcePath(c.Config.Name), "uris": c.Config.URIs, "suites": c.Config.Suites,
		"components": append([]string{}, c.Config.Components...)}
	plan := &protocol.Plan{Actions: []protocol.Action{{Name: "create"}}, Forecast: forecast}
	plan.Actions[0].Description = "Fetch its indexes, and add the source"
	for _, name := range []string{"uris", "suites", "components"} {
		if c.IsUnknown("/" + name) {
			delete(forecast, name)
		}
	}
	if have == nil {
		return plan, nil
	}
	plan.Actions[0] = protocol.Action{Name: "update"}
	plan.Actions[0].Description = "Fetch its indexes, and change the source"
	block, known := k.keyIn(c, have)
	text := rendered(c.Config, block)
	switch {
	case len(c.Unknown) > 0:
		for _, pointer := range c.Unknown {
			plan.Reasons = append(plan.Reasons, protocol.Reason{Path: pointer, Message: "known only after other actions"})
		}
	case have.link != "":
		plan.Reasons = []protocol.Reason{{Message: have.Path + " is a link to " + have.link + ", and is replaced"}}
	case known && have.text == text:
		return nil, nil
	default:
		plan.Reasons = differences(have.text, text, known)
	}
	if known {
		forecast["key_expires"] = expiry(block)
	} else {
		plan.Unknown = append(plan.Unknown, "/key_expires")
	}
	for _, name := range []string{"uris", "suites", "components"} {
		if c.IsUnknown("/" + name) {
			plan.Unknown = append(plan.Unknown, "/"+name)
		}
	}
	return plan, nil
}

// pointers lead to the values of the config that make a field.
var pointers = map[string]string{"Types": "/types", "URIs": "/uris", "Suites": "/suites", "Components": "/components",
	"Architectures": "/architectures", "Signed-By": "/key", "Trusted": "/trusted"}

// differences returns how a file differs from what it is to be, field by field.
func differences(have, want string, keyKnown bool) (reasons []protocol.Reason) {
	h, w := deb822.First(have), deb822.First(want)
	if !keyKnown {
		reasons = append(reasons, protocol.Reason{Path: "/key_sha256", Message: "the file has another key, or none"})
	}
	for _, name := range []string{"Types", "URIs", "Suites", "Components", "Architectures", "Trusted", "Signed-By"} {
		if h[name] == w[name] || name == "Signed-By" && !keyKnown {
			delete(h, name)
			continue
		}
		r := protocol.Reason{Path: pointers[name]}
		if name == "Signed-By" {
			r.Message = "the file has another key"
		} else {
			r.Have, _ = json.Marshal(h[name])
			r.Want, _ = json.Marshal(w[name])
		}
		reasons = append(reasons, r)
		delete(h, name)
	}
	for name, value := range h {
		reasons = append(reasons, protocol.Reason{Message: "somebody has added " + name + ": " + value})
	}
	if len(reasons) == 0 {
		reasons = []protocol.Reason{{Message: "the file has other lines"}}
	}
	slices.SortFunc(reasons, func(a, b protocol.Reason) int { return strings.Compare(a.Path+a.Message, b.Path+b.Message) })
	return reasons
}

// Write fetches the indexes of the source as it is to be, and then writes its file.
func (k Source) Write(ctx context.Context, c *sourceCall) error {
	k.one.Lock()
	defer k.one.Unlock()
	if err := k.twice(c); err != nil {
		return err
	}
	now, err := k.Read(ctx, c)
	if err != nil {
		return err
	}
	block, known := "", false
	if now != nil {
		block, known = k.keyIn(c, now)
	}
	if !known {
		if block, err = k.key(ctx, c); err != nil {
			return err
		}
	}
	text := rendered(c.Config, block)
	if err := k.fetch(ctx, c, text, block); err != nil {
		return err
	}
	return k.keepingTime(func() error {
		unlock, err := replace.Lock(ctx, k.machine, sourcePath(c.Config.Name))
		if err != nil {
			return err
		}
		defer unlock()
		mode, root := uint32(0o644), 0
		return replace.File(ctx, k.machine, sourcePath(c.Config.Name), replace.Change{Content: strings.NewReader(text), Mode: &mode,
			UID: &root, GID: &root})
	})
}

// fetch updates the indexes of a source that apt does not have yet, so that one which does not
// work is never there.
func (k Source) fetch(ctx context.Context, c *sourceCall, text, block string) (err error) {
	dir := k.machine.Path("/run/deployster-machine")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	dir, err = os.MkdirTemp(dir, "source-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, c.Config.Name+".sources")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	err = aptGet(ctx, k.machine, c.Out, "-o", "Dir::Etc::sourcelist="+file, "-o", "Dir::Etc::sourceparts=-",
		"-o", "APT::Get::List-Cleanup=0", "-o", "APT::Update::Error-Mode=any", "update")
	if err == nil {
		return nil
	}
	why := ""
	if on := expiry(block); on != "" && on != never && on <= time.Now().UTC().Format(time.DateOnly) {
		why = fmt.Sprintf(" (its key has expired on %s)", on)
	}
	return fmt.Errorf("the source %s does not work%s, and was not changed: %w", c.Config.Name, why, err)
}

// keepingTime changes the directory of the sources, and sets its time back: the indexes of what
// has changed were fetched before, and those of the others are as old as they were.
func (k Source) keepingTime(change func() error) error {
	before, err := modified(k.machine, sourcesDir)
	if err != nil {
		return err
	}
	if before.IsZero() {
		return errors.Join(os.MkdirAll(k.machine.Path(sourcesDir), 0o755), change())
	}
	err = change()
	return errors.Join(err, os.Chtimes(k.machine.Path(sourcesDir), before, before))
}

// Delete removes the source's file.
func (k Source) Delete(ctx context.Context, c *sourceCall) error {
	k.one.Lock()
	defer k.one.Unlock()
	unlock, err := replace.Lock(ctx, k.machine, sourcePath(c.Config.Name))
	if err != nil {
		return err
	}
	defer unlock()
	return k.keepingTime(func() error { return replace.Remove(k.machine, sourcePath(c.Config.Name)) })
}

// Watch reports changes of the file.
func (k Source) Watch(ctx context.Context, c *sourceCall, tell func(string)) error {
	return files.Watch(ctx, k.machine, sourcePath(c.Config.Name), tell)
}

// Discover lists the sources in files of this form that have one stanza.
func (k Source) Discover(_ context.Context, _ *sourceCall, tell func(SourceConfig, string) error) error {
	paths, err := filepath.Glob(k.machine.Path(sourcesDir + "/*.sources"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // removed meanwhile
		}
		f := deb822.First(string(text))
		if len(deb822.Stanzas(string(text))) != 1 || f["URIs"] == "" || f["Enabled"] == "no" {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(path), ".sources")
		found := SourceConfig{Name: name, Types: words(f["Types"]), URIs: words(f["URIs"]), Suites: words(f["Suites"]),
			Components: strings.Fields(f["Components"]), Architectures: strings.Fields(f["Architectures"]), Key: f["Signed-By"],
			Trusted: f["Trusted"] == "yes"}
		if err := tell(found, name); err != nil {
			return err
		}
	}
	return nil
}
