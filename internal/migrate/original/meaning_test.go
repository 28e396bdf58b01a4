package original

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"deployster/config"
)

// The variables and the state that the texts in testdata/meaning.txt refer to.
const (
	contextVars = `name: web
replicas: 3
port: 8080
debug: true
quiet: false
ratio: 1.5
nothing: ''
zones: [a, b, c]
numbers: [3, 1, 2]
flags: [true, false]
mixed: [1, a, true]
unset: null
labels: {cost: low, team: web}
title: Hello World
path: /etc/app
digits: '42'
lines: "one\n\ntwo\n"
`
	contextState = `{"zone":"eu","size":200,"ok":true,"off":false,"ip":null,"tags":["x","y"],"meta":{"a":1,"b-c":"d"},` +
		`"disks":[{"name":"d1","size":1,"ssd":true},{"name":"d2","size":2,"ssd":false}],"empty":"","false":"false","zero":0,"half":0.5,` +
		`"pairs":[["p",1],["q",2]],"digits":"7"}`
)

// record is a text of a manifest: what it becomes, and the value that Jinja2 gives it.
type record struct{ text, hcl, value string }

func records(t *testing.T) (out []record) {
	t.Helper()
	data, err := os.ReadFile("testdata/meaning.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		lines := strings.SplitN(part, "\n", 3)
		text := lines[0]
		if unquoted, err := strconv.Unquote(text); err == nil {
			text = unquoted
		}
		r := record{text: text}
		if len(lines) == 3 {
			r.hcl, r.value = lines[1], lines[2]
		}
		out = append(out, r)
	}
	return out
}

// translated returns what texts become in the config of a resource, and their values: "error" where that is none, and ""
// where there is no counterpart.
func translated(t *testing.T, texts []string) (hcl, values []string) {
	t.Helper()
	hcl, values = make([]string, len(texts)), make([]string, len(texts))
	manifest := "resources:\n  data:\n    type: acme/disk\n  r:\n    type: acme/r\n    dependencies: {disk: data}\n    config:\n"
	const above = 7 // lines
	for i, text := range texts {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		manifest += fmt.Sprintf("      v%d: %s\n", i, quoted)
	}
	made, err := Run(Options{Manifests: []File{{Name: "main.yaml", Bytes: []byte(manifest)}},
		Variables: []File{{Name: "vars.yaml", Bytes: []byte(contextVars)}}, Version: "0.1.0", Include: func(string) (string, error) {
			return "", errors.New("there is none")
		}})
	if err != nil {
		t.Fatal(err)
	}
	attributes := regexp.MustCompile(`(?m)^ +v(\d+) += (.*)$`)
	for _, found := range attributes.FindAllStringSubmatch(string(made.Files["main.hcl"]), -1) {
		i, err := strconv.Atoi(found[1])
		if err != nil {
			t.Fatal(err)
		}
		hcl[i] = found[2]
	}
	for _, open := range made.Open {
		place, reason, _ := strings.Cut(strings.TrimPrefix(open, "main.yaml:"), ": ")
		line, err := strconv.Atoi(place)
		if err != nil {
			t.Fatal(err)
		}
		hcl[line-above-1] = "# " + reason
	}
	evaluate(t, made, values)
	return hcl, values
}

// evaluate gives the values of all attributes, one by one, because some have none.
func evaluate(t *testing.T, made Result, values []string) {
	t.Helper()
	var src config.Sources
	for name, data := range made.Files {
		src.Manifests = append(src.Manifests, config.File{Path: name, Bytes: data})
	}
	given := map[string]json.RawMessage{}
	for i := range made.Open {
		given[fmt.Sprintf("untranslated_%d", i+1)] = json.RawMessage(`""`)
	}
	vars, diags := config.Pinned(given)
	m, more := config.Load(src, vars, config.Builtins{Version: "0.1.0"})
	if diags = append(diags, more...); diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	states := config.States{"data": {Known: json.RawMessage(contextState), Complete: true}}
	resolved, diags := m.Config("r", states)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(resolved.Value, &all); err != nil || len(resolved.Unknown) > 0 {
		t.Fatalf("%v, %v", err, resolved.Unknown)
	}
	for i := range values {
		values[i] = string(all[fmt.Sprintf("v%d", i)])
	}
}

