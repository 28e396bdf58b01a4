package protocol_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"deployster/protocol"
)

// shelf installs many packages in one transaction.
type shelf struct{ lamp }

func (shelf) ActTogether(_ context.Context, calls []*protocol.Call[lampConfig, lampState], begin func(int)) []error {
	errs := make([]error, len(calls))
	for i, c := range calls {
		if c.Config.Name == "refused" {
			errs[i] = errors.New("not begun")
			continue
		}
		begin(i)
		_, _ = fmt.Fprintf(c.Out, "%d together %s", len(calls), c.Args)
		if c.Config.Name == "bad" {
			errs[i] = errors.New("failed alone")
		}
	}
	return errs
}

// answersTo runs a worker with lines on its stdin, and returns its replies by id.
func answersTo(t *testing.T, about protocol.About, lines string) map[int64][]protocol.WorkerReply {
	t.Helper()
	var out bytes.Buffer
	code := protocol.Run(t.Context(), shelf{}, about, protocol.Process{Args: []string{"worker"}, Stdin: strings.NewReader(lines), Stdout: &out,
		Stderr: io.Discard})
	if code != 0 {
		t.Fatalf("the worker ended with exit code %d", code)
	}
	all := map[int64][]protocol.WorkerReply{}
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		var r protocol.WorkerReply
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all[r.ID] = append(all[r.ID], r)
	}
	return all
}

const batchOfThree = `{"batch":[{"id":7,"args":["install","soon"],"stdin":{"action":"install","config":{"name":"good"}}},` +
	`{"id":8,"args":["install"],"stdin":{"action":"install","config":{"name":"bad"}}},` +
	`{"id":9,"args":["install"],"stdin":{"action":"install","config":{"name":"refused"}}}]}` + "\n"

func TestBatch_IsOneCall(t *testing.T) {
	t.Parallel()
	all := answersTo(t, protocol.About{Worker: true, Batch: &protocol.Batch{Actions: []string{"install"}}}, batchOfThree)
	for id, want := range map[int64]struct {
		begun bool
		code  int
		text  string
	}{7: {true, 0, "3 together [soon]"}, 8: {true, 1, "3 together []"}, 9: {false, 1, ""}} {
		var text string
		begun, first := false, true
		for _, r := range all[id] {
			if begun = begun || r.Begun; first && r.Begun != want.begun {
				t.Errorf("%d: the first reply is %+v", id, r)
			}
			first = false
			text += r.Stdout
		}
		end := all[id][len(all[id])-1].Exit
		if begun != want.begun || text != want.text || end == nil || *end != want.code {
			t.Errorf("%d: begun %v, text %q, end %v; want %+v", id, begun, text, end, want)
		}
	}
}

// An action that is not listed, or a type without ActTogether, is carried out for one after the other.
func TestBatch_OfATypeWithoutBatches(t *testing.T) {
	t.Parallel()
	lines := strings.ReplaceAll(batchOfThree, "install", "update")
	all := answersTo(t, protocol.About{Worker: true}, lines)
	for id, replies := range all {
		if !replies[0].Begun || !slices.ContainsFunc(replies, func(r protocol.WorkerReply) bool { return r.Exit != nil && *r.Exit == 0 }) {
			t.Errorf("%d: %+v, want a begin and exit code 0", id, replies)
		}
	}
	if len(all) != 3 {
		t.Errorf("replies to %d requests, want 3", len(all))
	}
}
