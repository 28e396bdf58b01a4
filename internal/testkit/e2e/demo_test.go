package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDemo_PrintsTheOutputOfTheReadme does what `make demo` and `make demo-hosts` do. The README shows the end of the
// first.
func TestDemo_PrintsTheOutputOfTheReadme(t *testing.T) {
	t.Parallel()
	texts, settings := fences(read(t, "README.md"), "text"), goSettings(t)
	if len(texts) != 2 {
		t.Fatalf("%d outputs in the README", len(texts))
	}
	runScripts(t, "testdata/demo", func(env *testscript.Env) error {
		for name, value := range settings {
			env.Setenv(name, value)
		}
		return os.WriteFile(filepath.Join(env.WorkDir, "want"), []byte(texts[1]), 0o600)
	})
}

var (
	durations = regexp.MustCompile(`[0-9.]+m?s\b`)
	blanks    = regexp.MustCompile(` +`)
)

// checkExcerpt wants a page's excerpt to be in what was printed: "[...]" is what it leaves
// out, and how long things take, and which of two ends first, may differ. The command is
//
//	excerpt PRINTED EXCERPT
func checkExcerpt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: excerpt PRINTED EXCERPT")
	}
	usual := func(name string) string {
		return blanks.ReplaceAllString(durations.ReplaceAllString(ts.ReadFile(name), "TIME"), " ")
	}
	printed := usual(args[0])
	plan, progress, found := strings.Cut(usual(args[1]), "$ deployster apply")
	pattern := strings.ReplaceAll(regexp.QuoteMeta(plan), regexp.QuoteMeta("[...]"), ".*")
	if !found || !regexp.MustCompile(pattern).MatchString(printed) {
		ts.Fatalf("%s does not have the plan of %s:\n%s", args[0], args[1], plan)
	}
	lines := strings.Split(printed, "\n")
	has := map[string]bool{}
	for _, line := range lines {
		has[line] = true
	}
	for line := range strings.SplitSeq("$ deployster apply"+progress, "\n") {
		if !strings.HasPrefix(line, "[...") && !has[line] {
			ts.Fatalf("%s does not have the line %q of %s", args[0], line, args[1])
		}
	}
}
