package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// matchSchema holds a file to one of the published schemas.
func matchSchema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: json-schema NAME FILE")
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(ts.Getenv("ROOT"), "docs/schemas", args[0]+".json"))
	ts.Check(err)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	ts.Check(schema.Validate(document))
}

// TestDocs_WritingAType does what docs/writing-a-type.md tells an author to do, word
// for word and from an empty directory, in each of the languages.
func TestDocs_WritingAType(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/writing-a-type.md")
	settings := goSettings(t)
	runScripts(t, "testdata/author", func(env *testscript.Env) error {
		for name, value := range settings {
			env.Setenv(name, value)
		}
		for _, section := range []string{"shell", "python", "go", "watch"} {
			commands := walk(t, page, section)
			if err := os.WriteFile(filepath.Join(env.WorkDir, section+".sh"), []byte(commands), 0o600); err != nil {
				return err
			}
		}
		return os.Symlink(env.Getenv("ROOT"), filepath.Join(env.WorkDir, "deployster"))
	})
}

// goSettings gives the variables with which scripts build programs in Go: from what is
// here already, and nothing from elsewhere.
func goSettings(t *testing.T) map[string]string {
	t.Helper()
	settings := map[string]string{"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": ""}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		settings[name] = strings.TrimSpace(string(value))
	}
	return settings
}

// walk gives the commands of a section of the page.
func walk(t *testing.T, page, section string) string {
	t.Helper()
	heading := map[string]string{"shell": "## Five commands", "python": "## In Python", "go": "## In Go", "watch": "## Report changes"}[section]
	_, text, ok := strings.Cut(page, "\n"+heading)
	text, _, _ = strings.Cut(text, "\n## ")
	commands := strings.Join(fences(text, "sh"), "")
	if !ok || commands == "" {
		t.Fatalf("the page has no commands under %q", heading)
	}
	return commands
}

// The shell example is short, and the page counts its commands truly: five.
func TestDocs_ShellExample(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/writing-a-type.md")
	script := read(t, "docs/examples/shell/type.sh")
	if lines := strings.Count(script, "\n"); lines >= 25 {
		t.Errorf("the shell example has %d lines", lines)
	}
	if regexp.MustCompile(`\bjq\b`).MatchString(script) {
		t.Error("the shell example needs jq")
	}
	if !strings.Contains(walk(t, page, "watch"), "cat >type.sh <<'EOF'\n"+read(t, "docs/examples/watch/type.sh")+"EOF\n") {
		t.Error("the page shows another type that watches than docs/examples/watch")
	}
	commands := walk(t, page, "shell")
	for name, end := range map[string]string{"type.sh": "EOF", "note.hcl": "EOF"} {
		want := "cat >" + name + " <<'" + end + "'\n" + read(t, "docs/examples/shell/"+name) + end + "\n"
		if !strings.Contains(commands, want) {
			t.Errorf("the page shows another %s than docs/examples/shell", name)
		}
		commands = strings.Replace(commands, want, "a command\n", 1)
	}
	if n := strings.Count(commands, "\n"); n != 5 {
		t.Errorf("%d commands, want five:\n%s", n, commands)
	}
}