var hasJinja2 = sync.OnceValue(func() bool { return exec.Command("python3", "-c", "import jinja2, yaml").Run() == nil })

// reference runs testdata/reference.py; false if this machine has no Jinja2.
func reference(t *testing.T, input, answer any) bool {
	t.Helper()
	if !hasJinja2() {
		return false
	}
	given, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command("python3", "testdata/reference.py")
	run.Stdin, run.Stderr = bytes.NewReader(given), os.Stderr
	data, err := run.Output()
	if err = errors.Join(err, json.Unmarshal(data, answer)); err != nil {
		t.Fatal(err)
	}
	return true
}

// jinja2 returns the values of texts; false if this machine has no Jinja2.
func jinja2(t *testing.T, texts []string) (values []string, ok bool) {
	t.Helper()
	disk := map[string]any{"name": "data", "type": "acme/disk", "state": json.RawMessage(contextState)}
	ok = reference(t, map[string]any{"texts": texts, "variables": contextVars, "context": map[string]any{"disk": disk}}, &values)
	return values, ok
}

// Each text of a manifest has the value in HCL that it has in Jinja2, or has no counterpart. Where it is an error in
// Jinja2, it may be none here.
func TestMeaning_IsKept(t *testing.T) {
	t.Parallel()
	list := records(t)
	if os.Getenv("DEPLOYSTER_UPDATE") != "" {
		update(t, list)
		return
	}
	seen := map[string]bool{}
	hcl, values := translated(t, texts(list))
	for i, r := range list {
		if seen[r.text] {
			t.Errorf("%s is there twice", r.text)
		}
		seen[r.text] = true
		if hcl[i] != r.hcl {
			t.Errorf("%s\nbecomes %s\nand not %s", r.text, hcl[i], r.hcl)
		}
		if kept := strings.HasPrefix(r.hcl, "# ") || r.value == "error" || equal(values[i], r.value); !kept {
			t.Errorf("%s\nbecomes %s\nwhich is %s\nand not   %s", r.text, hcl[i], values[i], r.value)
		}
	}
	if len(list) < 200 {
		t.Errorf("only %d texts", len(list))
	}
}

// The stored values are those of the Jinja2 of this machine, if it has one.
func TestMeaning_IsThatOfJinja2(t *testing.T) {
	t.Parallel()
	list := records(t)
	values, ok := jinja2(t, texts(list))
	if !ok {
		t.Skip("python3 has no jinja2 here")
	}
	for i, r := range list {
		if values[i] != r.value {
			t.Errorf("%s\nis %s in Jinja2, and %s in the file", r.text, values[i], r.value)
		}
	}
}

// equal reports whether two values in JSON are equal.
func equal(a, b string) bool {
	if a == b {
		return true
	}
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

func texts(list []record) (out []string) {
	for _, r := range list {
		out = append(out, r.text)
	}
	return out
}

func update(t *testing.T, list []record) {
	t.Helper()
	values, ok := jinja2(t, texts(list))
	if !ok {
		t.Fatal("python3 has no jinja2 here")
	}
	hcl, got := translated(t, texts(list))
	var out strings.Builder
	for i, text := range texts(list) {
		if kept := strings.HasPrefix(hcl[i], "# ") || values[i] == "error" || equal(got[i], values[i]); !kept {
			t.Errorf("%s\nbecomes %s\nwhich is %s\nand not   %s", text, hcl[i], got[i], values[i])
		}
		if strings.Contains(text, "\n") {
			text = strconv.Quote(text)
		}
		fmt.Fprintf(&out, "%s\n%s\n%s\n\n", text, hcl[i], values[i])
	}
	if err := os.WriteFile("testdata/meaning.txt", []byte(strings.TrimSpace(out.String())+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
