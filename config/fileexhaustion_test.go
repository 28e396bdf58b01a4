package config

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// expensiveFiles have killed, held up or bloated a program that gave them to a parser.
// The name says what is made of the text: a manifest, or with "vars" a file
// with values of variables.
func expensiveFiles() map[string]string {
	const n = 120_000
	return map[string]string{
		"brackets.hcl":       "locals {\n a = " + strings.Repeat("[", n),
		"parentheses.hcl":    "locals {\n a = " + strings.Repeat("(", n),
		"braces.hcl":         "locals {\n a = " + strings.Repeat("{a=", n),
		"bangs.hcl":          "locals {\n a = " + strings.Repeat("!", n) + "true\n}",
		"minuses.hcl":        "locals {\n a = " + strings.Repeat("- ", n) + "1\n}",
		"plus.hcl":           "locals {\n a = 1" + strings.Repeat("+1", n) + "\n}",
		"conditions.hcl":     "locals {\n a = " + strings.Repeat("true?1:", n/4) + "1\n}",
		"indexes.hcl":        "locals {\n a = b" + strings.Repeat("[c]", n/4) + "\n}",
		"index_of.hcl":       "locals {\n a = b" + strings.Repeat(".c[d]", n/8) + "\n}",
		"attributes.hcl":     "locals {\n a = b" + strings.Repeat(".c", n/4) + "\n}",
		"parts.hcl":          "locals {\n a = \"" + strings.Repeat("${b}", n/8) + "\"\n}",
		"elements.hcl":       "locals {\n a = [" + strings.Repeat("b,", n/4) + "]\n}",
		"calls.hcl":          "locals {\n a = " + strings.Repeat("a(", n) + "\n}",
		"templates.hcl":      "locals {\n a = " + strings.Repeat(`"${`, n) + "\n}",
		"directives.hcl":     "locals {\n a = \"" + strings.Repeat(`%{if true}`, n/4) + "\"\n}",
		"blocks.hcl":         strings.Repeat("a {\n", n),
		"heredoc.hcl":        "locals {\n a = <<E\n" + strings.Repeat("${", n) + "\nE\n}",
		"number.hcl":         "locals {\n a = " + strings.Repeat("9", n) + "\n}",
		"splat.hcl":          "locals {\n a = b" + strings.Repeat("[*]", n/4) + "\n}",
		"for.hcl":            "locals {\n a = " + strings.Repeat("[for x in ", n/8) + "\n}",
		"brackets.hcl.json":  `{"locals": {"a": ` + strings.Repeat("[", n),
		"objects.hcl.json":   strings.Repeat(`{"a":`, n/2),
		"templates.hcl.json": `{"locals": {"a": "` + strings.Repeat(`${[`, n) + `"}}`,
		"escaped.hcl.json":   `{"locals": {"a": "$\u007b` + strings.Repeat(`(`, n) + `}"}}`,
		"number.hcl.json":    `{"locals": {"a": 1e100000000}}`,
		"zeros.hcl":          "\x00\xff\xfe",
		"bom.hcl":            "\xef\xbb\xbflocals {\n}}",

		"signs.hcl":          "locals {\n a = [" + strings.Repeat(" *", MaxFileSize/2-100) + "]\n}",
		"unknown_blocks.hcl": strings.Repeat("a{}\n", 70_000),
		"syntax_errors.hcl":  strings.Repeat("= 1\nlocals {\n}\n", 30_000),
		"exponent.hcl":       "locals {\n a = \"${1e100000000}\"\n}",
		"negative.hcl":       "locals {\n a = \"${1e-100000000}\"\n}",
		"power.hcl":          "locals {\n a = pow(9e99, 9e99)\n}",
		"nested_for.hcl":     "locals {\n a = " + strings.Repeat("[for x in range(10) : ", 7) + "1" + strings.Repeat("]", 7) + "\n}",
		"laughs.hcl":         laughs(),
		"file_size.hcl":      strings.Repeat("# comment\n", MaxFileSize/10+1),
		"vars_deep.json":     `{"a":` + strings.Repeat("[", n),
		"vars_number.json":   `{"a": 1e100000000}`,
		"vars_digits.json":   `{"a": ` + strings.Repeat("9", n) + `}`,
		"vars_deep.hcl":      "a = " + strings.Repeat("[", n),
		"vars_deep.yaml":     "a:\n" + strings.Repeat("- ", n),
		"vars_wide.yaml":     "a:\n  " + strings.Repeat("-  ", n/2),
		"vars_tabs.yaml":     "a:\n  " + strings.Repeat("-\t", n/2),
		"vars_keys.yaml":     strings.Repeat("? ", n),
		"vars_flow.yaml":     "a: " + strings.Repeat("[", n),
		"vars_lines.yaml":    "a:\n" + strings.Repeat("- \n", 300_000),
		"vars_number.yaml":   "a: 1e100000000\n",
		"vars_aliases.yaml":  "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\nx: [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
		"vars_few.yaml":      "a: &a [" + strings.Repeat("x,", 40_000) + "]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n",
		"vars_merge.yaml":    "a: &a {" + strings.Repeat("<<: *a, ", 1000) + "}\n",
		"vars_size.yaml":     "# " + strings.Repeat("x", MaxFileSize) + "\n",
	}
}

