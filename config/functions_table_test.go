package config

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var terraform = flag.String("terraform", "", "the terraform `PROGRAM` to make the table of functions anew with")

const tableDir = "testdata/functions"

// tableLocals stand for what is unknown; SOURCE is something that is.
const tableLocals = `
variable "secret" {
  sensitive = true
  default   = "s3cret"
}
locals {
  ud = SOURCE
  us = tostring(SOURCE)
  un = tonumber(SOURCE)
  ub = tobool(SOURCE)
  ul = split(",", tostring(SOURCE))
  template = "Hello $${name}!"
}
`

// answer is what a console printed for an expression; failed is what stands
// there for an error.
type answer struct{ Expr, Printed string }

const failed = "(error)"

// difference is an expression for which another answer than Terraform's is
// right.
type difference struct{ Expr, Ours, Why string }

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
	table := jsonLines[answer](t, "terraform.jsonl")
	if len(table) < 700 {
		t.Fatalf("the table has only %d rows", len(table))
	}
	for _, row := range table {
		got, diags := ours.Evaluate(row.Expr, nil)
		if diags.HasErrors() {
			survived(t, diags)
			got = failed
		}
		want := row.Printed
		if d, ok := differences[row.Expr]; ok {
			if delete(differences, row.Expr); d.Ours == want {
				t.Errorf("%s: is no difference", row.Expr)
			}
			want = d.Ours
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s\n%v", row.Expr, got, want, diags)
		}
	}
	for expr := range differences {
		t.Errorf("%s: is not in the table", expr)
	}
}

// Every function has several rows, in the table or in the list of what
// Terraform does not have.
func TestFunctionsTable_HasEveryFunction(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(tableDir, "expressions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	beyond := map[string]bool{"base64gunzip": true, "setsymmetricdifference": true, "plantimestamp": true}
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

// makeTable asks terraform console for each expression. A process answers one:
// of several it prints the last answer only.
func makeTable(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(tableDir, "files"))); err != nil {
		t.Fatal(err)
	}
	manifest := "resource \"terraform_data\" \"u\" {}\n" + strings.ReplaceAll(tableLocals, "SOURCE", "terraform_data.u.output")
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir() // what terraform keeps: fileset must not see it
	run := func(stdin string, args ...string) (string, error) {
		cmd := exec.Command(*terraform, args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "HOME=/home/me", "TF_CLI_CONFIG_FILE=/dev/null", "CHECKPOINT_DISABLE=1", "TF_DATA_DIR="+data)
		out, err := cmd.Output()
		return string(out), err
	}
	if out, err := run("", "init", "-no-color"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Remove(filepath.Join(dir, ".terraform.lock.hcl")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	in, err := os.Open(filepath.Join(tableDir, "expressions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var table bytes.Buffer
	enc := json.NewEncoder(&table)
	enc.SetEscapeHTML(false)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		expr := lines.Text()
		if expr == "" || strings.HasPrefix(expr, "#") {
			continue
		}
		printed, err := run(expr+"\n", "console", "-no-color")
		if err != nil {
			printed = failed
		}
		if err := enc.Encode(answer{expr, strings.TrimSuffix(printed, "\n")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(tableDir, "terraform.jsonl"), table.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
