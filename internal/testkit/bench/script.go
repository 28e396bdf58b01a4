package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"deployster/internal/base/natural"
	"deployster/internal/testkit/bench/meter"
	"deployster/internal/testkit/services"
)

// scripts are the rows, in the language of the script tests: each prepares something, and
// has for each line of the table what is measured and the goal. commands lists what they have
// beside the commands of testscript. The first line of a row is its name.
//
//go:embed rows
var scripts embed.FS

// rows are all of them, by their numbers.
func rows() (list []row) {
	files, _ := scripts.ReadDir("rows") // it is part of the program
	for _, f := range files {
		text, _ := scripts.ReadFile("rows/" + f.Name())
		name, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		r := row{number: strings.TrimSuffix(f.Name(), ".txtar"), name: name}
		r.measure = func(ctx context.Context, l *lab) ([]line, error) { return runScript(ctx, l, r.number) }
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b row) int { return natural.Compare(a.number, b.number) })
	return list
}

// script is one of them while it runs.
type script struct {
	lab       *lab
	ctx       context.Context
	ts        *testscript.TestScript
	bed, twin *bed // two working directories of one data directory
	terraform *terraformBed
	bare      *bare
	watch     *watching
	store     store
	lines     []line
	sides     map[string]side          // ours and theirs
	series    map[string][]meter.Usage // measured, for take
	turn      int                      // of other programs
	failed    error
	close     []func() error // the last one first
	own       int            // of them are older than the bed
}

// runScript measures the row of a number.
func runScript(ctx context.Context, l *lab, number string) (_ []line, err error) {
	dir, err := os.MkdirTemp("", "bench-row")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.CopyFS(dir, scripts); err != nil {
		return nil, err
	}
	s := &script{lab: l, ctx: ctx, series: map[string][]meter.Usage{}, sides: map[string]side{}}
	used := map[string]func(*testscript.TestScript, bool, []string){}
	for name, command := range commands {
		used[name] = func(ts *testscript.TestScript, _ bool, args []string) {
			s.ts = ts
			err := context.Cause(ctx)
			if err == nil {
				err = command(s, args)
			}
			if err != nil {
				s.failed = err
				ts.Fatalf("%v", err)
			}
		}
	}
	r := &scriptRunner{}
	testscript.RunT(r, testscript.Params{Files: []string{filepath.Join(dir, "rows", number+".txtar")}, Cmds: used, Setup: s.setup,
		RequireExplicitExec: true, RequireUniqueNames: true})
	if r.failed && s.failed == nil {
		s.failed = errors.New(strings.TrimSpace(r.log))
	}
	return s.lines, s.failed
}

func (s *script) setup(env *testscript.Env) error {
	module := filepath.Dir(filepath.Dir(s.lab.tool))
	env.Vars = append(env.Vars, os.Environ()...)
	env.Vars = append(env.Vars, "CGO_ENABLED=0", "MODULE="+module, "idle="+s.lab.idle.String())
	env.Defer(func() {
		s.own = 0
		s.failed = errors.Join(s.failed, s.closeBed(nil))
	})
	return nil
}

// closeBed closes the bed, and what was opened after it.
func (s *script) closeBed([]string) (err error) {
	for len(s.close) > s.own {
		last := s.close[len(s.close)-1]
		s.close = s.close[:len(s.close)-1]
		err = errors.Join(err, last())
	}
	return err
}

// program is another program, which is measured too. UNIQUE is another word in each turn.
func (s *script) program(args []string) side {
	b := s.bed
	return side{run: func() (meter.Usage, error) {
		s.turn++
		turn := slices.Clone(args)
		if i := slices.Index(turn, "UNIQUE"); i >= 0 {
			turn[i] = fmt.Sprintf("bench-%d-%d", os.Getpid(), s.turn)
		}
		return b.meter.Run(s.ctx, meter.Command{Dir: b.work, Args: turn})
	}}
}

// scriptRunner runs a script outside of a test.
type scriptRunner struct {
	failed bool
	log    string
}

// errScript ends a script that failed.
var errScript = errors.New("the script failed")

// Skip is for tests.
func (r *scriptRunner) Skip(...any) { panic(errScript) }

