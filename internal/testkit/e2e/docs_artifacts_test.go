package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"deployster/internal/testkit/services"
)

// startGit starts a git daemon over a directory: GIT is where it listens.
func startGit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: git-daemon DIR")
	}
	ts.Setenv("GIT", services.GitDaemon(scripted{ts: ts}, ts.MkAbs(args[0])))
}

// gitHTTPKey is where a script keeps what stops its git server.
type gitHTTPKey struct{}

// startGitHTTP starts git's server for http over a directory, for user:secret: GIT_HTTP is where it listens.
// With stop it ends.
func startGitHTTP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: git-http DIR|stop")
	}
	stop := ts.Value(gitHTTPKey{}).(*func())
	if args[0] == "stop" {
		(*stop)()
		return
	}
	address := ""
	address, *stop = services.GitHTTP(scripted{ts: ts}, ts.MkAbs(args[0]), "user", "secret")
	ts.Setenv("GIT_HTTP", address)
}

// TestDocs_Artifacts does what docs/artifacts.md tells, with its manifests: only the places
// of the repositories are others, which are served on loopback, and the images of the
// page's names are the shell scripts in docs/examples/artifacts.
func TestDocs_Artifacts(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/artifacts.md")
	manifests, texts, commands := fences(page, "hcl"), fences(page, "text"), fences(page, "sh")
	if len(manifests) != 4 || len(texts) != 3 || len(commands) != 3 {
		t.Fatalf("%d manifests, %d outputs, %d commands", len(manifests), len(texts), len(commands))
	}
	places := strings.NewReplacer("https://git.example.com/", "git://$GIT/", `"registry.example.com/app"`, `"$REGISTRY/app", insecure = true`)
	runScripts(t, "testdata/docs/artifacts", func(env *testscript.Env) error {
		for name, content := range map[string]string{"git.hcl": manifests[0], "passed.hcl": manifests[1],
			"oci.hcl": manifests[2], "live.hcl": manifests[3], "apply.sh": commands[0], "hold.sh": commands[1]} { // the script artifact-passed runs commands[2]
			if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(places.Replace(content)), 0o600); err != nil {
				return err
			}
		}
		// What differs each time is named in capitals.
		for i, name := range []string{"FIRST", "SECOND", "THIRD"} {
			pattern := regexp.QuoteMeta(texts[i])
			pattern = strings.NewReplacer("COMMIT", "[0-9a-f]{7}", "COUNT", "[0-9]+", "SIZE", "[0-9.]+ [KM]?i?B").Replace(pattern)
			env.Setenv(name, pattern)
		}
		return nil
	})
}
