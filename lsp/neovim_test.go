package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deployster/config"
)

// Neovim with the config of docs/editors.md: a mistake is found and mended, a resource renamed, the file formatted.
func TestNeovim_WithTheConfigOfThePage(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("nvim is not on the PATH: `.ci/setup test` installs it")
	}
	page, err := os.ReadFile("../docs/editors.md")
	if err != nil {
		t.Fatal(err)
	}
	config := regexp.MustCompile("(?s)## Neovim.*?```lua\n(.*?)```").FindSubmatch(page)
	if config == nil {
		t.Fatal("docs/editors.md has no config of Neovim")
	}
	script, err := filepath.Abs("testdata/neovim.lua")
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	write := func(path, text string, mode os.FileMode) {
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(bin, "deployster"), "#!/bin/sh\n[ \"$*\" = lsp ] || exit 9\nexec env "+asProgram+"=1 "+os.Args[0]+"\n", 0o755)
	write(filepath.Join(dir, "init.lua"), string(config[1]), 0o644)
	write(filepath.Join(dir, "main.hcl"), "# 😀\nresource \"web\" {\n  type = \"acme/web:1\"\n  config={a=1}\n}\n", 0o644)
	cmd := exec.Command(nvim, "--headless", "-n", "-u", "init.lua", "-c", "luafile "+script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir,
		"XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "nvim", "lsp.log"))
		t.Fatalf("%v\n%s\n%s", err, out, log)
	}
	got, err := os.ReadFile(filepath.Join(dir, "main.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "# 😀\nresource \"site\" {\n  type   = \"acme/web:1\"\n  config = { a = 1 }\n}\noutput \"o\" {\n" +
		"  value = \"😀😀 ${resource.site.state.path}\"\n}\n\nmoved {\n  from = resource.web\n  to   = resource.site\n}\n"
	if string(got) != want {
		t.Errorf("%s", got)
	}
}

// Neovim with the syntax file of docs/editors: each block of the language is highlighted, and so is what expressions have.
func TestNeovim_HighlightsTheLanguage(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("nvim is not on the PATH: `.ci/setup test` installs it")
	}
	lines := []string{"# text", `text = "a ${upper(var.x)} $${b}"`, "n = 12", "<<EOT", `resource "a" {`, "EOT", "unknown {", "resource = 1"}
	want := []string{"1:Comment", "1:Attribute 6:Operator 8:String 11:Delimiter 13:Function 18:Template 19:Reference 22:Template " +
		"25:Delimiter 26:String 27:Escape 30:String",
		"1:Attribute 3:Operator 5:Number", "1:String", "1:String", "1:String", "", "1:Attribute 10:Operator 12:Number"}
	var add func(config.Syntax)
	add = func(s config.Syntax) {
		for _, b := range s.Blocks {
			lines, want = append(lines, "  "+b.Block+" {"), append(want, "3:Block")
			add(b)
		}
	}
	add(config.Language())
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	abs := func(path string) string {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	cmd := exec.Command(nvim, "--headless", "-n", "-u", "NONE", "--cmd", "set runtimepath^="+abs("../docs/editors/neovim"), "-c", "filetype on",
		"-c", "syntax on", "-c", "edit main.hcl", "-c", "luafile "+abs("testdata/highlight.lua"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "highlighted"))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, line := range lines {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("%s\n got %q\nwant %q", line, slices.Concat(got, make([]string, len(lines)))[i], want[i])
		}
	}
}
