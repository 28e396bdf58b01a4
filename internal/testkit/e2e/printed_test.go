package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/rootless"
	"deployster/internal/cli/process"
	"deployster/state"
)

// What the tool prints and writes as JSON, in all scripts, is held against the
// published schemas: they are closed, so that a key without a description is
// found by whoever prints it.

// printedDir is where a script's commands keep what they print with -json.
const printedDir = "DEPLOYSTER_TEST_PRINTED"

// kept gives stdout, and keeps what goes there for checkPrinted.
func kept() io.Writer {
	dir := os.Getenv(printedDir)
	again := os.Getenv(asPerson) != "" && !rootless.Inside() // the command starts itself again, in the namespace of its user
	if dir == "" || again || !slices.ContainsFunc(os.Args, func(a string) bool { return a == "-json" || a == "--json" }) {
		return process.Stdout()
	}
	f, err := os.CreateTemp(dir, "*.printed")
	if err != nil {
		panic(err)
	}
	args, err := json.Marshal(os.Args[1:])
	if err != nil {
		panic(err)
	}
	_, _ = f.Write(append(args, '\n'))
	return both{process.Stdout(), f}
}

// both passes on what could be written, and only that is kept.
type both struct {
	io.Writer
	copy *os.File
}

func (b both) Write(p []byte) (int, error) {
	n, err := b.Writer.Write(p)
	_, _ = b.copy.Write(p[:n])
	return n, err
}

// checkPrinted looks through all that a script's commands have printed with
// -json, and through the files that they have left.
func checkPrinted(dir string) error {
	printed, err := filepath.Glob(filepath.Join(dir, ".printed", "*.printed"))
	wrong := []error{err}
	for _, file := range printed {
		if err := checkOne(file); err != nil {
			wrong = append(wrong, err)
		}
	}
	wrong = append(wrong, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !e.Type().IsRegular() {
			return nil // a script may have made it unreadable
		}
		if err := checkFile(path); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", path, err))
		}
		return nil
	}))
	return errors.Join(wrong...)
}

func checkOne(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head, body, _ := bytes.Cut(content, []byte("\n"))
	var args []string
	if err := json.Unmarshal(head, &args); err != nil {
		return err
	}
	if len(body) == 0 {
		return nil // an error, on stderr
	}
	if err := checkOutput(args, body); err != nil {
		return fmt.Errorf("deployster %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// shapes says which schema describes what a command prints; "" = any JSON.
var shapes = map[string]func(words []string, body []byte) string{
	"show": func(_ []string, body []byte) string {
		if bytes.Contains(body, []byte(`"layers"`)) {
			return "plan"
		}
		return "state"
	},
	"output": func(words []string, _ []byte) string {
		if len(words) > 1 {
			return ""
		}
		return "outputs"
	},
	"resolve":  always("state-edit"),
	"validate": always("diagnostics"),
	"version":  always("version"),
	"state": second(map[string]string{"list": "state-list", "show": "state-entry", "copies": "state-copies", "history": "state-history",
		"status": "state-status", "rm": "state-edit", "mv": "state-edit", "push": "state-edit", "restore": "state-edit"}),
	"image":    second(map[string]string{"ls": "images-list"}),
	"module":   second(map[string]string{"list": "modules-list"}),
	"artifact": second(map[string]string{"list": "artifact-list", "check": "artifact-check", "versions": "artifact-versions"}),
	"type":     second(map[string]string{"inspect": "type-inspect", "test": "type-test-report"}),
	"runs":     second(map[string]string{"list": "runs-list", "show": "runs-show", "logs": "runs-logs"}),
}

func always(name string) func([]string, []byte) string {
	return func([]string, []byte) string { return name }
}

func second(names map[string]string) func([]string, []byte) string {
	return func(words []string, _ []byte) string {
		if len(words) > 1 && names[words[1]] != "" {
			return names[words[1]]
		}
		return "no schema for " + strings.Join(words, " ")
	}
}

func checkOutput(args []string, body []byte) error {
	var words []string
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			words = append(words, arg)
		}
	}
	for _, command := range []string{"plan", "apply", "destroy", "drift", "watch"} {
		if slices.Contains(words, command) {
			return checkEvents(body, command)
		}
	}
	for i, word := range words {
		if shape := shapes[word]; shape != nil {
			name := shape(words[i:], body)
			if name == "" {
				return jsondoc.Check(body)
			}
			return matches(name, body)
		}
	}
	return errors.New("no schema says what that prints")
}

// checkEvents looks at a stream: the last event is the last one, unless nobody
// was there any more to print it, or to read it.
func checkEvents(body []byte, command string) error {
	if !bytes.HasSuffix(body, []byte("\n")) {
		body = body[:bytes.LastIndexByte(body, '\n')+1]
	}
	n, ended := 0, false
	for line := range bytes.Lines(body) {
		n++
		if err := matches("event", line); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		var e struct{ Type, Command string }
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		switch {
		case ended:
			return fmt.Errorf("an event after the end: %s", line)
		case n == 1 && (e.Type != "version" || e.Command != command && command != ""):
			return fmt.Errorf("it begins with %s", line)
		}
		ended = e.Type == "end"
	}
	return nil
}

// checkFile looks at a file that a command may have left.
func checkFile(path string) error {
	name, inRuns := filepath.Base(path), strings.Contains(path, "/.deployster/runs/")
	switch {
	case inRuns && name == "events.jsonl":
		return checkContent(path, func(content []byte) error { return checkEvents(content, "") })
	case inRuns && name == "run.json":
		return checkContent(path, schema("run"))
	case inRuns && name == "meta.json":
		return checkContent(path, schema("step"))
	case inRuns && name == "report.json":
		return checkContent(path, schema("report"))
	case inRuns:
		return nil
	case strings.HasSuffix(name, ".state.json"):
		return checkContent(path, func(content []byte) error {
			var head struct {
				Format  int
				Lineage string
			}
			if jsondoc.Check(content) != nil || json.Unmarshal(content, &head) != nil || head.Format != state.Format || len(head.Lineage) != 32 {
				return nil // what a script made to be refused
			}
			return matches("state", content)
		})
	case strings.HasSuffix(name, ".bin"):
		return checkPlanFile(path)
	}
	return nil
}

func schema(name string) func([]byte) error {
	return func(content []byte) error { return matches(name, content) }
}

func checkContent(path string, check func([]byte) error) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.HasPrefix(content, []byte("{")) {
		return nil // it is gone by now, or encrypted
	} else if err != nil {
		return err
	}
	return check(content)
}

func checkPlanFile(path string) error {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil // what a script has damaged, or made to be none
	}
	defer func() { _ = archive.Close() }() // it was only read
	f, err := archive.Open("plan.json")
	if err != nil {
		return nil
	}
	content, err := io.ReadAll(f)
	if err != nil {
		return nil
	}
	return matches("plan", content)
}
