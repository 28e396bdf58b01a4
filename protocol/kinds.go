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
	together(ctx context.Context, all []Process, begin func(i int)) []int
}

// NewKind returns a type as a kind. About.Worker must be true: a worker serves all kinds.
func NewKind[C, S any](r Resource[C, S], about About) Kind { return kind[C, S]{newServer(r, about)} }

// kind is a type as a kind.
type kind[C, S any] struct{ s server[C, S] }

func (k kind[C, S]) Describe() (InitAnswer, error) { return k.s.describe() }

func (k kind[C, S]) needing(needs []string) Kind {
	k.s.about.Needs = needs
	return k
}

func (k kind[C, S]) answer(ctx context.Context, p Process) int { return k.s.answer(ctx, p) }

func (k kind[C, S]) together(ctx context.Context, all []Process, begin func(int)) []int {
	return k.s.together(ctx, all, begin)
}

// ServeKinds answers this one invocation of the program with one of its kinds, or serves
// as a worker for all of them, and ends the process. needs is what all of them need from
// their type block, such as whole-machine.
func ServeKinds(kinds map[string]Kind, needs ...string) {
	if len(needs) > 0 {
		kinds = Needing(kinds, needs)
	}
	answer := func(ctx context.Context, p Process) int { return AnswerKind(ctx, kinds, p) }
	serveProgram(answer, func(ctx context.Context, all []Process, begin func(int)) []int {
		return answerTogether(ctx, kinds, all, begin)
	}, func() {})
}

// answerTogether carries out a batch with the kind that its invocations name, which is the same.
func answerTogether(ctx context.Context, kinds map[string]Kind, all []Process, begin func(int)) []int {
	names := map[string]bool{}
	one := ""
	for i, p := range all {
		name, whole, err := chosen(kinds, p)
		if err != nil {
			_, _ = fmt.Fprintln(p.Stderr, err)
			return slices.Repeat([]int{exitFailed}, len(all))
		}
		one, names[name], all[i] = name, true, whole
	}
	if len(names) != 1 {
		return oneByOne(ctx, all, begin, func(ctx context.Context, p Process) int { return AnswerKind(ctx, kinds, p) })
	}
	return kinds[one].together(ctx, all, begin)
}

// Needing returns kinds that declare in their answer to init that they need all of needs.
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
	name, p, err := chosen(kinds, p)
	if err != nil {
		_, _ = fmt.Fprintln(p.Stderr, err)
		return exitFailed
	}
	return kinds[name].answer(ctx, p)
}

// chosen returns the name of the kind that the input names, and a process whose stdin is whole again.
func chosen(kinds map[string]Kind, p Process) (name string, whole Process, err error) {
	in := bufio.NewReader(p.Stdin)
	watches := len(p.Args) == 1 && p.Args[0] == watchArg
	_, complete := p.Stdin.(interface{ Len() int })
	var data []byte
	if watches && !complete {
		data, err = readLine(in) // stdin stays open: its end is the end of the watch
		p.Stdin = io.MultiReader(bytes.NewReader(data), in)
	} else {
		data, err = io.ReadAll(in)
		p.Stdin = bytes.NewReader(data)
	}
	if err != nil && len(data) == 0 {
		return "", p, fmt.Errorf("stdin cannot be read: %w", err)
	}
	var input struct{ Type string }
	if len(bytes.TrimSpace(data)) > 0 {
		if err := json.Unmarshal(data, &input); err != nil {
			return "", p, fmt.Errorf("stdin is not what deployster sends: %w", err)
		}
	}
	image, name, _ := strings.Cut(input.Type, "#")
	if kinds[name] != nil {
		return name, p, nil
	}
	names := strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")
	if name == "" {
		return "", p, fmt.Errorf("this image has several kinds: write %s#KIND, where KIND is one of %s", image, names)
	}
	return "", p, fmt.Errorf("%s has no kind %q: it has %s", image, name, names)
}
