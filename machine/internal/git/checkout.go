package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// runner runs git in a tree.
type runner struct {
	machine *access.Machine
	config  Config
	tree    string   // the directory of the machine
	env     []string // of all commands
	secrets string   // the directory with the key, of this process; "" = there is none
	log     io.Writer
}

// runner returns what runs git as the user of the tree.
func (k Git) runner(ctx context.Context, c *call) (*runner, error) {
	if err := k.owner(ctx, c); err != nil {
		return nil, err
	}
	uid, ok := k.Machine.UserID(ctx, c.Config.User)
	if !ok {
		return nil, fmt.Errorf("there is no user %s on this machine: correct /user, or depend on the resource that makes the user",
			c.Config.User)
	}
	r := &runner{machine: k.Machine, config: c.Config, tree: c.Config.Path, log: c.Log}
	// Nothing prompts, and nothing that git has in its environment leads elsewhere.
	r.env = []string{"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_ASKPASS=true", "LC_ALL=C.UTF-8"}
	ssh := []string{"ssh", "-o", "BatchMode=yes"}
	key := k.Machine.Path(c.Config.Key)
	if c.Config.KeyText != "" || c.Config.HostKeys != "" {
		if err := r.keep(uid, c.Config); err != nil {
			return nil, err
		}
	}
	if c.Config.KeyText != "" {
		key = filepath.Join(r.secrets, "key")
	}
	if c.Config.Key != "" || c.Config.KeyText != "" {
		ssh = append(ssh, "-o", "IdentitiesOnly=yes", "-i", key)
	}
	if c.Config.HostKeys != "" {
		ssh = append(ssh, "-o", "StrictHostKeyChecking=yes", "-o", "UserKnownHostsFile="+filepath.Join(r.secrets, "known_hosts"))
	}
	for i, word := range ssh {
		ssh[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	r.env = append(r.env, "GIT_SSH_COMMAND="+strings.Join(ssh, " "))
	return r, nil
}

// keep writes the key where the user alone can read it.
func (r *runner) keep(uid int, c Config) error {
	parent := r.machine.Path("/run/deployster-git")
	if err := os.MkdirAll(parent, 0o711); err != nil {
		return err
	}
	directory, err := os.MkdirTemp(parent, "key-")
	if err != nil {
		return err
	}
	r.secrets = directory
	for name, text := range map[string]string{"key": c.KeyText, "known_hosts": c.HostKeys} {
		if text == "" {
			continue
		}
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		path := filepath.Join(directory, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chown(path, uid, -1)); err != nil {
			return errors.Join(err, os.RemoveAll(directory))
		}
	}
	return os.Chown(directory, uid, -1)
}

func (r *runner) close() {
	if r.secrets != "" {
		_ = os.RemoveAll(r.secrets) // below /run: gone with the next boot at the latest
	}
}

// git runs one command of git.
func (r *runner) git(ctx context.Context, out io.Writer, args ...string) error {
	return r.machine.Run(ctx, access.Command{Args: append([]string{"git"}, args...), Env: r.env, Directory: r.tree, Stdout: out,
		User: r.config.User, Description: "git " + strings.Join(args, " ")})
}

// one returns what a command prints in one line.
func (r *runner) one(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	err := r.git(ctx, &out, args...)
	return strings.TrimSpace(out.String()), err
}

// list returns what a command prints, line by line.
func (r *runner) list(ctx context.Context, args ...string) (lines []string, err error) {
	var out bytes.Buffer
	err = r.git(ctx, &out, args...)
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines, err
}

// reference returns the name of the revision in the repository, and its commit.
func (r *runner) reference(ctx context.Context) (name, id string, err error) {
	revision := r.config.Revision
	if commit.MatchString(revision) {
		return "", revision, nil
	}
	tree := r.tree
	r.tree = "" // a tree may lead elsewhere by what it configures
	lines, err := r.list(ctx, "ls-remote", "--", r.config.URL)
	if r.tree = tree; err != nil {
		return "", "", protocol.Errorf(protocol.TransientError, "/url", "the repository cannot be queried for %s: %s", revision, err)
	}
	refs := map[string]string{}
	for _, line := range lines {
		if id, name, ok := strings.Cut(line, "\t"); ok {
			refs[name] = id
		}
	}
	var found []string
	for _, name := range []string{revision, "refs/heads/" + revision, "refs/tags/" + revision} {
		if refs[name] != "" {
			found = append(found, name)
		}
	}
	switch {
	case len(found) == 0:
		return "", "", protocol.Errorf(protocol.ConfigError, "/revision", "%s has neither a branch nor a tag %q", r.config.URL, revision)
	case len(found) > 1:
		return "", "", protocol.Errorf(protocol.ConfigError, "/revision", "%q is ambiguous in %s: write one of %s", revision, r.config.URL,
			strings.Join(found, ", "))
	}
	id = refs[found[0]]
	if peeled := refs[found[0]+"^{}"]; peeled != "" { // an annotated tag
		id = peeled
	}
	return found[0], id, nil
}

func (r *runner) wanted(ctx context.Context) (string, error) {
	_, id, err := r.reference(ctx)
	return id, err
}

// Write checks the revision out: into a directory beside the place if there is no tree, so that
// there is never a half of one.
func (k Git) Write(ctx context.Context, c *call) error {
	if err := k.check(c); err != nil {
		return err
	}
	there, err := k.there(c)
	if err != nil {
		return err
	}
	if err := files.Parent(k.Machine, c.Config.Path); err != nil {
		return err
	}
	unlock, err := replace.Lock(ctx, k.Machine, c.Config.Path)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := k.runner(ctx, c)
	if err != nil {
		return err
	}
	defer r.close()
	if there {
		if err := r.git(ctx, nil, "config", "remote.origin.url", c.Config.URL); err != nil {
			return err
		}
		return r.checkout(ctx, c.Args)
	}
	return k.clone(ctx, c, r)
}

func (k Git) clone(ctx context.Context, c *call, r *runner) (err error) {
	beside := filepath.Join(filepath.Dir(c.Config.Path), "."+filepath.Base(c.Config.Path)+".deployster-new")
	if err := replace.RemoveAll(k.Machine, beside); err != nil { // of an earlier run
		return err
	}
	uid, _ := k.Machine.UserID(ctx, c.Config.User)
	if err := replace.MakeDirectory(k.Machine, beside, replace.Properties{UID: &uid}); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, replace.RemoveAll(k.Machine, beside))
		}
	}()
	r.tree = beside
	for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", c.Config.URL}} {
		if err := r.git(ctx, nil, args...); err != nil {
			return err
		}
	}
	if err := r.checkout(ctx, nil); err != nil {
		return err
	}
	if err := unix.Rename(k.Machine.Path(beside), k.Machine.Path(c.Config.Path)); err != nil { // an empty directory there is replaced
		return fmt.Errorf("%s cannot be made: %w", c.Config.Path, err)
	}
	return nil
}

