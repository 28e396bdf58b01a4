package bundled

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/internal/runtime/runner/imagestore"
	"deployster/protocol"
)

// answersOf is the annotation of an image in its layout that has the digest of its answers: they belong to that image alone.
const answersOf = "deployster.answers"

// Answers are what the kinds of an image answer to init, by the part of its name after #. The layout keeps them:
// a client that has them need not run the image first.
type Answers struct {
	Abilities string            `json:"abilities"` // of the deployster that they were given to
	Kinds     map[string]string `json:"kinds"`     // as they were printed
}

// Query runs a type's program for what each of its kinds answers to init.
func Query(name, program string) (*Answers, error) {
	all := &Answers{protocol.Abilities(), map[string]string{}}
	reference := imagestore.Own + name
	answer, failed := initOf(program, reference)
	if failed == nil {
		all.Kinds[""] = answer
		return all, nil
	}
	_, names, several := strings.Cut(failed.Error(), "KIND is one of ") // as every program with kinds reports
	if !several {
		return nil, failed
	}
	for kind := range strings.SplitSeq(strings.TrimSpace(names), ", ") {
		answer, err := initOf(program, reference+"#"+kind)
		if err != nil {
			return nil, err
		}
		all.Kinds[kind] = answer
	}
	return all, nil
}

// initOf runs a program as its container does for init.
func initOf(program, reference string) (string, error) {
	input, err := json.Marshal(protocol.InitInput{Name: reference, Type: reference, Features: protocol.Features,
		Protocol: protocol.Versions{Min: protocol.MinVersion, Max: protocol.MaxVersion}})
	if err != nil {
		return "", err
	}
	var out, errs bytes.Buffer
	c := exec.Command(program)
	c.Env, c.Stdin, c.Stdout, c.Stderr = []string{}, bytes.NewReader(input), &out, &errs
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s does not answer init for %s: %w: %s", program, reference, err, errs.String())
	}
	return out.String(), nil
}

// Answer returns what an image that comes with deployster answers to init under a name; false = that is not known here, and
// the image has to be run.
func (f Files) Answer(dgst, reference string) ([]byte, bool) {
	name, target, err := f.named(digest.Digest(dgst))
	image, kind, _ := strings.Cut(reference, "#")
	if err != nil || image != name {
		return nil, false
	}
	all, ok := f.answers(digest.Digest(target.Annotations[answersOf]))
	if !ok || all.Abilities != protocol.Abilities() {
		return nil, false
	}
	answer, ok := all.Kinds[kind]
	return []byte(answer), ok
}

// answers reads the answers with a digest; false = there are none, or they are damaged.
func (f Files) answers(d digest.Digest) (all Answers, ok bool) {
	path := f.path(d.String())
	if path == "" {
		return all, false
	}
	file, err := os.Open(path)
	if err != nil {
		return all, false
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxAnswers))
	if err != nil || digest.FromBytes(text) != d || json.Unmarshal(text, &all) != nil {
		return Answers{}, false
	}
	return all, true
}

// maxAnswers is the limit of the answers of an image, in bytes.
const maxAnswers = 16 << 20

// answers writes answers, and returns the annotation that names them.
func (w *writer) answers(a *Answers, of *ocispec.Descriptor) {
	if a != nil {
		of.Annotations[answersOf] = w.document("application/json", a).Digest.String()
	}
}
