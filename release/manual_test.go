package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A terminal shows all of the page: no table that is wider than it, and no link to a file.
func TestLanguagePage_FitsATerminal(t *testing.T) {
	page := filepath.Join(t.TempDir(), "deployster-language.7")
	if err := languagePage("../docs/language.md", page, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mandoc", "-T", "lint", "-W", "warning", page).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, no := range []string{"\n.TS", "\\[la]#", "\\[la]protocol.md"} {
		if at := strings.Index(string(text), no); at >= 0 {
			t.Errorf("it has %q: %s", no, text[max(0, at-100):at+100])
		}
	}
	for _, want := range []string{"2026-01-02", ".SH NAME", "passphrase_env"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("it has no %q", want)
		}
	}
}

func TestManual_TablesAreLists(t *testing.T) {
	page := "a [b](c.md#d), [e](https://f.example)\n\n| g | h | i |\n|---|---|---|\n| `x \\|\\| y` | j | k |\n\n" +
		"| l | m |\n|---|---|\n| n | o |\n```\n| [p](q) |\n```"
	want := "a b, [e](https://f.example)\n\n- `x || y`: h j; i k\n\n- n: o\n```\n| [p](q) |\n```"
	if got := forManual(page); got != want {
		t.Errorf("%q, and must be %q", got, want)
	}
}
