package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/rogpeppe/go-internal/testscript"

	"deployster/config"
	"deployster/internal/cli"
)

// pages gives the documentation: README.md and all of docs/.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no such page, %v", pattern, err)
		}
		for _, name := range names {
			all[name] = read(t, name)
		}
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// fences gives the examples of a page that are in a language.
func fences(page, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		found = append(found, m[1])
	}
	return found
}

// modules gives the modules of a page: the examples whose first line is their
// path.
func modules(page string) map[string][]config.File {
	found := map[string][]config.File{}
	for _, text := range fences(page, "hcl") {
		first, _, _ := strings.Cut(text, "\n")
		if path, ok := strings.CutPrefix(first, "# "); ok && strings.HasSuffix(path, "/main.hcl") {
			found[filepath.Dir(path)] = []config.File{{Path: path, Bytes: []byte(text)}}
		}
	}
	return found
}

// Every example in HCL is a manifest that loads; or a part of one, which says
// so in its first line; or values of variables, which has no blocks.
func TestDocsManifests(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, page := range pages(t) {
		for _, text := range fences(page, "hcl") {
			seen++
			file, diags := hclsyntax.ParseConfig([]byte(text), "main.hcl", hcl.InitialPos)
			if diags.HasErrors() {
				t.Errorf("%s: %v in\n%s", name, diags, text)
				continue
			}
			if strings.HasPrefix(text, "# part of a manifest") || len(file.Body.(*hclsyntax.Body).Blocks) == 0 {
				continue
			}
			sources := config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(text)}}, Modules: modules(page)}
			given := []string{"DEPLOYSTER_VAR_password=secret"} // of a variable without a default
			vars, _ := config.FindVariables(t.TempDir(), "", given, nil)
			if _, diags := config.Load(sources, vars, config.Builtins{Version: cli.Version, Home: "/home/me"}); len(diags) != 0 {
				t.Errorf("%s: %v in\n%s", name, diags, text)
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d examples were looked at", seen)
	}
}

