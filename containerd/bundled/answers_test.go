package bundled

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	digest "github.com/opencontainers/go-digest"

	"deployster/protocol"
)

// built builds a program of this repository.
func built(t *testing.T, dir string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(dir))
	c := exec.Command("go", "build", "-buildvcs=false", "-o", program, ".")
	c.Dir = filepath.Join("..", "..", dir)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// written writes the layout of a program's image with its answers, and returns the images with it, and its digest.
func written(t *testing.T, root, name, program string, a *Answers) (f Files, dgst string) {
	t.Helper()
	if err := Write(filepath.Join(root, name), name, map[string]string{"amd64": program}, a); err != nil {
		t.Fatal(err)
	}
	f = Files{[]string{root}}
	image, err := f.Image("deployster/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return f, image.Digest
}

// What comes with an image is what its program answers to each resource of each of its kinds.
func TestAnswers_AreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{"machine": "file", "notify": "slack"} {
		program := built(t, name)
		a, err := Query(name, program)
		if err != nil || a.Kinds[kind] == "" || a.Kinds[""] != "" {
			t.Fatalf("%v, %v", a, err)
		}
		f, dgst := written(t, t.TempDir(), name, shell(t, name), a) // a small one in its place
		for kind := range a.Kinds {
			in := protocol.InitInput{Name: `module.a.web["x"]`, Type: "deployster/" + name + "#" + kind, Version: "9.9.9", Verbose: true,
				Workspace: "/srv/manifests", Protocol: protocol.Versions{Min: protocol.MinVersion, Max: protocol.MaxVersion},
				Features: protocol.Features}
			stdin, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command(program)
			c.Stdin = bytes.NewReader(stdin)
			want, err := c.Output()
			if got, ok := f.Answer(dgst, in.Type); err != nil || !ok || !bytes.Equal(got, want) {
				t.Errorf("%s: %s, %v, want %s, %v", in.Type, got, ok, want, err)
			}
		}
		if _, ok := f.Answer(dgst, "deployster/"+name+"#other"); ok {
			t.Errorf("%s has no kind other", name)
		}
	}
}

// shell writes a program that answers init with its label.
func shell(t *testing.T, label string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "type")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho '{\"label\":\"<"+label+">\"}'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

// An answer belongs to one image, under its own name, for a deployster with the same abilities. Damaged answers are none.
func TestAnswers_AreOfOneImage(t *testing.T) {
	t.Parallel()
	one, other := shell(t, "one"), shell(t, "other")
	a, err := Query("it", one)
	if err != nil {
		t.Fatal(err)
	}
	f, dgst := written(t, t.TempDir(), "it", one, a)
	if got, ok := f.Answer(dgst, "deployster/it"); !ok || string(got) != "{\"label\":\"<one>\"}\n" {
		t.Fatalf("%s, %v", got, ok)
	}
	_, otherDigest := written(t, t.TempDir(), "it", other, a)
	for _, c := range [][2]string{{otherDigest, "deployster/it"}, {dgst, "deployster/its"}, {dgst, "it"}, {dgst, "docker.io/deployster/it"},
		{dgst, "deployster/it#kind"}, {dgst, "deployster/it@" + otherDigest}, {"", "deployster/it"}} {
		if got, ok := f.Answer(c[0], c[1]); ok {
			t.Errorf("%q: %s", c, got)
		}
	}
	of := func(abilities string) bool {
		f, dgst := written(t, t.TempDir(), "it", one, &Answers{abilities, a.Kinds})
		_, ok := f.Answer(dgst, "deployster/it")
		return ok
	}
	if !of(protocol.Abilities()) || of("another deployster's") {
		t.Error("the abilities are not compared")
	}
	_, target, err := f.find("deployster/it")
	if err != nil {
		t.Fatal(err)
	}
	path := f.path(target.Annotations[answersOf])
	text, err := os.ReadFile(path)
	if err != nil || digest.FromBytes(text).String() != target.Annotations[answersOf] {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte("one"), []byte("two"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, ok := f.Answer(dgst, "deployster/it"); ok {
		t.Errorf("damaged: %s", got)
	}
	if f, dgst := written(t, t.TempDir(), "it", one, nil); len(dgst) == 0 {
		t.Error("no image")
	} else if _, ok := f.Answer(dgst, "deployster/it"); ok {
		t.Error("answers that nobody has written")
	}
}

// A program that answers nothing is an error of the build.
func TestQuery_RefusesWhatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	if a, err := Query("it", "/bin/false"); err == nil || !strings.Contains(err.Error(), "/bin/false does not answer init for deployster/it") {
		t.Errorf("%v, %v", a, err)
	}
}