// deployed is a reference to what this kind has checked out last: no branch has a commit that was
// fetched by itself, or that was taken out of its branch.
const deployed = "refs/deployster/checkout"

// checkout fetches the revision, and has its commit in the tree: that which the plan has named, if
// it has.
func (r *runner) checkout(ctx context.Context, planned []string) error {
	name, id, err := r.reference(ctx)
	if err != nil {
		return err
	}
	if len(planned) > 0 {
		id = planned[0]
	}
	if err := r.fetch(ctx, name, id); err != nil {
		return err
	}
	args := []string{"-c", "advice.detachedHead=false", "checkout", "-q", "--detach"}
	if r.config.Force {
		args = append(args, "--force")
	}
	if err := r.git(ctx, nil, append(args, id)...); err != nil {
		return err
	}
	if err := r.git(ctx, nil, "update-ref", deployed, id); err != nil {
		return err
	}
	if !r.config.Submodules {
		return nil
	}
	args = []string{"submodule", "update", "-q", "--init", "--recursive"}
	if r.config.Force {
		args = append(args, "--force")
	}
	return r.git(ctx, nil, slices.Concat(args, r.depth())...)
}

func (r *runner) depth() []string {
	if r.config.Depth == 0 {
		return nil
	}
	return []string{"--depth", strconv.Itoa(r.config.Depth)}
}

// fetch has a commit in the tree's repository.
func (r *runner) fetch(ctx context.Context, name, id string) error {
	has := func() bool { return r.git(ctx, io.Discard, "cat-file", "-e", id+"^{commit}") == nil }
	fetch := func(what ...string) error {
		return r.git(ctx, nil, slices.Concat([]string{"fetch", "-q", "--no-tags"}, r.depth(), []string{"origin"}, what)...)
	}
	var err error
	switch {
	case has() && name == "":
		return nil
	case name == "": // a commit: a server may give no single ones
		if err = fetch(id); err != nil {
			err = fetch("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
		}
	case strings.HasPrefix(name, "refs/heads/"):
		err = fetch("+" + name + ":refs/remotes/origin/" + strings.TrimPrefix(name, "refs/heads/"))
	case strings.HasPrefix(name, "refs/tags/"):
		err = fetch("+" + name + ":" + name)
	default:
		err = fetch("+" + name + ":refs/remotes/origin/HEAD")
	}
	if err != nil {
		return err
	}
	if has() || fetch(id) == nil && has() {
		return nil
	}
	return fmt.Errorf("the repository does not have the commit %s, or not within the depth: plan again if the revision has moved", id)
}