// Every link between the pages leads to a file that is there, and to a heading
// in it.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	link, heading := regexp.MustCompile(`\]\(([^)\s]+)\)`), regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchors := func(page string) (list []string) {
		for _, h := range heading.FindAllStringSubmatch(page, -1) {
			word := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(h[1]), "")
			list = append(list, strings.ReplaceAll(word, " ", "-"))
		}
		return list
	}
	for name, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			target := name
			if path != "" {
				target = filepath.Join(filepath.Dir(name), path)
			}
			if !exists(target) {
				t.Errorf("%s: the link %s leads nowhere", name, m[1])
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s: there is no heading for the link %s", name, m[1])
			}
		}
	}
}

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
func TestDocsCommands(t *testing.T) {
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
func TestDocsEnvironment(t *testing.T) {
	t.Parallel()
	page, seen := read(t, "docs/commands.md"), 0
	for _, s := range sources(t) {
		path := s.path
		if filepath.Dir(path) != "internal/cli" {
			continue
		}
		for _, m := range regexp.MustCompile(`\.get\("([A-Z_]+)"\)`).FindAllStringSubmatch(read(t, path), -1) {
			if seen++; !strings.Contains(page, "`"+m[1]+"`") {
				t.Errorf("the environment variable %s is not named", m[1])
			}
		}
	}
	if seen < 7 {
		t.Errorf("only %d variables were found", seen)
	}
}

// docs/state-and-recovery.md quotes refusals as the program words them.
func TestDocsRefusals(t *testing.T) {
	t.Parallel()
	words := ""
	for _, s := range sources(t) {
		path := s.path
		if dir := filepath.Dir(path); !strings.HasSuffix(path, "_test.go") && slices.Contains([]string{"state", "apply", "plan", "internal/cli", "internal/base/encryption"}, dir) {
			words += read(t, path)
		}
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+ [^`]+)` \\|").FindAllStringSubmatch(read(t, "docs/state-and-recovery.md"), -1)
	if len(rows) < 18 {
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

// docs/architecture.md gives the packages the ranks that the test of the
// imports gives them.
func TestDocsArchitecture(t *testing.T) {
	t.Parallel()
	written := map[string]int{}
	for _, m := range regexp.MustCompile("(?m)^\\| (\\d) \\| `([a-z./]+)` \\|").FindAllStringSubmatch(read(t, "docs/architecture.md"), -1) {
		name := strings.Replace(m[2], "main.go", ".", 1)
		written[name], _ = strconv.Atoi(m[1]) // a digit
		if rank, ok := ranks[name]; !ok || rank != written[name] {
			t.Errorf("%s: the page says rank %s, the test %d", name, m[1], rank)
		}
	}
	for name := range ranks {
		if _, ok := written[name]; !ok {
			t.Errorf("%s is not on the page", name)
		}
	}
}

// docs/dependencies.md lists what is imported and nothing else.
func TestDocsDependencies(t *testing.T) {
	t.Parallel()
	used, mod := map[string]bool{}, read(t, "go.mod")
	_, tools, _ := strings.Cut(mod, "\ntool (")
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(read(t, "docs/dependencies.md"), -1) {
		used[m[1]] = strings.Contains(tools, m[1])
		if !strings.Contains(mod, m[1]+" v") {
			t.Errorf("%s is not in go.mod", m[1])
		}
	}
	for _, s := range sources(t) {
		path, imports := s.path, s.imports
		for _, imported := range imports {
			if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
				continue // ours, or the standard library's
			}
			known := false
			for module := range used {
				if imported == module || strings.HasPrefix(imported, module+"/") {
					used[module], known = true, true
				}
			}
			if !known {
				t.Errorf("%s imports %s, which is not on the page", path, imported)
			}
		}
	}
	for module, yes := range used {
		if !yes {
			t.Errorf("%s is on the page and not used", module)
		}
	}
}

// docs/requirements.md and the decisions claim nothing that no test shows: each
// name is a test or a script that is there, and what is done has one.
func TestDocsNameTests(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{}
	for _, s := range sources(t) {
		path := s.path
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "invoketest") {
			for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(read(t, path), -1) {
				tests[m[1]] = true
			}
		}
	}
	for name, page := range pages(t) {
		for _, m := range regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+)`").FindAllStringSubmatch(page, -1) {
			if !tests[m[1]] {
				t.Errorf("%s names the test %s, which is not there", name, m[1])
			}
		}
	}
	rows := regexp.MustCompile(`(?m)^\| ([ADPBX]-\d+) \| [^|]+ \| (done|partly|not yet)[^|]* \|([^|]*)\|$`).FindAllStringSubmatch(read(t, "docs/requirements.md"), -1)
	if len(rows) < 90 {
		t.Fatalf("only %d requirements were read", len(rows))
	}
	for _, row := range rows {
		shown := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[3], -1)
		for _, s := range shown {
			if !tests[s[1]] && !exists("testdata/script/"+s[1]+".txtar") {
				t.Errorf("%s: there is no test or script %s", row[1], s[1])
			}
		}
		if row[2] == "done" && len(shown) == 0 {
			t.Errorf("%s is said to be done, and nothing shows it", row[1])
		}
	}
}

// TestReadme does what the README tells a newcomer to do: its first manifest,
// and its commands, in their order, with real containers.
func TestReadme(t *testing.T) {
	t.Parallel()
	page := read(t, "README.md")
	manifests, commands, texts := fences(page, "hcl"), fences(page, "sh"), fences(page, "text")
	if len(manifests) == 0 || len(commands) != 2 || len(texts) != 2 {
		t.Fatalf("%d manifests, %d commands, %d outputs", len(manifests), len(commands), len(texts))
	}
	runScripts(t, "testdata/docs", func(env *testscript.Env) error {
		first := commands[0] + "cat >main.hcl <<'END'\n" + manifests[0] + "END\n" + commands[1]
		for name, content := range map[string]string{"first.sh": first, "want": texts[1]} {
			if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(content), 0o600); err != nil {
				return err
			}
		}
		return nil
	})
}
