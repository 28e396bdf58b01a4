package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// Config is what a user writes about a tree.
type Config struct {
	Path       string `json:"path" pattern:"^/." deployster:"identity"`
	URL        string `json:"url" pattern:"^[^\\s-][^\\s]*$"`
	Revision   string `json:"revision" default:"HEAD" pattern:"^[A-Za-z0-9_][A-Za-z0-9_./+-]*$"`
	Depth      int    `json:"depth,omitempty" minimum:"0" maximum:"1000000"`
	Submodules bool   `json:"submodules,omitempty"`
	User       string `json:"user" default:"root" pattern:"^[^\\s]+$"`
	Key        string `json:"key,omitempty" pattern:"^/"`
	KeyText    string `json:"key_text,omitempty" writeOnly:"true"`
	HostKeys   string `json:"host_keys,omitempty"`
	Force      bool   `json:"force,omitempty"`
}

var docs = map[string]string{
	"path":       "The absolute path of the tree.",
	"url":        "The repository, as git names it.",
	"revision":   "A branch, a tag, or a commit with all its 40 digits. HEAD is the branch that the repository shows first.",
	"depth":      "How many commits of the history are fetched; 0 = all.",
	"submodules": "Whether its submodules are checked out too.",
	"user":       "The user to whom the tree belongs, and who runs git.",
	"key":        "The path of a private key of ssh on the machine.",
	"key_text":   "The private key itself, in place of key. It is on the machine only while git runs.",
	"host_keys":  "Lines of known_hosts for the server. Left out, those of the machine count; a server that they do not know is an error.",
	"force":      "Whether changes and commits that were made in the tree are overwritten, which the plan calls destructive.",
}

// State is what exists.
type State struct {
	Commit  string   `json:"commit" doc:"the commit that is checked out"`
	URL     string   `json:"url" doc:"the repository of the tree"`
	Changed []string `json:"changed,omitempty" doc:"files of the commit that were changed in the tree, and submodules with another commit"`

	wanted  string // the commit of the revision in the repository
	own     bool   // the commit is in no branch and no tag of the repository
	modules bool   // submodules are to be checked out
	foreign []string
}

type call = protocol.Call[Config, State]

// Git is the kind of trees that are checked out.
type Git struct{ Machine *access.Machine }

// New returns the kind git.
func New(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Git{m}, protocol.About{Label: "Git checkout", Kind: "linux/git", Worker: true, Unknowns: true, Docs: docs,
		AutoEdges: []protocol.AutoEdge{{Kind: "linux/directory", By: "/path", Parents: true}, {Kind: "linux/user", By: "/user"},
			{Kind: "linux/file", By: "/key"}}})
}

var commit = regexp.MustCompile(`^[0-9a-f]{40}$`)

func (k Git) check(c *call) error {
	if err := k.Machine.CheckPath("/path", c.Config.Path); err != nil {
		return err
	}
	switch short := regexp.MustCompile(`^[0-9a-f]{7,39}$`).MatchString(c.Config.Revision); {
	case c.Config.Key != "" && c.Config.KeyText != "":
		return protocol.Errorf(protocol.ConfigError, "/key_text", "key and key_text exclude each other: give one of them")
	case short && strings.ContainsAny(c.Config.Revision, "0123456789") && !c.IsUnknown("/revision"):
		return protocol.Errorf(protocol.ConfigError, "/revision", "%q is a part of a commit: write all its 40 digits", c.Config.Revision)
	case strings.Contains(c.Config.Revision, ".."):
		return protocol.Errorf(protocol.ConfigError, "/revision", "%q is not one revision", c.Config.Revision)
	case passwordInURL.MatchString(c.Config.URL):
		return protocol.Errorf(protocol.ConfigError, "/url", "the URL has a password, which git would keep in the tree: use a key")
	}
	return nil
}

var passwordInURL = regexp.MustCompile(`^[a-z+]+://[^/@]*:[^/@]*@`)

