//go:build machines

package git_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/testkit/machines"
	"deployster/machine/internal/access"
	"deployster/machine/internal/git"
	"deployster/machine/internal/kindtest"
	"deployster/protocol"
)

func TestMain(m *testing.M) {
	os.Exit(machines.RunInside(m, "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends git"))
}

type config = kindtest.Config

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// repository is a repository with the branch main, which has one file.
type repository struct {
	t         *testing.T
	directory string
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"}, args...)...)
	c.Dir = r.directory
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits a content of the file a, and returns the commit.
func (r repository) commit(text string) string {
	r.t.Helper()
	must(r.t, os.WriteFile(filepath.Join(r.directory, "a"), []byte(text), 0o644))
	r.git("add", "a")
	r.git("commit", "-q", "--allow-empty", "-m", text)
	return r.git("rev-parse", "HEAD")
}

func made(t *testing.T) (*access.Machine, repository, *kindtest.Resource, config) {
	t.Helper()
	m := &access.Machine{Root: t.TempDir()}
	must(t, os.MkdirAll(m.Path("/srv"), 0o755))
	r := repository{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	must(t, os.MkdirAll(m.Path("/etc"), 0o755))
	must(t, os.WriteFile(m.Path("/etc/passwd"), []byte("root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1::/:/bin/sh\n"), 0o644))
	return m, r, kindtest.New(t, git.New(m)), config{"path": "/srv/app", "url": "file://" + r.directory, "revision": "main"}
}

func holds(t *testing.T, m *access.Machine, want string) {
	t.Helper()
	if got, err := os.ReadFile(m.Path("/srv/app/a")); err != nil || string(got) != want {
		t.Errorf("a holds %q (%v), and should hold %q", got, err, want)
	}
}

func commitOf(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var s git.State
	must(t, json.Unmarshal(raw, &s))
	return s.Commit
}

func TestGit_FollowsABranch(t *testing.T) {
	t.Parallel()
	m, repo, r, c := made(t)
	repo.commit("one")
	r.Apply(c)
	holds(t, m, "one")
	if a := r.State(c); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
	two := repo.commit("two")
	before := listing(t, m.Path("/srv/app/.git"))
	if a := r.State(c); a.Status != protocol.Stale || commitOf(t, a.Forecast) != two || a.Reasons[0].Path != "/revision" {
		t.Errorf("%+v", a)
	}
	if after := listing(t, m.Path("/srv/app/.git")); after != before {
		t.Errorf("the query has changed the tree:\n%s\n%s", before, after)
	}
	r.Apply(c)
	holds(t, m, "two")
	must(t, os.WriteFile(m.Path("/srv/app/upload"), []byte("theirs"), 0o600))
	if a := r.State(c); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
	if a := r.Destroy(c); !a.Actions[0].Destructive || !strings.Contains(a.Actions[0].Description, "upload") {
		t.Errorf("%+v", a)
	}
	if entries, err := os.ReadDir(m.Path("/srv")); err != nil || len(entries) != 0 {
		t.Errorf("%v %v", entries, err)
	}
}

func listing(t *testing.T, directory string) string {
	t.Helper()
	out, err := exec.Command("find", directory, "-printf", "%P %T@ %s\n").Output()
	must(t, err)
	return string(out)
}

func TestGit_TagsCommitsAndDepth(t *testing.T) {
	t.Parallel()
	m, repo, r, c := made(t)
	one := repo.commit("one")
	repo.git("tag", "v1")
	repo.commit("two")
	repo.git("tag", "-a", "-m", "x", "v2")
	repo.commit("three")
	repo.git("branch", "v2x")
	for revision, want := range map[string]string{"v1": "one", "v2": "two", one: "one", "HEAD": "three", "refs/tags/v2": "two", "v2x": "three"} {
		c["revision"], c["depth"] = revision, 1
		r.Last = nil
		r.Apply(c)
		holds(t, m, want)
		if a := r.State(c); a.Status != protocol.Valid {
			t.Errorf("%s: %+v", revision, a)
		}
	}
	repo.git("branch", "v1")
	c["revision"] = "v1"
	r.Fails(c, "config", "/revision", "ambiguous", "refs/heads/v1, refs/tags/v1")
	c["revision"] = "none"
	r.Fails(c, "config", "/revision", "neither a branch nor a tag")
	c["revision"] = one[:12]
	r.Fails(c, "config", "/revision", "all its 40 digits")
	c["revision"], c["url"] = "main", "file:///no/such"
	r.Fails(c, "transient", "/url", "cannot be queried")
	c["url"] = "https://me:secret@example.org/x"
	r.Fails(c, "config", "/url", "a password")
}

func TestGit_LocalChangesAreDriftAndKept(t *testing.T) {
	t.Parallel()
	m, repo, r, c := made(t)
	repo.commit("one")
	r.Apply(c)
	must(t, os.WriteFile(m.Path("/srv/app/a"), []byte("by hand"), 0o644))
	r.Fails(c, "config", "/force", "what was changed in the tree: a")
	holds(t, m, "by hand")
	c["force"] = true
	if a := r.Apply(c); !a.Actions[0].Destructive || !strings.Contains(a.Actions[0].Description, ": a") {
		t.Errorf("%+v", a)
	}
	holds(t, m, "one")
	delete(c, "force")
	local := repository{t, m.Path("/srv/app")}
	own := local.commit("local")
	r.Fails(c, "config", "/force", own, "which the repository does not have")
	holds(t, m, "local")
	c["force"] = true
	if a := r.Apply(c); !a.Actions[0].Destructive {
		t.Errorf("%+v", a)
	}
	holds(t, m, "one")
}

func TestGit_PlannedCommitIsCheckedOut(t *testing.T) {
	t.Parallel()
	m, repo, r, c := made(t)
	repo.commit("one")
	r.Apply(c)
	planned := repo.commit("two")
	a := r.State(c)
	if args := a.Actions[0].Args; len(args) != 2 || args[1] != planned {
		t.Errorf("%+v", a.Actions)
	}
	repo.commit("three") // after the plan
	raw, err := json.Marshal(map[string]any{"name": "x", "type": "x#git", "config": c, "intent": "present", "action": "update",
		"staleState": a.StaleState, "protocol": map[string]int{"min": 1, "max": 2}})
	must(t, err)
	var log bytes.Buffer
	if code := protocol.AnswerKind(t.Context(), map[string]protocol.Kind{"git": git.New(m)}, protocol.Process{Args: a.Actions[0].Args,
		Stdin: bytes.NewReader(raw), Stdout: &log, Stderr: &log}); code != 0 {
		t.Fatalf("%d: %s", code, log.String())
	}
	holds(t, m, "two")
	r.Apply(c)
	holds(t, m, "three")
}

func TestGit_TreeOfAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	m, repo, r, c := made(t)
	repo.commit("one")
	must(t, os.Chmod(repo.directory, 0o755))
	r.Apply(c)
	must(t, os.Lchown(m.Path("/srv/app"), 1, 1))
	r.Fails(c, "config", "/user", "belongs to daemon", "set user to that")
}

func TestGit_OtherDirectoriesAreKept(t *testing.T) {
	t.Parallel()
	m, repo, r, c := made(t)
	repo.commit("one")
	must(t, os.MkdirAll(m.Path("/srv/app/x"), 0o755))
	r.Fails(c, "config", "/path", "is not a tree of git")
	must(t, os.Remove(m.Path("/srv/app/x")))
	r.Apply(c) // an empty directory is taken
	other := repository{t, t.TempDir()}
	other.git("init", "-q", "-b", "main")
	other.commit("other")
	c["url"] = "file://" + other.directory
	if a := r.Apply(c); len(a.Reasons) != 2 || a.Reasons[1].Path != "/url" {
		t.Errorf("%+v", a.Reasons)
	}
	holds(t, m, "other")
}

func TestGit_FailedCloneLeavesNothing(t *testing.T) {
	t.Parallel()
	m, repo, r, c := made(t)
	repo.commit("one")
	c["revision"] = strings.Repeat("0", 40)
	r.Fails(c, "action create failed")
	if entries, err := os.ReadDir(m.Path("/srv")); err != nil || len(entries) != 0 {
		t.Errorf("%v %v", entries, err)
	}
}

// The tree of a user is made and read by the user: git refuses that of another one, and what it
// configures would run as root.
func TestGit_RunsAsTheUserOfTheTree(t *testing.T) {
	repo := repository{t, t.TempDir()}
	repo.git("init", "-q", "-b", "main")
	repo.commit("one")
	must(t, os.Chmod(filepath.Dir(repo.directory), 0o755))
	repo.git("clone", "-q", "--bare", repo.directory, "/srv/repository.git")
	must(t, exec.Command("chown", "-R", "daemon", "/srv/repository.git").Run())
	r := kindtest.New(t, git.New(&access.Machine{Root: "/"}))
	c := config{"path": "/srv/app", "url": "/srv/repository.git", "user": "daemon", "key_text": "secret"}
	r.Apply(c)
	out, err := exec.Command("sh", "-c", "find /srv/app ! -user daemon; find /run/deployster-git -mindepth 1").CombinedOutput()
	if must(t, err); len(out) > 0 {
		t.Errorf("%s", out)
	}
	hostile := "[core]\n\tfsmonitor = \"id -u >/tmp/ran-as; false\"\n"
	config, err := os.OpenFile("/srv/app/.git/config", os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = config.WriteString(hostile)
	must(t, err)
	must(t, config.Close())
	if a := r.State(c); a.Status != protocol.Valid {
		t.Errorf("%+v", a)
	}
	if ran, err := os.ReadFile("/tmp/ran-as"); err == nil && strings.TrimSpace(string(ran)) != "1" {
		t.Errorf("what the tree configures ran as user %s", ran)
	}
	c["key_text"] = "other"
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/key_text" {
		t.Errorf("%+v", a.Reasons)
	}
	r.Destroy(c)
}

func TestGit_SubmodulesAreCheckedOut(t *testing.T) {
	t.Parallel()
	m, repo, r, c := made(t)
	must(t, exec.Command("git", "config", "--system", "protocol.file.allow", "always").Run())
	inner := repository{t, t.TempDir()}
	inner.git("init", "-q", "-b", "main")
	inner.commit("inner one")
	repo.commit("one")
	repo.git("submodule", "add", "-q", inner.directory, "sub")
	repo.git("commit", "-q", "-m", "sub")
	c["submodules"] = true
	r.Apply(c)
	if text, err := os.ReadFile(m.Path("/srv/app/sub/a")); err != nil || string(text) != "inner one" {
		t.Errorf("%s %v", text, err)
	}
	repository{t, m.Path("/srv/app/sub")}.commit("local")
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/submodules" {
		t.Errorf("%+v", a.Reasons)
	}
}
