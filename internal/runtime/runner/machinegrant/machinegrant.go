package machinegrant

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/distribution/reference"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

const (
	// Variable is the environment variable with the list, with commas between its names.
	Variable = "DEPLOYSTER_MACHINE_IMAGES"
	// File has the list of this machine, a name a line, where the variable is not set.
	File = "/etc/deployster/machine-images"
)

// List has the repositories of the images that may have the whole machine. A * stands for any
// part of a name between slashes. The zero value is Default.
type List struct {
	patterns []string
	from     string // where it is from, for people
	all      bool
	err      error // it cannot be read: then no image may
}

// Default returns the list of a machine whose owner declares nothing.
func Default() List { return List{patterns: []string{imagestore.Own + "*"}, from: "the default"} }

// Any returns a list that allows every image: another list decides.
func Any() List { return List{all: true} }

// Read returns the list of this machine: that of the variable, else that of the file, else otherwise.
func Read(variable, file string, otherwise List) List {
	if strings.TrimSpace(variable) != "" {
		return parse(strings.ReplaceAll(variable, ",", "\n"), Variable)
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return otherwise
	}
	if err != nil {
		return List{err: diag.Errorf("Cannot read which images may have the whole machine", "%s.", err)}
	}
	return parse(string(text), file)
}

func parse(text, from string) List {
	l := List{from: from}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		name := strings.TrimSpace(line)
		if name == "" {
			continue
		}
		if _, err := path.Match(name, ""); err != nil || strings.ContainsAny(name, " \t@") {
			return List{err: diag.Errorf("The list of images that may have the whole machine is not valid",
				"%s has %q, which is not the repository of an image. Names look like acme/machine, registry.example.com/team/machine or "+
					"acme/*; they have no tag and no digest.", from, diag.Visible(name))}
		}
		l.patterns = append(l.patterns, whole(name))
	}
	return l
}

// Repository returns the repository of an image, without tag, digest and kind. An image that comes
// with deployster has its own short name, and no registry has one of that name.
func Repository(ref string) string {
	ref, _, _ = strings.Cut(ref, "#")
	if strings.HasPrefix(ref, imagestore.Own) {
		ref, _, _ = strings.Cut(ref, "@")
		ref, _, _ = strings.Cut(ref, ":")
		return ref
	}
	named, err := reference.ParseDockerRef(ref)
	if err != nil {
		return ref // a digest
	}
	return reference.TrimNamed(named).Name()
}

// whole completes a name with * as docker completes a name.
func whole(name string) string {
	if strings.HasPrefix(name, imagestore.Own) {
		return name
	}
	first, _, several := strings.Cut(name, "/")
	switch {
	case !several:
		return "docker.io/library/" + name
	case strings.ContainsAny(first, ".:") || first == "localhost":
		return name
	}
	return "docker.io/" + name
}

func (l List) orDefault() List {
	if l.from == "" && !l.all && l.err == nil {
		return Default()
	}
	return l
}

// Allows reports whether an image may have the whole machine.
func (l List) Allows(ref string) bool {
	repository := Repository(ref)
	for _, pattern := range l.orDefault().patterns {
		if matched, _ := path.Match(pattern, repository); matched {
			return true
		}
	}
	return l.all && l.err == nil
}

// Check returns an error if an image may not have the whole machine.
func (l List) Check(ref string) error {
	if l.err != nil || l.Allows(ref) {
		return l.err
	}
	return diag.Because(&runner.MachineError{Reference: ref, Why: l.why()}, "An image may not have the whole machine",
		"whole_machine = true gives the machine, as root, to the image %s, and %s. If it may have it, add its repository %s to %s or to "+
			"%s, on this machine and on a host that has such a "+
			"file.", diag.Visible(ref), l.why(), diag.Visible(Repository(ref)), Variable, File)
}

// why reports whom the list allows, as part of a sentence.
func (l List) why() string {
	l = l.orDefault()
	allowed := "no image may"
	if len(l.patterns) > 0 {
		allowed = words.List(l.patterns, 5) + " may"
	}
	return fmt.Sprintf("only what the owner of the machine lists may have it: %s (%s)", allowed, l.from)
}