// Read reads the tree, and queries the repository for the commit of the revision. It changes
// neither.
func (k Git) Read(ctx context.Context, c *call) (*State, error) {
	if err := k.check(c); err != nil {
		return nil, err
	}
	there, err := k.there(c)
	if err != nil || !there {
		return nil, err
	}
	r, err := k.runner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer r.close()
	s := &State{}
	if s.Commit, err = r.one(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}"); err != nil {
		return nil, fmt.Errorf("%s has no commit: %w", c.Config.Path, err)
	}
	if s.URL, err = r.one(ctx, "config", "--get", "remote.origin.url"); err != nil {
		s.URL = ""
	}
	if s.Changed, err = r.list(ctx, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"); err != nil {
		return nil, err
	}
	for i, line := range s.Changed {
		s.Changed[i] = strings.Trim(strings.TrimSpace(line[2:]), `"`)
	}
	if s.foreign, err = r.list(ctx, "status", "--porcelain", "--untracked-files=normal", "--ignored=traditional"); err != nil {
		return nil, err
	}
	if c.Intent == protocol.Absent || slices.ContainsFunc([]string{"/url", "/revision"}, c.IsUnknown) {
		return s, nil
	}
	if c.Config.Submodules {
		modules, err := r.list(ctx, "submodule", "status", "--recursive")
		if err != nil {
			return nil, err
		}
		for _, line := range modules {
			if line[0] != ' ' {
				s.modules = true
			}
		}
	}
	if s.wanted, err = r.wanted(ctx); err != nil {
		return nil, err
	}
	if s.Commit != s.wanted {
		refs, err := r.list(ctx, "for-each-ref", "--count=1", "--contains", s.Commit, "refs/remotes", "refs/tags", deployed)
		if err != nil {
			return nil, err
		}
		s.own = len(refs) == 0
	}
	return s, nil
}

// there reports whether a tree is at the path. Anything else there but an empty directory is an error.
func (k Git) there(c *call) (bool, error) {
	real := k.Machine.Path(c.Config.Path)
	info, err := os.Lstat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir() && c.Intent == protocol.Absent:
		return false, nil
	case !info.IsDir():
		return false, protocol.Errorf(protocol.ConfigError, "/path", "%s is not a directory: remove it first, or choose another path",
			c.Config.Path)
	}
	if _, err := os.Lstat(filepath.Join(real, ".git")); err == nil {
		return true, nil
	}
	entries, err := os.ReadDir(real)
	if err == nil && len(entries) > 0 && c.Intent == protocol.Present {
		err = protocol.Errorf(protocol.ConfigError, "/path", "%s is not empty, and is not a tree of git: move it away first",
			c.Config.Path)
	}
	return false, err
}

// owner returns an error if the tree belongs to another user: git refuses it, and its hooks and
// filters would run as somebody who did not choose them.
func (k Git) owner(ctx context.Context, c *call) error {
	info, err := os.Lstat(k.Machine.Path(c.Config.Path))
	if err != nil {
		return nil // it is made
	}
	uid := int(info.Sys().(*syscall.Stat_t).Uid)
	if id, ok := k.Machine.UserID(ctx, c.Config.User); ok && id == uid {
		return nil
	}
	entries, err := os.ReadDir(k.Machine.Path(c.Config.Path))
	if err == nil && len(entries) == 0 {
		return nil
	}
	return protocol.Errorf(protocol.ConfigError, "/user", "%s belongs to %s, and git does not run in the tree of another user: "+
		"set user to that", c.Config.Path, k.Machine.UserText(ctx, uid, ""))
}

