package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
)

// An error keeps its text, its type and the fields of that type on the way.
func TestFailure_KeepsTheType(t *testing.T) {
	t.Parallel()
	host := &runner.HostError{Host: runner.Host{Name: "d-1", Address: "pod"}, Err: errors.New("no answer")}
	for _, c := range []struct{ sent, want error }{
		{&runner.TimeoutError{After: time.Second, Killed: true}, &runner.TimeoutError{}},
		{&runner.OutputError{Limit: 7}, &runner.OutputError{}},
		{&runner.DiskError{Limit: 7, TooDeep: true}, &runner.DiskError{}},
		{&runner.UnknownError{Container: "c", Err: errors.New("gone")}, &runner.UnknownError{}},
		{&runner.UnknownError{Container: "c", Err: errors.New("gone"), Over: true}, &runner.UnknownError{}},
		{&runner.UnknownError{Container: "c", Err: host, Over: true}, &runner.UnknownError{}},
		{&runner.WorkerError{Reason: "it ended"}, &runner.WorkerError{}},
		{host, &PlaceError{}},
		{&runner.StartError{Fault: runner.NotPulled, Text: "401"}, &runner.StartError{}},
		{runner.ErrNoImage, errors.New("")},
		{runner.ErrReplaced, errors.New("")},
	} {
		for _, sent := range []error{c.sent, fmt.Errorf("run: %w", c.sent)} {
			var received *failure
			text, err := json.Marshal(encodeError(sent))
			if err == nil {
				err = json.Unmarshal(text, &received)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := received.decode(nil)
			if got.Error() != sent.Error() {
				t.Errorf("%T: the text is %q, want %q", c.sent, got, sent)
			}
			for reflect.TypeOf(got) != reflect.TypeOf(c.want) {
				if got = errors.Unwrap(got); got == nil {
					t.Fatalf("%T came as another type", c.sent)
				}
			}
			if unknown, is := got.(*runner.UnknownError); is && unknown.Over != c.sent.(*runner.UnknownError).Over {
				t.Errorf("over is lost: %+v", unknown)
			}
			if start, is := got.(*runner.StartError); is && *start != *c.sent.(*runner.StartError) {
				t.Errorf("it came as %+v", start)
			}
		}
	}
}
