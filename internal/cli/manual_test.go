package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deployster/internal/cli/commandline"
	"deployster/internal/cli/manual"
)

// Every command has its words in the usage line, a line for each flag, all aligned,
// and an example that the program takes.
func TestHelp_OfEachCommand(t *testing.T) {
	t.Parallel()
	app := newApp(Env{})
	pages := manual.Of(app).All()
	if len(pages) < 40 {
		t.Fatalf("only %d commands were found", len(pages))
	}
	for _, p := range pages {
		text := p.Text()
		if !strings.Contains(text, "USAGE:\n   "+p.Name()+" [FLAGS]") {
			t.Errorf("%s: the usage line is not that of the command:\n%s", p.Name(), text)
		}
		if p.Summary == "" || strings.HasSuffix(p.Summary, ".") {
			t.Errorf("%s: the summary %q is no phrase", p.Name(), p.Summary)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if len(line) > 100 && !strings.Contains(line, p.Summary) {
				t.Errorf("%s: longer than a terminal: %s", p.Name(), line)
			}
		}
		for _, f := range p.Flags {
			if f.Usage == "" || strings.ContainsRune(f.Meaning(), '`') || strings.Contains(f.Form(), "VALUE") && !strings.Contains(f.Form(), "NAME=VALUE") {
				t.Errorf("%s: the flag %s is described as %q", p.Name(), f.Form(), f.Meaning())
			}
		}
		if len(p.Examples) == 0 {
			t.Errorf("%s has no example", p.Name())
		}
		for _, example := range p.Examples {
			checkExample(t, p, example)
		}
	}
}

// checkExample reads an example as the program does.
func checkExample(t *testing.T, p manual.Page, example string) {
	t.Helper()
	typed := regexp.MustCompile(`^.*?\b(deployster( [^#|>)"]+)?).*$`).FindStringSubmatch(example)
	if typed == nil || !strings.HasPrefix(typed[1], p.Name()) {
		t.Errorf("%s: the example %q is of another command", p.Name(), example)
		return
	}
	if line := commandline.Read(newApp(Env{}), strings.Fields(typed[1])[1:], nil); line.Err != nil || line.Command() == "" {
		t.Errorf("%s: the example %q is wrong: %v", p.Name(), example, line.Err)
	}
}

// Every command line in the examples of the pages is one that the program takes.
func TestHelp_CommandLinesOfThePages(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	fence := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	typed := regexp.MustCompile(`(?:^|[|;&(] *)(deployster [a-z][^#|>)\n]*)`)
	seen := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, example := range fence.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(example[1]) {
				for _, m := range typed.FindAllStringSubmatch(line, -1) {
					seen++
					if read := commandline.Read(newApp(Env{}), strings.Fields(m[1])[1:], nil); read.Err != nil || read.Command() == "" {
						t.Errorf("%s: the program does not take %q: %v", page, m[1], read.Err)
					}
				}
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d command lines were read", seen)
	}
}

// The columns of a list begin at the same place.
func TestHelp_IsAligned(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile(`(?m)^   -\S.*?  +(\S)`)
	for _, p := range manual.Of(newApp(Env{})).All() {
		_, options, _ := strings.Cut(p.Text(), "OPTIONS:\n")
		column := -1
		for _, m := range row.FindAllStringSubmatchIndex(options, -1) {
			if at := m[2] - m[0]; column >= 0 && at != column {
				t.Errorf("%s: a flag is described at column %d, others at %d:\n%s", p.Name(), at, column, options)
			} else {
				column = at
			}
		}
		if column < 0 {
			t.Errorf("%s: no flag was read:\n%s", p.Name(), options)
		}
	}
}

func TestComplete_Words(t *testing.T) {
	t.Parallel()
	known := func(kind string) []string {
		return map[string][]string{"ADDRESS": {"disk", "module.m.disk"}, "OUTPUT": {"url"}, "ARTIFACT": {"site"}, "IMAGE": {"acme/a:1", "acme/b:1"}}[kind]
	}
	for line, want := range map[string]string{
		"pl":                      "plan",
		"state r":                 "rm,reencrypt,restore",
		"-chdir x sta":            "state",
		"plan -detail":            "-detailed-exitcode",
		"plan --detail":           "--detailed-exitcode",
		"plan -refresh":           "-refresh=false,-refresh-only",
		"plan -target di":         "disk",
		"plan -target=mod":        "module.m.disk",
		"state show ":             "disk,module.m.disk",
		"state mv d":              "disk",
		"state mv disk d":         "",
		"output u":                "url",
		"apply -deferred ":        "apply,ask,stop",
		"apply -confirm=r":        "resource",
		"completion ":             "bash,zsh,fish",
		"plan -out ":              "",
		"type inspect ":           "acme/a:1,acme/b:1",
		"type test acme/b":        "acme/b:1",
		"image rm acme/a:1 ":      "acme/a:1,acme/b:1",
		"image tag ac":            "acme/a:1,acme/b:1",
		"image tag acme/a:1 ac":   "",
		"image save acme/a:1 ":    "",
		"image pack -base ac":     "acme/a:1,acme/b:1",
		"artifact pin ":           "site",
		"artifact get site ":      "",
		"apply -report x -lock-t": "-lock-timeout",
		"nothing ":                "",
		"f":                       "fmt",
	} {
		var got []string
		for _, c := range manual.Of(newApp(Env{})).Complete(strings.Split(line, " "), known) {
			got = append(got, c.Word)
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%q is completed by %q, not by %s", line, got, want)
		}
	}
}