// Fatal ends the script.
func (r *scriptRunner) Fatal(text ...any) { r.Log(text...); r.FailNow() }

// Parallel is for tests.
func (r *scriptRunner) Parallel() {}

// Log keeps the text for the error.
func (r *scriptRunner) Log(text ...any) { r.log += fmt.Sprint(text...) }

// FailNow ends the script.
func (r *scriptRunner) FailNow() { r.failed = true; panic(errScript) }

// Verbose is for tests.
func (r *scriptRunner) Verbose() bool { return false }

// Run runs the only script.
func (r *scriptRunner) Run(_ string, f func(testscript.T)) {
	defer func() {
		if reason := recover(); reason != nil && reason != any(errScript) {
			panic(reason)
		}
	}()
	f(r)
}

// variable is one in a file of a script. HCL's own have a brace.
var variable = regexp.MustCompile(`\$[A-Za-z]+`)

// expand replaces the variables of a text.
func (s *script) expand(text string, more map[string]string) string {
	return variable.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := more[name[1:]]; ok {
			return value
		}
		return s.ts.Getenv(name[1:])
	})
}

// number reads an argument, which may be missing.
func number(args []string, i, missing int) (int, error) {
	if i >= len(args) {
		return missing, nil
	}
	return strconv.Atoi(args[i])
}

// modified separates the words before a colon: "reset,stored: apply" runs apply with the
// state in a store, after a reset.
func modified(args []string) (words map[string]bool, rest []string) {
	words = map[string]bool{}
	if len(args) == 0 || !strings.HasSuffix(args[0], ":") {
		return words, args
	}
	for word := range strings.SplitSeq(strings.TrimSuffix(args[0], ":"), ",") {
		words[word] = true
	}
	return words, args[1:]
}

// side is what a command is measured as.
func (s *script) side(args []string) (out side, err error) {
	words, args := modified(args)
	b := s.bed
	if words["twin"] {
		b = s.twin
	}
	if b == nil || len(args) == 0 {
		return out, errors.New("a command and a bed are required")
	}
	switch {
	case words["terraform"]:
		out = s.terraform.side(s.ctx, nil, args...)
	case words["program"]:
		out = s.program(args)
	case words["bare"]:
		out, err = s.bareRuns(args)
	case words["stored"] || words["fresh"]:
		out.run = func() (meter.Usage, error) {
			if words["fresh"] {
				s.store.count++
			}
			return b.meter.Run(s.ctx, s.store.command(b, append(args, "-state="+s.store.state())...))
		}
	default:
		out = b.ours(s.ctx, nil, args...)
	}
	return out, errors.Join(err, s.prepare(&out, b, words))
}

// prepare is what a side does before each turn.
func (s *script) prepare(out *side, b *bed, words map[string]bool) error {
	for word := range words {
		prune := func() error { return b.do(s.ctx, "artifact", "prune", "-all") }
		switch word {
		case "twin", "terraform", "bare", "stored", "fresh", "program":
		case "reset":
			if out.prepare = b.reset; words["terraform"] {
				out.prepare = s.terraform.reset
			}
		case "prune":
			out.prepare = prune
		case "empty":
			to := filepath.Join(b.work, "world/out")
			out.prepare = func() error { return errors.Join(prune(), os.RemoveAll(to), os.Mkdir(to, 0o755)) }
		case "fresh-plan":
			out.prepare = func() error { return errors.Join(b.reset(), b.do(s.ctx, "plan", "-out", "plan.bin")) }
		case "planned":
			out.prepare = func() error {
				return errors.Join(os.Remove(filepath.Join(b.work, "world/made")), b.do(s.ctx, "plan", "-out", "plan.bin"))
			}
		default:
			return fmt.Errorf("%q is not a word before a command", word)
		}
	}
	return nil
}

// store is where states are that are not in files.
type store struct {
	url   string // of a state that is called NAME
	count int    // names the newest of them
}

func (s store) state() string { return strings.Replace(s.url, "NAME", fmt.Sprint("n", s.count), 1) }

// command is one of ours that may use the stores.
func (s store) command(b *bed, args ...string) meter.Command {
	c := b.deployster(args...)
	for name, value := range services.Credentials() {
		c.Env = append(c.Env, name+"="+value)
	}
	return c
}
