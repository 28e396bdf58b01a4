package e2e

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deployster/internal/cli"
)

// help asks the program what commands and flags there are.
func help(t *testing.T, command ...string) (commands, flags []string) {
	t.Helper()
	var out bytes.Buffer
	if code := cli.Run(t.Context(), cli.Env{Args: append(command, "-help"), Stdout: &out, Stderr: &out, Dir: t.TempDir()}); code != 0 {
		t.Fatalf("%v -help: exit code %d\n%s", command, code, &out)
	}
	text := out.String()
	if _, list, ok := strings.Cut(text, "\nCOMMANDS:\n"); ok {
		list, _, _ = strings.Cut(list, "\n\n")
		for _, m := range regexp.MustCompile(`(?m)^   (\w+) `).FindAllStringSubmatch(list, -1) {
			commands = append(commands, m[1])
		}
	}
	_, list, _ := strings.Cut(text, "OPTIONS:\n")
	for _, m := range regexp.MustCompile(`(?m)^   (-[a-z-]+)(?: [A-Z=]+)?(?:, (-[a-z-]+))?`).FindAllStringSubmatch(list, -1) {
		for _, flag := range m[1:] {
			if flag != "" {
				flags = append(flags, strings.TrimLeft(flag, "-"))
			}
		}
	}
	return commands, flags
}

// docs/commands.md names every command and flag of the program, each where it
// belongs, and no others.
func TestDocs_Commands(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/commands.md")
	commands, global := help(t)
	if len(commands) < 7 || len(global) < 7 {
		t.Fatalf("the help was not understood: %v %v", commands, global)
	}
	named := regexp.MustCompile("`-([a-z][a-z-]*)").FindAllStringSubmatch
	sections, all, leaves := strings.Split(page, "\n## "), slices.Clone(global), []string(nil)
	for _, command := range commands {
		at := slices.IndexFunc(sections, func(s string) bool { return strings.HasPrefix(s, command+"\n") })
		if at < 0 {
			t.Errorf("the command %s has no section", command)
			continue
		}
		subs, flags := help(t, command)
		if len(subs) == 0 {
			leaves = append(leaves, command)
		}
		for _, sub := range subs {
			leaves = append(leaves, command+" "+sub)
			_, more := help(t, command, sub)
			flags = append(flags, more...)
		}
		all = append(all, flags...)
		var here []string
		for _, m := range named(sections[at], -1) {
			if here = append(here, m[1]); !slices.Contains(flags, m[1]) && !slices.Contains(global, m[1]) {
				t.Errorf("%s has no flag -%s", command, m[1])
			}
		}
		for _, flag := range flags {
			if flag != "help" && flag != "h" && !slices.Contains(here, flag) {
				t.Errorf("the section of %s does not name its flag -%s", command, flag)
			}
		}
	}
	for _, m := range named(page, -1) {
		if !slices.Contains(all, m[1]) {
			t.Errorf("there is no flag -%s", m[1])
		}
	}
	for _, flag := range global {
		if !strings.Contains(sections[1], "`-"+flag) {
			t.Errorf("the global flag -%s is not named among those of every command", flag)
		}
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| \\[`([a-z ]+)`\\]").FindAllStringSubmatch(page, -1) {
		listed = append(listed, m[1])
	}
	// The flag library lists a command "help", which is none of ours.
	leaves = slices.DeleteFunc(leaves, func(s string) bool { return strings.HasSuffix(s, " help") })
	if !slices.Equal(listed, leaves) {
		t.Errorf("the page lists the commands %q, the program has %q", listed, leaves)
	}
}

// It names every environment variable that the program reads.
func TestDocs_Environment(t *testing.T) {
	t.Parallel()
	page, seen := read(t, "docs/commands.md"), 0
	for _, f := range goFiles(t) {
		if f.IsTest() {
			continue
		}
		for _, m := range regexp.MustCompile(`\.(?:get|Env)\("([A-Z_]+)"\)|"(DEPLOYSTER_[A-Z_]*[A-Z])"`).FindAllStringSubmatch(f.Text, -1) {
			if seen++; !strings.Contains(page, "`"+m[1]+m[2]+"`") {
				t.Errorf("%s reads the environment variable %s, which is not named", f.Path, m[1]+m[2])
			}
		}
	}
	if seen < 14 {
		t.Errorf("only %d variables were found", seen)
	}
}

// splitString is where a text goes on in the next line of a source file.
var splitString = regexp.MustCompile(`" \+\n\s*"`)

// pluralForms are the two forms of a word in a reason: {it was|they were}.
var pluralForms = regexp.MustCompile(`\{(\w[\w ]*)\|\w[\w ]*\}`)

// docs/state-and-recovery.md and docs/troubleshooting.md quote what the program says,
// as it words it.
func TestDocs_Refusals(t *testing.T) {
	t.Parallel()
	words := ""
	for _, f := range goFiles(t) {
		if !f.IsTest() {
			words += pluralForms.ReplaceAllString(splitString.ReplaceAllString(f.Text, ""), "$1")
		}
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+ [^`]+)` \\|").FindAllStringSubmatch(read(t, "docs/state-and-recovery.md")+read(t, "docs/troubleshooting.md"), -1)
	if len(rows) < 28 {
		t.Fatalf("only %d refusals were read", len(rows))
	}
	for _, row := range rows {
		for part := range strings.SplitSeq(row[1], "plan is stale: ") {
			for _, text := range regexp.MustCompile(`NAME| \[\.\.\.\]|\.\.\.`).Split(part, -1) {
				if !strings.Contains(words, strings.Trim(text, " ,")) {
					t.Errorf("no refusal says %q", text)
				}
			}
		}
	}
}
