package query

import (
	"context"
	"encoding/json"
	"time"

	"deployster/config"
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan/artifacts"
	"deployster/plan/observe"
	"deployster/plan/plugs"
	"deployster/plan/subject"
	"deployster/protocol"
)

// Prober queries images and cannot change anything. Its errors are diagnostics that name
// the resource. *typeclient.Client is one.
type Prober interface {
	typeschema.Reader
	Init(ctx context.Context, t typeclient.Target) (protocol.Type, error)
	State(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (protocol.Answer, error)
	Discover(ctx context.Context, t typeclient.Target, ty protocol.Type, defaults json.RawMessage) ([]typeclient.Discovered, error)
	Validate(ctx context.Context, t typeclient.Target, ty protocol.Type, config json.RawMessage,
		unknown map[string]string) ([]protocol.Finding, error)
	CheckConfig(ty protocol.Type, config json.RawMessage, unknown map[string]string) []typeschema.Violation
	Images() map[string]string // the references resolved so far, with their digests
}

// Options are the settings of a session.
type Options struct {
	Version     string
	Workspace   string // absolute
	Parallelism int    // images queried at a time
	InWorkers   int    // the same for types with a worker; 0 = Parallelism limits both
	Selection   subject.Selection
	Doubt       []string      // addresses that are queried even where Selection declares NoRefresh
	Plugs       []config.Plug // plugs in addition to those of the manifest, which is empty for destroy
	// Signed returns whose signature the image of an entry must carry; nil = no signature is needed.
	Signed func(reference string) *runner.Verify
	Pins   map[string]string // the digests of images that were fetched, by reference; what is deferred to a later round runs them
	Now    time.Time
	Secret func([]string) // gets each sensitive value before an image sees it; may be nil
	// FromRegistry reports whether the image of a reference came from a registry,
	// from which it can be pulled again; nil = none did.
	FromRegistry func(reference string) bool
	Progress     func(Event)         // called from many goroutines; may be nil
	Artifacts    *artifacts.Resolver // finds the versions of the manifest's artifacts; nil = it has none
	PlugPaths    plugs.Resolve       // finds where plugs lead on hosts; nil = there are no hosts
	Hosts        map[string]router.Pin
	HostsAtOnce  int // hosts worked on at a time; 0 = order.Hosts
	// Claims returns what other states have declared on a host, nil = this machine; nil = that is not recorded.
	Claims   func(ctx context.Context, host *runner.Host) ([]claims.Record, error)
	Rootless []rootless.Loss // what containers on this machine do not have
	// OnlyShown: nobody saves, judges or applies the plan. It gets no id, and pins no entries.
	OnlyShown bool
}

// Event is something that happened in a session.
type Event interface{ event() }

// Querying reports that the image of a resource is being queried for the state.
type Querying struct{ Address string }

// Decided reports which change was decided for a resource.
type Decided struct {
	Address string
	Change  observe.Change
}

// Failed reports that nothing could be decided about a resource.
type Failed struct{ Address string }

func (Querying) event() {}
func (Failed) event()   {}
func (Decided) event()  {}
