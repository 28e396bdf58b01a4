package protocol

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Kind is one of several types in one program: the part after # in the name of an
// image, as in acme/net#subnet.
type Kind interface {
	// Describe returns the answer to init.
	Describe() (InitAnswer, error)

	answer(ctx context.Context, p Process) int
	needing(needs []string) Kind
}

// NewKind returns a type as a kind. About.Worker must be true: a worker serves all kinds.
func NewKind[C, S any](r Resource[C, S], about About) Kind { return kind[C, S]{server[C, S]{r, about}} }

// kind is a type as a kind.
type kind[C, S any] struct{ s server[C, S] }

func (k kind[C, S]) Describe() (InitAnswer, error) { return k.s.describe() }

func (k kind[C, S]) needing(needs []string) Kind {
	k.s.about.Needs = needs
	return k
}

func (k kind[C, S]) answer(ctx context.Context, p Process) int { return k.s.answer(ctx, p) }

// ServeKinds answers this one invocation of the program with one of its kinds, or serves
// as a worker for all of them, and ends the process. needs is what all of them need from
// their type block, such as whole-machine.
func ServeKinds(kinds map[string]Kind, needs ...string) {
	if len(needs) > 0 {
		kinds = Needing(kinds, needs)
	}
	ServeFunc(func(ctx context.Context, p Process) int { return AnswerKind(ctx, kinds, p) }, func() {})
}

// Needing returns kinds that say in their answer to init that they need all of needs.
func Needing(kinds map[string]Kind, needs []string) map[string]Kind {
	all := map[string]Kind{}
	for name, k := range kinds {
		all[name] = k.needing(needs)
	}
	return all
}

// AnswerKind answers one invocation with the kind that its stdin names, and returns the
// exit code.
func AnswerKind(ctx context.Context, kinds map[string]Kind, p Process) int {
	k, p, err := chosen(kinds, p)
	if err != nil {
		_, _ = fmt.Fprintln(p.Stderr, err)
		return exitFailed
	}
	return k.answer(ctx, p)
}

// chosen returns the kind that the input names, and a process whose stdin is whole again.
func chosen(kinds map[string]Kind, p Process) (Kind, Process, error) {
	in := bufio.NewReader(p.Stdin)
	watches := len(p.Args) == 1 && p.Args[0] == watchArg
	_, whole := p.Stdin.(interface{ Len() int })
	var data []byte
	var err error
	if watches && !whole {
		data, err = readLine(in) // stdin stays open: its end is the end of the watch
		p.Stdin = io.MultiReader(bytes.NewReader(data), in)
	} else {
		data, err = io.ReadAll(in)
		p.Stdin = bytes.NewReader(data)
	}
	if err != nil && len(data) == 0 {
		return nil, p, fmt.Errorf("stdin cannot be read: %w", err)
	}
	var input struct{ Type string }
	if len(bytes.TrimSpace(data)) > 0 {
		if err := json.Unmarshal(data, &input); err != nil {
			return nil, p, fmt.Errorf("stdin is not what deployster sends: %w", err)
		}
	}
	image, name, _ := strings.Cut(input.Type, "#")
	if k, known := kinds[name]; known {
		return k, p, nil
	}
	names := strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")
	if name == "" {
		return nil, p, fmt.Errorf("this image has several kinds: write %s#KIND, where KIND is one of %s", image, names)
	}
	return nil, p, fmt.Errorf("%s has no kind %q: it has %s", image, name, names)
}
