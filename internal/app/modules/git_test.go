package modules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/runtime/modsource"
)

func addressOf(t *testing.T, text string) modsource.Address {
	t.Helper()
	a, err := modsource.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// environ is the environment of git in tests, without the settings of who runs them.
func environ(t *testing.T) []string {
	t.Helper()
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
}

func TestGit_RefsAreBranchesTagsAndCommits(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir, first := commit(t, "echo 1 >main.hcl")
	told(t, dir, "tag", "v1")
	told(t, dir, "-c", "user.name=a", "-c", "user.email=a@b", "tag", "-a", "-m", "x", "annotated")
	second := again(t, dir, "echo 2 >main.hcl")
	told(t, dir, "branch", "feature/x")
	for ref, want := range map[string]string{"": second, "?ref=v1": first, "?ref=annotated": first, "?ref=feature%2Fx": second, "?ref=main": second,
		"?ref=" + first: first, "?ref=refs/heads/main": second} {
		got, tree, err := fetchGit(t.Context(), addressOf(t, "git::file://"+dir+ref), config.ModulePin{}, environ(t))
		if err != nil || got.Commit != want || got.Tree != told(t, dir, "rev-parse", want+"^{tree}") || len(tree.entries) != 1 {
			t.Errorf("%s: %+v %v, %v; it is %s", ref, got, tree, err, want)
		}
	}
	if _, _, err := fetchGit(t.Context(), addressOf(t, "git::file://"+dir+"?ref=v2"), config.ModulePin{}, environ(t)); err == nil ||
		!strings.Contains(err.Error(), "v2") {
		t.Errorf("no such tag: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "deployster-git-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A tag that moved changes nothing as long as the pinned commit is to be had, and then it is refused.
func TestGit_APinnedCommitIsFetchedOrRefused(t *testing.T) {
	dir, first := commit(t, "echo 1 >main.hcl")
	told(t, dir, "tag", "v1")
	a := addressOf(t, "git::file://"+dir+"?ref=v1")
	pin := config.ModulePin{Commit: first, Tree: told(t, dir, "rev-parse", "HEAD^{tree}")}
	second := again(t, dir, "echo 2 >main.hcl")
	told(t, dir, "tag", "-f", "v1")
	if got, _, err := fetchGit(t.Context(), a, pin, environ(t)); err != nil || got != pin {
		t.Errorf("%+v, %v", got, err)
	}
	told(t, dir, "reset", "-q", "--hard", second)
	again(t, dir, "git checkout -q --orphan other; echo 3 >main.hcl")
	third := told(t, dir, "rev-parse", "HEAD")
	told(t, dir, "branch", "-D", "main")
	told(t, dir, "tag", "-f", "v1")
	told(t, dir, "reflog", "expire", "--expire=now", "--all")
	told(t, dir, "gc", "-q", "--prune=now")
	_, _, err := fetchGit(t.Context(), a, pin, environ(t))
	if err == nil || !strings.Contains(err.Error(), "v1 is commit "+third) || !strings.Contains(err.Error(), "pins commit "+first) {
		t.Errorf("%v; first %s, third %s", err, first, third)
	}
}

func TestGit_HostileRepositoriesAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"an absolute link":      {"ln -s /nowhere/main.hcl main.hcl", "out of the module"},
		"a link above":          {"mkdir d; ln -s ../../nowhere d/l; touch main.hcl", "out of the module"},
		"a link to nothing":     {`git update-index --add --cacheinfo 120000,$(git hash-object -w --stdin </dev/null),l`, "out of the module"},
		"a submodule":           {"touch main.hcl; git update-index --add --cacheinfo 160000," + strings.Repeat("a", 40) + ",sub", "submodule"},
		"a huge file":           {"truncate -s 65M huge", "more than 64 MiB"},
		"many large files":      {"for i in 1 2 3 4 5; do truncate -s 14M f$i; done", "more than 64 MiB"},
		"very many files":       {"seq 10001 | xargs touch", "more than 10000 files"},
		"a repository in it":    {`h=$(echo '[core]' | git hash-object -w --stdin); t=$(printf '100644 blob %s\tconfig\n' $h | git mktree); u=$(printf '040000 tree %s\t.git\n' $t | git mktree); git update-ref refs/heads/main $(git commit-tree -m x $u); exit 0`, "files of a repository"},
		"a path above its root": {`h=$(echo x | git hash-object -w --stdin); t=$(printf '100644 blob %s\tx\n' $h | git mktree); u=$(printf '040000 tree %s\t..\n' $t | git mktree); git update-ref refs/heads/main $(git commit-tree -m x $u); exit 0`, "outside of its root"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script := "git init -q -b main .\n" + c.script
			if !strings.Contains(c.script, "update-index") {
				script += "\ngit add -A"
			}
			if !strings.Contains(c.script, "update-ref") {
				script += "\ngit commit -q -m x"
			}
			run(t, dir, script)
			got, tree, err := fetchGit(t.Context(), addressOf(t, "git::file://"+dir+"?ref=main"), config.ModulePin{}, environ(t))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v %v, %v", got, tree, err)
			}
		})
	}
}

