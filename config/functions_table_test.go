package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/funcs"
	"deployster/config/results"
	"deployster/config/values"
)

var terraform = flag.String("terraform", "", "the terraform `PROGRAM` to make the table of functions anew with")

const tableDir = "testdata/functions"

// tableLocals stand for what is unknown; SOURCE is something that is.
const tableLocals = `
variable "secret" {
  sensitive = true
  default   = "s3cret"
}
variable "nb" {
  type    = bool
  default = null
}
variable "nn" {
  type    = number
  default = null
}
variable "ns" {
  type    = string
  default = null
}
variable "nl" {
  type    = list(string)
  default = null
}
variable "nm" {
  type    = map(string)
  default = null
}
variable "no" {
  type    = object({ a = string })
  default = null
}
locals {
  ud = SOURCE
  us = tostring(SOURCE)
  un = tonumber(SOURCE)
  ub = tobool(SOURCE)
  ul = split(",", tostring(SOURCE))
  ut = toset(split(",", tostring(SOURCE)))
  um = tobool(SOURCE) ? tomap({ a = "1" }) : tomap({ a = "2", b = "3" })
  template = "Hello $${name}!"
}
`

// answer is what a console printed for an expression and for its type, and, if the
// expression is sensitive, without that. For an error, failed stands there, and its kind.
type answer struct {
	Expr    string
	Printed string
	Type    string `json:",omitempty"`
	Plain   string `json:",omitempty"`
	Error   string `json:",omitempty"`
	Hidden  bool   `json:",omitempty"` // it is sensitive, perhaps unknown too
}

const failed, hiddenValue = "(error)", "(sensitive value)"

// difference is an expression for which another answer than Terraform's is
// right.
type difference struct {
	answer
	Why string
}

// kindOf returns which kind of error a message reports.
func kindOf(message string) string {
	switch {
	case strings.Contains(message, "null"):
		return "null"
	case strings.Contains(message, "ensitive"):
		return "sensitive"
	}
	return "other"
}

// Each function gives what it gives in Terraform, as the table says that its
// console printed (`make functions-table`), or what the list of differences
// says, with its reason.
func TestFunctions_AgreeWithTerraform(t *testing.T) {
	t.Parallel()
	if *terraform != "" {
		makeTable(t)
	}
	differences := map[string]difference{}
	for _, d := range jsonLines[difference](t, "differences.jsonl") {
		if d.Why == "" || differences[d.Expr].Expr != "" {
			t.Errorf("%s: no reason, or there twice", d.Expr)
		}
		differences[d.Expr] = d
	}
	ours := tableManifest(t)
	people := funcs.New(funcs.Env{Console: true})
	table := jsonLines[answer](t, "terraform.jsonl")
	for _, row := range table {
		want := row
		if d, ok := differences[row.Expr]; ok {
			if delete(differences, row.Expr); d.answer == row {
				t.Errorf("%s: is no difference", row.Expr)
			}
			want = d.answer
		}
		if got, diags := ourAnswer(t, ours, people, row.Expr); got != want {
			t.Errorf("%s\n got %+v\nwant %+v\n%v", row.Expr, got, want, diags)
		}
	}
	for expr := range differences {
		t.Errorf("%s: is not in the table", expr)
	}
	list := listed(t)
	made := operandExpressions(ours, table[:min(len(list), len(table))])
	for i, expr := range slices.Concat(list, made) {
		if i >= len(table) || table[i].Expr != expr {
			t.Fatalf("%s: is not row %d of the table: make functions-table", expr, i)
		}
	}
	if len(made) < 5000 || len(table) != len(list)+len(made) {
		t.Errorf("%d rows, %d of them made", len(table), len(made))
	}
}

// ourAnswer returns the answer of this console.
func ourAnswer(t *testing.T, ours *Manifest, people map[string]function.Function, expr string) (answer, hcl.Diagnostics) {
	out := answer{Expr: expr}
	v, _, diags := results.Typed(ours.instances.Modules, expr, consoleFile, nil)
	if diags.HasErrors() {
		survived(t, ours.instances.Modules.Convert(diags))
		out.Printed, out.Error = failed, kindOf(diags.Error())
		return out, diags
	}
	out.Printed = values.Display(v)
	if strings.Contains(expr, "type(") {
		return out, nil
	}
	show := func(function string) string {
		result, err := people[function].Call([]cty.Value{v})
		if err != nil {
			t.Errorf("%s(%s): %v", function, expr, err)
		}
		return values.Display(result)
	}
	out.Type, out.Hidden = show("type"), show("issensitive") == "true"
	if out.Printed == hiddenValue {
		out.Plain = show("nonsensitive")
	}
	return out, diags
}

// Every function has several rows, in the table or in the list of what
// Terraform does not have.
func TestFunctionsTable_HasEveryFunction(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(tableDir, "expressions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	beyond := map[string]bool{"base64gunzip": true, "convert": true, "setsymmetricdifference": true, "plantimestamp": true}
	for name := range tableManifest(t).tree.Root.Functions {
		if n := strings.Count(string(text), name+"("); n < 2 && !beyond[name] {
			t.Errorf("%s has only %d rows", name, n)
		}
	}
}

func tableManifest(t testing.TB) *Manifest {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(tableDir, "files"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(tableLocals, "SOURCE", "resource.u.state.id") + "resource \"u\" {\n  type = \"x\"\n}\n"
	m, diags := Load(Sources{Workspace: dir, Dir: dir, Manifests: []File{{Path: "main.hcl", Bytes: []byte(text)}}}, nil, Builtins{Home: "/home/me"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return m
}

func jsonLines[T any](t testing.TB, name string) []T {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(tableDir, name))
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	for line := range bytes.Lines(text) {
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatalf("%s: %v in %s", name, err, line)
		}
		out = append(out, row)
	}
	return out
}

// listed returns the expressions in the list of the table.
func listed(t testing.TB) []string {
	text, err := os.ReadFile(filepath.Join(tableDir, "expressions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// makeTable queries terraform console for each expression in the list, and then for those
// that operandExpressions makes from the answers.
func makeTable(t *testing.T) {
	console := newTerraformConsole(t)
	table := console.answers(listed(t))
	table = append(table, console.answers(operandExpressions(tableManifest(t), table))...)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, row := range table {
		if err := enc.Encode(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(tableDir, "terraform.jsonl"), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
