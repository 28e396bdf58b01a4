package imagetest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/runner"
)

const fixPut = "put says what it has made, once it has: docs/artifact-images.md shows how."

// publish runs one put.
func (e *engine) publish(ctx context.Context) (artifact.Put, error) {
	e.report.LeftBehind = true
	var unfilled error
	p, err := e.client.Put(ctx, e.target, e.info, artifact.PutInput{ID: "type-test-" + rand.Text(), Source: e.o.Source, Params: e.o.Put,
		Ended: func(_ artifact.Put, _ runner.Result, err error) error { return err },
		Fill: func(dir string) error {
			for name, from := range e.o.Inputs {
				unfilled = errors.Join(unfilled, tree.Copy(ctx, from, filepath.Join(dir, name)))
			}
			return unfilled
		}})
	if unfilled != nil {
		err = unfilled
	}
	return p, err
}

func (e *engine) put(ctx context.Context) outcome {
	if !e.info.CanPut() {
		return fail("An image that publishes has a put.", "It has none.")
	}
	var err error
	if e.made, err = e.publish(ctx); err != nil {
		return failWith(fixPut, err)
	}
	return pass("%s created, %d deleted", words.Count(len(e.made.Created), "version"), len(e.made.Deleted))
}

// putCheck tests whether check lists what was put, with as many tries as an apply makes.
func (e *engine) putCheck(ctx context.Context) outcome {
	if len(e.made.Created) == 0 {
		return skip("the put created no version")
	}
	want := e.made.Created[len(e.made.Created)-1]
	for _, pause := range []time.Duration{0, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second} {
		select {
		case <-ctx.Done():
			return outcome{err: context.Cause(ctx)}
		case <-time.After(pause):
		}
		seen := false
		_, err := e.client.Check(ctx, e.target, e.info, artifact.CheckInput{Source: e.o.Source,
			From: map[string]artifact.Version{want.Space: want.Version},
			Each: func(v artifact.Versioned) { seen = seen || v.Space == want.Space && v.Version.Is(want.Version) }})
		if err != nil {
			return failWith(fixCheck, err)
		}
		if seen {
			return pass("")
		}
	}
	reason := "check does not list " + want.Version.String() + ", 8 seconds after it was put."
	if e.info.Protocol == artifact.Concourse1 {
		return pass("%s That is so with what has no versions to list", reason)
	}
	return fail("check lists what was put.", "%s", reason)
}

func (e *engine) putTwice(ctx context.Context) outcome {
	again, err := e.publish(ctx)
	if err != nil {
		return failWith("A put may be run again when nobody knows how it ended: it must come to the same then.", err)
	}
	same := func(a, b artifact.Versioned) bool { return a.Space == b.Space && a.Version.Is(b.Version) }
	if !slices.EqualFunc(again.Created, e.made.Created, same) {
		return fail("A put may be run again when nobody knows how it ended: it must come to the same then.",
			"First it created %s, then %s.", shown(e.made.Created), shown(again.Created))
	}
	return pass("")
}

// shown returns a value as JSON, for people.
func shown(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
