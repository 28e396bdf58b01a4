package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
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
