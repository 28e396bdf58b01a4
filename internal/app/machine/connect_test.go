package machine

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
)

// forgetful is a host without a record of earlier clients.
type forgetful struct {
	runnertest.Runtime
	unproven bool
}

func (f forgetful) Enter(context.Context, remote.Hello) (remote.Welcome, error) {
	return remote.Welcome{Unproven: f.unproven}, nil
}
func (forgetful) Acts(context.Context, remote.Hello) error                        { return nil }
func (forgetful) Look(context.Context, []remote.Plug) []remote.Seen               { return nil }
func (forgetful) Receive(context.Context, runner.Shipment, runner.Contents) error { return nil }
func (forgetful) Bring(context.Context, remote.Files, io.Reader) error            { return nil }

// A host that has no record of who acts is used only by who still holds the state.
func TestConnect_QueriesTheStoreWhereThereIsNoRecord(t *testing.T) {
	for name, c := range map[string]struct {
		unproven bool
		held     error
		queried  int
		want     string
	}{
		"a record":           {held: errors.New("taken"), want: ""},
		"no record, held":    {unproven: true, queried: 1},
		"no record, no more": {unproven: true, held: errors.New("apply on x has it"), queried: 1, want: "not held any more: apply on x has it"},
	} {
		t.Run(name, func(t *testing.T) {
			queried := 0
			m := &Machine{Runtime: runnertest.Runtime{Fake: runnertest.NewFake()}, options: Options{Dial: func(ctx context.Context, _ runner.Host, as remote.Hello) (*remote.Client, error) {
				here, there := net.Pipe()
				go func() { _ = remote.Serve(t.Context(), there, forgetful{unproven: c.unproven}, remote.DefaultTiming()) }()
				return remote.NewClient(ctx, here, as, remote.DefaultTiming())
			}}}
			places := m.Connect(remote.Hello{Epoch: 1}, func() error { queried++; return c.held })
			defer places.Close()
			_, err := places.Welcome(t.Context(), runner.Host{Name: "jobs", Address: "jobs"})
			if queried != c.queried || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("queried %d times: %v", queried, err)
			}
		})
	}
}

// Claim implements remote.Place.
func (forgetful) Claim(context.Context, claims.Request) ([]claims.Record, error) { return nil, nil }
