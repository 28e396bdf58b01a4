package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files writes files into a directory of its own: names and contents.
func files(t *testing.T, names ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := 0; i < len(names); i += 2 {
		path := filepath.Join(dir, names[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(names[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ran carries out a command line in a directory. environ are NAME=VALUE.
func ran(t *testing.T, dir string, args []string, environ ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = Run(t.Context(), Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err, Dir: dir, Home: dir,
		Environ: append(environ, "DEPLOYSTER_DATA_DIR="+filepath.Join(dir, "data"))})
	return code, out.String(), strings.Join(strings.Fields(err.String()), " ")
}

// A command that is shown for people to type works where they are: in the same
// directory, on the same state, with names as a shell takes them.
func TestRun_ShownCommandsCanBeTyped(t *testing.T) {
	t.Parallel()
	dir := files(t, "site/main.hcl", "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"apply", "p"}, "`deployster plan -out=p`"},
		{[]string{"apply", "mein plan"}, "`deployster plan '-out=mein plan'`"},
		{[]string{"-chdir=site", "-state=a b.json", "apply", "p"}, "`deployster -chdir=site '-state=a b.json' plan -out=p`"},
		{[]string{"-chdir", filepath.Join(dir, "site"), "apply", "p"}, "`deployster -chdir=site plan -out=p`"},
	} {
		if code, _, stderr := ran(t, dir, c.args); code != exitError || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: %d, want %s:\n%s", c.args, code, c.want, stderr)
		}
	}
}

// An empty PATH is that of a variable which is not set, and not the whole directory.
func TestRun_EmptyPath(t *testing.T) {
	t.Parallel()
	dir := files(t, "main.hcl", "")
	for _, command := range []string{"init", "plan", "apply", "drift", "watch", "validate", "graph", "console", "fmt", "show"} {
		code, _, stderr := ran(t, dir, []string{command, ""})
		if code != exitError || !strings.Contains(stderr, "Empty argument") {
			t.Errorf("%s: %d, %s", command, code, stderr)
		}
	}
}

// Lines of a manifest may end as on Windows: nothing of that is shown.
func TestRun_SourceLinesWithCarriageReturns(t *testing.T) {
	t.Parallel()
	dir := files(t, "main.hcl", "variable \"a\" {\r\n  tipe=1\r\n}\r\n")
	for _, args := range [][]string{{"validate"}, {"fmt", "-diff"}} {
		code, stdout, stderr := ran(t, dir, args)
		if text := stdout + stderr; !strings.Contains(text, "tipe") || strings.Contains(text, `\x0d`) {
			t.Errorf("%q: %d, %s", args, code, text)
		}
	}
}

// A mistake in the flags of the environment is told of the variable, and not of the
// command line.
func TestRun_WrongStandingFlags(t *testing.T) {
	t.Parallel()
	_, _, stderr := ran(t, files(t, "main.hcl", ""), []string{"validate"}, "DEPLOYSTER_CLI_ARGS=-compact")
	if !strings.Contains(stderr, "Wrong flags in DEPLOYSTER_CLI_ARGS deployster validate has no flag -compact.") {
		t.Error(stderr)
	}
}

// A state that is not there is not one without resources.
func TestRun_NoStateFile(t *testing.T) {
	t.Parallel()
	dir := files(t, "main.hcl", "")
	for _, command := range []string{"show", "state list", "output"} {
		args := strings.Fields(command)
		code, _, stderr := ran(t, dir, args)
		if want := "There is no state file at " + filepath.Join(dir, "deployster.state.json"); code != 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s", command, code, stderr)
		}
		code, _, stderr = ran(t, dir, append(args, "-state=typo.json"))
		if want := "There is no state file at " + filepath.Join(dir, "typo.json"); code != exitError || !strings.Contains(stderr, want) {
			t.Errorf("%s -state=typo.json: %d, %s", command, code, stderr)
		}
	}
}

// A state that cannot be read keeps nobody from evaluating expressions.
func TestRun_ConsoleWithoutItsState(t *testing.T) {
	t.Parallel()
	dir := files(t, "main.hcl", "", "deployster.state.json", "{")
	var out, err bytes.Buffer
	code := Run(t.Context(), Env{Args: []string{"console"}, Stdin: strings.NewReader("1 + 1\n"), Stdout: &out, Stderr: &err, Dir: dir, Home: dir})
	if code != 0 || out.String() != "2\n" || !strings.Contains(err.String(), "Warning: ") {
		t.Errorf("%d, %q, %s", code, out.String(), err.String())
	}
}

// A value that is wrong for a flag, and a flag without one, are told with what is right.
func TestRun_ValuesOfFlags(t *testing.T) {
	t.Parallel()
	dir := files(t, "main.hcl", "")
	for line, want := range map[string]string{
		"plan -lock-timeout=5":     "It takes a number with its unit: -lock-timeout=5s",
		"plan -parallelism=abc":    "It takes a whole number: -parallelism=4",
		"plan -compact=maybe":      "off as -compact=false",
		"-chdir plan":              "needs an argument: -chdir. What follows it, plan, is the command. Write -chdir=VALUE",
		"-chdir plan -no-color":    "needs an argument: -chdir",
		"plan -chdir":              "needs an argument: -chdir. Write -chdir=VALUE",
		"-chdir plan validate":     "-chdir=plan names no directory",
		"output -state=typo":       "There is no state file at ",
		"output -json -state=typo": "There is no state file at ",
		"output x -state=typo":     "There is no state file at ",
		"resolve -state=typo":      "There is no state file at ",
		"state unlock abc":         "a file has no claims",
	} {
		if code, _, stderr := ran(t, dir, strings.Fields(line)); code != exitError || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, want %s:\n%s", line, code, want, stderr)
		}
	}
	if code, _, stderr := ran(t, dir, []string{"output"}); code != exitDone || !strings.Contains(stderr, "Warning: No outputs") {
		t.Errorf("no state was named: %d\n%s", code, stderr)
	}
}