// laughs doubles a text ten times over, thrice.
func laughs() string {
	var b strings.Builder
	b.WriteString("locals {\n l0 = \"ha\"\n")
	for i := range 9 {
		b.WriteString(" l" + string(rune('1'+i)) + " = \"" + strings.Repeat("${local.l"+string(rune('0'+i))+"}", 10) + "\"\n")
	}
	return b.String() + "}\n"
}

// evaluate gives one expensive manifest to the functions that commands call, and reports whether
// there was an error.
func evaluate(t *testing.T, name, text string) bool {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(name, "vars") {
		inputs, diags := FindVariables(dir, "", nil, []VarFlag{{File: true, Value: name}})
		_, more := Load(sources(dir, "variable \"a\" {\n default = 1\n}\n"), inputs, Builtins{})
		return diags.HasErrors() || more.HasErrors()
	}
	found, diags := Find(dir, nil, nil)
	if diags.HasErrors() {
		return true
	}
	_, diags = Load(found, nil, Builtins{})
	for _, d := range diags {
		if d.Snippet != nil && len(d.Snippet.Code) > 20_000 {
			t.Errorf("%s: a snippet of %d bytes", name, len(d.Snippet.Code))
		}
	}
	return diags.HasErrors()
}

// Every expensive manifest ends in an error, within two seconds of work and 200 MiB. Each has a
// process of its own, so that what it takes can be measured, and what it kills is
// not the test.
func TestManifest_BoundsExpensiveFiles(t *testing.T) {
	if name := os.Getenv("EXPENSIVE"); name != "" {
		if !evaluate(t, name, expensiveFiles()[name]) {
			t.Fatal("no error")
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, most, _ := strings.Cut(string(status), "VmHWM:")
		fmt.Println("peak", strings.Fields(most)[0])
		return
	}
	t.Parallel()
	all := expensiveFiles()
	if len(all) < 45 {
		t.Fatalf("only %d expensive manifests", len(all))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		// Beside other work the collector may come late: the lowest of three counts.
		took := ""
		for range 3 {
			if took = runAlone(t, name); took == "" {
				break
			}
		}
		if took != "" {
			t.Errorf("%s: %s", name, took)
		}
	}
}

// runAlone runs an expensive manifest in a process of its own, and returns what it took, "" if that is
// within the limits.
func runAlone(t *testing.T, name string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestManifest_BoundsExpensiveFiles$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), "EXPENSIVE="+name)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v\n%.2000s", err, out)
	}
	work := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	// It says itself how much memory it had, in KiB: Linux counts what the process
	// that starts it has, too.
	_, peak, _ := strings.Cut(string(out), "peak ")
	peak, _, _ = strings.Cut(peak, "\n")
	memory, err := strconv.Atoi(peak)
	if err != nil {
		return fmt.Sprintf("%v\n%.2000s", err, out)
	}
	if work > bombTime || memory > 200<<10 && !raceDetector {
		return fmt.Sprintf("%s of work, %d MiB", work, memory>>10)
	}
	return ""
}