// Plan compares the commit, the repository and the files.
func (k Git) Plan(ctx context.Context, c *call, have *State) (*protocol.Plan, error) {
	plan := &protocol.Plan{Actions: []protocol.Action{{Name: "create"}}, Forecast: map[string]any{"url": c.Config.URL}}
	if c.IsUnknown("/url") {
		plan.Forecast = nil
	}
	unknown := slices.ContainsFunc([]string{"/url", "/revision"}, c.IsUnknown)
	if have == nil {
		if _, ok := k.Machine.UserID(ctx, c.Config.User); !ok {
			plan.Reasons = []protocol.Reason{{Path: "/user", Message: "there is no user " + c.Config.User + " on this machine yet"}}
		}
		return plan, nil // the commit is known when the repository is fetched
	}
	plan.Actions[0].Name, plan.Unknown = "update", []string{"/changed"}
	if unknown {
		plan.Unknown = append(plan.Unknown, "/commit", "/url")
		plan.Reasons = []protocol.Reason{{Path: "/revision", Message: "known only after other actions"}}
		return plan, nil
	}
	because := func(path, text string, values ...any) {
		r := protocol.Reason{Path: path, Message: text}
		if len(values) == 2 {
			r.Have, _ = json.Marshal(values[0])
			r.Want, _ = json.Marshal(values[1])
		}
		plan.Reasons = append(plan.Reasons, r)
	}
	if have.Commit != have.wanted {
		because("/revision", "another commit is checked out", have.Commit, have.wanted)
	}
	if have.URL != c.Config.URL {
		because("/url", "it is a tree of another repository", have.URL, c.Config.URL)
	}
	if have.modules {
		because("/submodules", "a submodule is missing or has another commit")
	}
	for _, pointer := range c.ChangedSecrets {
		because(pointer, "the secret at "+pointer+" has changed")
	}
	lost := ""
	if have.own {
		lost = "the commit " + have.Commit + ", which the repository does not have"
	} else if len(have.Changed) > 0 {
		lost = "what was changed in the tree: " + some(have.Changed)
	}
	if lost != "" && !c.Config.Force {
		return nil, protocol.Errorf(protocol.ConfigError, "/force", "%s has %s: take care of that, or set force = true to overwrite it",
			c.Config.Path, lost)
	}
	if lost != "" {
		because("/path", "the tree has "+lost)
		plan.Actions[0].Destructive, plan.Actions[0].Description = true, "Overwrite "+lost
	}
	if len(plan.Reasons) == 0 {
		return nil, nil
	}
	plan.Actions[0].Args = []string{"update", have.wanted}
	plan.Forecast = map[string]any{"url": c.Config.URL, "commit": have.wanted}
	return plan, nil
}

// shownNames is how many names a text has.
const shownNames = 5

func some(names []string) string {
	text := strings.Join(names[:min(len(names), shownNames)], ", ")
	if more := len(names) - shownNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// PlanAbsence calls the removal destructive if the tree has what the repository has not.
func (k Git) PlanAbsence(_ context.Context, _ *call, have *State) (*protocol.Plan, error) {
	action := protocol.Action{Name: "delete", Description: "Remove the tree"}
	if len(have.foreign) > 0 {
		var names []string
		for _, line := range have.foreign {
			names = append(names, strings.Trim(strings.TrimSpace(line[2:]), `"`))
		}
		action.Destructive, action.Description = true, "Remove the tree, with what is not in the repository: "+some(names)
	}
	return &protocol.Plan{Actions: []protocol.Action{action}}, nil
}

// Delete removes the tree.
func (k Git) Delete(ctx context.Context, c *call) error {
	if there, err := k.there(c); err != nil || !there {
		return err
	}
	unlock, err := replace.Lock(ctx, k.Machine, c.Config.Path)
	if err != nil {
		return err
	}
	defer unlock()
	return replace.RemoveAll(k.Machine, c.Config.Path)
}

// Watch reports that another commit is checked out.
func (k Git) Watch(ctx context.Context, c *call, tell func(detail string)) error {
	return files.WatchAll(ctx, tell,
		func(ctx context.Context, tell func(string)) error {
			return files.Watch(ctx, k.Machine, c.Config.Path, tell)
		},
		func(ctx context.Context, tell func(string)) error {
			return files.Watch(ctx, k.Machine, c.Config.Path+"/.git/HEAD", tell)
		})
}
