package original

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
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

// translated returns what a text becomes in the config of a resource, and its value: "" if it has no counterpart.
func translated(t *testing.T, text string) (hcl, value string) {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	manifest := "resources:\n  data:\n    type: acme/disk\n  r:\n    type: acme/r\n    dependencies: {disk: data}\n    config:\n      v: " +
		string(quoted) + "\n"
	made, err := Run(Options{Manifests: []File{{Name: "main.yaml", Bytes: []byte(manifest)}},
		Variables: []File{{Name: "vars.yaml", Bytes: []byte(contextVars)}}, Version: "0.1.0", Include: func(string) (string, error) {
			return "", errors.New("there is none")
		}})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if len(made.Open) > 0 {
		return "# " + made.Open[0], ""
	}
	_, hcl, _ = strings.Cut(string(made.Files["main.hcl"]), "v = ")
	hcl = strings.TrimSuffix(hcl, "\n  }\n}\n")
	var src config.Sources
	for name, data := range made.Files {
		src.Manifests = append(src.Manifests, config.File{Path: name, Bytes: data})
	}
	m, diags := config.Load(src, nil, config.Builtins{Version: "0.1.0"})
	if diags.HasErrors() {
		return hcl, "error"
	}
	resolved, diags := m.Config("r", config.States{"data": {Known: json.RawMessage(contextState), Complete: true}})
	if diags.HasErrors() {
		return hcl, "error"
	}
	var config struct {
		V json.RawMessage `json:"v"`
	}
	if err := json.Unmarshal(resolved.Value, &config); err != nil || len(resolved.Unknown) > 0 {
		t.Fatalf("%s: %v, %s", text, err, resolved.Value)
	}
	return hcl, string(config.V)
}

// reference evaluates texts as the original does, with the Jinja2 of this machine.
const reference = `
import json, sys, jinja2
given = json.load(sys.stdin)
env = jinja2.Environment()
def evaluate(text):
    if text.startswith("{{") and text.endswith("}}") and text.count("{{") == 1:
        return env.compile_expression(text[2:-2], undefined_to_none=False)(given["context"])
    if "{{" in text or "{%" in text:
        return env.from_string(text).render(given["context"])
    return text
out = []
for text in given["texts"]:
    try:
        value = evaluate(text)
        out.append("error" if isinstance(value, jinja2.Undefined) else json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
    except Exception:
        out.append("error")
json.dump(out, sys.stdout)
`

// jinja2 returns the values of texts; false if this machine has no Jinja2.
func jinja2(t *testing.T, texts []string) ([]string, bool) {
	t.Helper()
	if exec.Command("python3", "-c", "import jinja2, yaml").Run() != nil {
		return nil, false
	}
	var vars, state any
	script := exec.Command("python3", "-c", "import sys, json, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)")
	script.Stdin = strings.NewReader(contextVars)
	data, err := script.Output()
	if err = errors.Join(err, json.Unmarshal(data, &vars), json.Unmarshal([]byte(contextState), &state)); err != nil {
		t.Fatal(err)
	}
	context := vars.(map[string]any)
	context["disk"] = map[string]any{"name": "data", "type": "acme/disk", "state": state}
	input, err := json.Marshal(map[string]any{"texts": texts, "context": context})
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command("python3", "-c", reference)
	run.Stdin = bytes.NewReader(input)
	data, err = run.Output()
	var values []string
	if err = errors.Join(err, json.Unmarshal(data, &values)); err != nil {
		t.Fatal(err)
	}
	return values, true
}

// Each text of a manifest has the value in HCL that it has in Jinja2, or has no counterpart.
func TestMeaning_IsKept(t *testing.T) {
	t.Parallel()
	list := records(t)
	if os.Getenv("DEPLOYSTER_UPDATE") != "" {
		update(t, list)
		return
	}
	seen := map[string]bool{}
	for _, r := range list {
		if seen[r.text] {
			t.Errorf("%s is there twice", r.text)
		}
		seen[r.text] = true
		hcl, value := translated(t, r.text)
		if oneLine(hcl) != r.hcl {
			t.Errorf("%s\nbecomes %s\nand not %s", r.text, hcl, r.hcl)
		}
		if !strings.HasPrefix(r.hcl, "# ") && !equal(value, r.value) {
			t.Errorf("%s\nbecomes %s\nwhich is %s\nand not   %s", r.text, hcl, value, r.value)
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
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = r.text
	}
	values, ok := jinja2(t, texts)
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

func update(t *testing.T, list []record) {
	t.Helper()
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = r.text
	}
	values, ok := jinja2(t, texts)
	if !ok {
		t.Fatal("python3 has no jinja2 here")
	}
	var out strings.Builder
	for i, text := range texts {
		hcl, value := translated(t, text)
		if !strings.HasPrefix(hcl, "# ") && !equal(value, values[i]) {
			t.Errorf("%s\nbecomes %s\nwhich is %s\nand not   %s", text, hcl, value, values[i])
		}
		if strings.Contains(text, "\n") {
			text = strconv.Quote(text)
		}
		fmt.Fprintf(&out, "%s\n%s\n%s\n\n", text, oneLine(hcl), values[i])
	}
	if err := os.WriteFile("testdata/meaning.txt", []byte(strings.TrimSpace(out.String())+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
