package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The hook accepts "package: verb object" of at most 72 characters, and nothing else.
func TestCommitHook_ChecksSubjects(t *testing.T) {
	t.Parallel()
	hook, err := filepath.Abs(".githooks/commit-msg")
	if err != nil {
		t.Fatal(err)
	}
	for message, valid := range map[string]bool{
		"plan: refuse a cycle\n\nBecause.\n":         true,
		"# a comment\n\nplan,apply/x: merge steps\n": true,
		"plan: " + strings.Repeat("x", 66):           true,
		"plan: " + strings.Repeat("x", 67):           false,
		"x\n":                                        false,
		"Plan: refuse a cycle\n":                     false,
		"plan: Refuse a cycle\n":                     false,
		"A plan refuses a cycle\n\nplan: no\n":       false,
		"":                                           false,
		"Merge branch 'f-x'\n":                       true,
	} {
		file := filepath.Join(t.TempDir(), "message")
		if err := os.WriteFile(file, []byte(message), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(hook, file).CombinedOutput(); (err == nil) != valid {
			t.Errorf("%q is valid: %t, want %t: %s", message, err == nil, valid, out)
		}
	}
	list := exec.Command(hook, "-")
	list.Stdin = strings.NewReader("plan: refuse a cycle\nx\n")
	if out, err := list.CombinedOutput(); err == nil || !strings.Contains(string(out), "not valid: x\n") {
		t.Errorf("of two subjects the second is not valid: %v: %s", err, out)
	}
}
