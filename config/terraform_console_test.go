package config

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
)

// terraformConsole evaluates expressions with terraform console.
type terraformConsole struct {
	t    *testing.T
	free chan string // directories that no console runs in: it locks the state in its directory
}

func newTerraformConsole(t *testing.T) terraformConsole {
	c := terraformConsole{t, make(chan string, 3*runtime.NumCPU())}
	manifest := "resource \"terraform_data\" \"u\" {}\n" + strings.ReplaceAll(tableLocals, "SOURCE", "terraform_data.u.output")
	for range cap(c.free) {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(tableDir, "files"))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, message, err := c.runIn(dir, "", "init"); err != nil {
			t.Fatalf("%v\n%s%s", err, out, message)
		}
		if err := os.Remove(filepath.Join(dir, ".terraform.lock.hcl")); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		c.free <- dir
	}
	return c
}

func (c terraformConsole) run(expr string) (stdout, stderr string, err error) {
	dir := <-c.free
	defer func() { c.free <- dir }()
	return c.runIn(dir, expr+"\n", "console")
}

func (c terraformConsole) runIn(dir, stdin, command string) (stdout, stderr string, err error) {
	cmd := exec.Command(*terraform, command, "-no-color")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	data := dir + ".data" // what terraform keeps: fileset must not see it
	cmd.Env = append(os.Environ(), "HOME=/home/me", "TF_CLI_CONFIG_FILE=/dev/null", "CHECKPOINT_DISABLE=1", "TF_DATA_DIR="+data)
	var out, message bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &message
	if err = cmd.Run(); strings.Contains(message.String(), "state lock") {
		c.t.Errorf("%s: %s", stdin, message.String())
	}
	return out.String(), message.String(), err
}

// place is the head of a message of the console, which repeats the expression.
var place = regexp.MustCompile(`(?m)^.*(on <console-input> line \d.*|\(source code not available\)|[├│].*)$`)

// answers evaluates each expression in a process of its own: of several a console prints
// the last answer only.
func (c terraformConsole) answers(expressions []string) []answer {
	rows := make([]answer, len(expressions))
	var group errgroup.Group
	group.SetLimit(cap(c.free))
	for i, expr := range expressions {
		group.Go(func() error { rows[i] = c.answer(expr); return nil })
	}
	_ = group.Wait() // none fails
	var typed []*answer
	for i := range rows {
		if rows[i].Error == "" && !strings.Contains(rows[i].Expr, "type(") {
			typed = append(typed, &rows[i])
		}
	}
	for some := range slices.Chunk(typed, 100) {
		c.types(some)
		c.marks(some)
	}
	return rows
}

func (c terraformConsole) answer(expr string) answer {
	printed, message, err := c.run(expr)
	if err != nil {
		return answer{Expr: expr, Printed: failed, Error: kindOf(place.ReplaceAllString(message, ""))}
	}
	row := answer{Expr: expr, Printed: strings.TrimSuffix(printed, "\n")}
	if row.Printed == hiddenValue {
		plain, message, err := c.run("nonsensitive(" + expr + ")")
		if err != nil {
			c.t.Errorf("nonsensitive(%s): %s", expr, message)
		}
		row.Plain = strings.TrimSuffix(plain, "\n")
	}
	return row
}

// types finds the types of expressions that have values, with one process for all.
func (c terraformConsole) types(rows []*answer) {
	var list strings.Builder
	for _, row := range rows {
		list.WriteString(row.Expr + ", ")
	}
	out, message, err := c.run("type([" + list.String() + "])")
	if err != nil {
		c.t.Fatal(message)
	}
	const indent = "    "
	var element strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, indent) {
			continue // the brackets around all
		}
		element.WriteString(line[len(indent):])
		if line[len(indent)] == ' ' || !strings.HasSuffix(line, ",\n") {
			continue // there is more of this element
		}
		if len(rows) == 0 {
			c.t.Fatalf("more types than expressions:\n%s", out)
		}
		rows[0].Type, rows = strings.TrimSuffix(element.String(), ",\n"), rows[1:]
		element.Reset()
	}
	if len(rows) > 0 {
		c.t.Errorf("no type of %s", rows[0].Expr)
	}
}

// marks finds whether expressions that have values are sensitive, also those that are unknown.
func (c terraformConsole) marks(rows []*answer) {
	var list strings.Builder
	for _, row := range rows {
		list.WriteString("issensitive(" + row.Expr + "), ")
	}
	out, message, err := c.run("[" + list.String() + "]")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err != nil || len(lines) != len(rows)+2 {
		c.t.Fatal(out, message)
	}
	for i, row := range rows {
		row.Hidden = strings.Trim(lines[i+1], " ,") == "true"
	}
}