// What the environment and the settings of git would run, or lead elsewhere, has no part in it.
func TestGit_RunsNothingOfARepository(t *testing.T) {
	dir, first := commit(t, `echo '* filter=evil export-subst' >.gitattributes; echo '$Format:%H$' >main.hcl`)
	again(t, dir, "echo 2 >main.hcl")
	env, ran := environ(t), filepath.Join(t.TempDir(), "ran")
	home := strings.TrimPrefix(env[1], "HOME=")
	evil := filepath.Join(home, "evil")
	if err := os.MkdirAll(filepath.Join(home, "hooks"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{evil, filepath.Join(home, "hooks", "reference-transaction"), filepath.Join(home, "hooks", "post-checkout")} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\necho >>"+ran+"\ncat\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	settings := "[core]\nhooksPath = " + home + "/hooks\nfsmonitor = " + evil + "\n[filter \"evil\"]\nsmudge = " + evil + "\n" +
		"[protocol]\nversion = 0\n" // a server of this version gives no commit by its hash, so branches are fetched
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	env = append(env, "GIT_DIR="+home, "GIT_WORK_TREE="+home, "GIT_OBJECT_DIRECTORY="+home, "GIT_EXTERNAL_DIFF="+evil, "GIT_TEMPLATE_DIR="+home)
	got, tree, err := fetchGit(t.Context(), addressOf(t, "git::file://"+dir+"?ref="+first), config.ModulePin{}, env)
	if err != nil || got.Commit != first || string(tree.entries["main.hcl"].content) != "$Format:%H$\n" {
		t.Errorf("%+v %v, %v", got, tree, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program was run")
	}
}

func TestGit_ItsEnvironmentIsSafe(t *testing.T) {
	env := safeEnvironment([]string{"HOME=/h", "GIT_DIR=/x", "GIT_ASKPASS=/mine", "GIT_SSH_COMMAND=ssh -F f", "GIT_TERMINAL_PROMPT=1", "GIT_ALLOW_PROTOCOL=ext"})
	for _, pair := range []string{"HOME=/h", "GIT_ASKPASS=/mine", "GIT_SSH_COMMAND=ssh -F f"} {
		if !slices.Contains(env, pair) {
			t.Errorf("%s is missing: credentials are git's own", pair)
		}
	}
	if slices.Contains(env, "GIT_DIR=/x") {
		t.Error("git is led to another repository")
	}
	for _, pair := range []string{"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=https:http:ssh:file"} {
		if name, _, _ := strings.Cut(pair, "="); slices.Index(env, pair) < slices.IndexFunc(env, func(p string) bool { return strings.HasPrefix(p, name+"=") }) {
			t.Errorf("%s does not come last: %q", pair, env)
		}
	}
}
