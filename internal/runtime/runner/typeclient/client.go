package typeclient

import (
	"context"
	"sync"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// Options are the constants of all invocations of a command.
type Options struct {
	Runner    runner.Runner
	Version   string // of deployster; sent to the images
	Verbose   bool   // the user's flag; sent to the images
	Workspace string // the working directory; sent to the images; relative sources of mounts begin there

	// Pins are the digests that a plan has fixed, by image reference, as Images
	// returned them. They take precedence over what a reference resolves to now.
	Pins map[string]string

	// Obtain makes an image available that a resource runs in, and returns its digest;
	// nil = the image must be on this machine already. Its errors are diagnostics. It
	// is called once for each image and the conditions under which resources need it,
	// and again after it has failed.
	Obtain func(context.Context, Use) (digest string, err error)

	// Log gets each line that an image prints while it runs, safe to show. It is called
	// from many goroutines; nil = lines are dropped.
	Log func(Line)

	// Waiting gets why a step has not begun yet in a cluster, from many goroutines; nil = not called.
	Waiting func(Waiting)

	// Secret gets the values in an answer that the schema of the state marks writeOnly, and
	// those where the config has sensitive ones, before Record is called with the answer;
	// nil = not called.
	Secret func([]string)

	// Hide hides the known secrets in a text; nil = there are none.
	Hide func(string) string

	// Record is called with every invocation that has ended, from many goroutines; nil = not called.
	Record func(Invocation)

	// Inspector helps to recognise an image of artifacts that is used as a type; nil = only its answer does.
	Inspector runner.Inspector

	// Inits keeps answers to init for the next command; nil = they are not kept.
	Inits InitCache
	// Answers returns what the image with a digest answers to init under a name, if that is known; nil = of none is it.
	Answers func(digest, reference string) ([]byte, bool)

	// InitOn returns where the image of a target runs init, of the hosts that it may run on; the error is a
	// *NowhereError if there is none. nil = all run it here.
	InitOn func(context.Context, Target) (*runner.Host, error)

	// Guardian guards actions on hosts; nil = no action can be guarded.
	Guardian runner.Guardian

	// Secrets reads the values of secret blocks; nil = there are none.
	Secrets Secrets

	// Facts returns the facts of a host; nil = images do not get them.
	Facts func(context.Context, runner.Host) (protocol.HostFacts, error)

	// Backoff is the list of pauses before a state query is repeated that failed with a
	// transient error. After the last pause the error is returned. nil =
	// DefaultBackoff.
	Backoff []time.Duration
}

// Use is the use of an image by a resource: the image of its type, or another one that
// the type requests.
type Use struct {
	Step      string // init, if the use is for all resources of the type
	Reference string // as the user wrote it
	Digest    string // the digest that was fixed before; "" = none
	Pull      runner.PullPolicy
	Verify    *runner.Verify
	Remote    bool // it runs in a cluster, which fetches the image itself
}

// DefaultBackoff returns pauses that give a service about half a minute to recover.
func DefaultBackoff() []time.Duration {
	return []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}
}

// The steps of a resource that are not actions, as they appear in Line.Step,
// Invocation.Step and diag.Diagnostic.Action.
const (
	StepInit  = "init"
	StepState = "state"
)

// Line is one line of live output. Text is safe to show and has no newline.
type Line struct {
	Address string
	Host    string // where it ran; "" = here
	Step    string // init, state, or the name of the action
	Stream  Stream
	Text    string
}

// Waiting is why a step has not begun yet: its Pod is not running.
type Waiting struct {
	Address string
	Host    string
	Step    string    // init, state, or the name of the action
	Reason  string    // safe to show; "" = it begins
	Since   time.Time // when it was requested
}

// Stream is the stream on which a program printed a line.
type Stream string

// The streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// Invocation is one run of an image, for the records.
type Invocation struct {
	Address string
	Host    string // where it ran; "" = here
	Step    string // init, state, or the name of the action
	Digest  string // of the image
	Started time.Time
	Stdin   []byte
	Result  runner.Result
	Err     error // why the program did not end by itself; nil if it did
}

// Target has the constants of a resource.
type Target struct {
	Address       string // the resource
	Name          string // the name that is sent to its image; "" = its address
	Reference     string // its image, as the manifest names it
	Digest        string // of the image to use whatever the reference resolves to now; "" = resolve it
	Settings      runner.Settings
	Mounts        []runner.Mount
	Pull          runner.PullPolicy
	Verify        *runner.Verify // whose signature all its images must carry; nil = none is needed
	StateTimeout  time.Duration  // 0 = DefaultStateTimeout
	Once          bool           // a query of the state is not repeated after a transient error
	ActionTimeout time.Duration  // 0 = none
	Batch         *runner.Batch  // the batch of an action; nil = none
	Guard         string         // the key of the group of guarded actions that an action belongs to; "" = none
	Sensitive     []string       // pointers into the config to values that must never be shown
}

// The default timeouts of invocations, and the default size limit of an answer.
const (
	InitTimeout         = time.Minute
	DefaultStateTimeout = 10 * time.Minute
	MaxAnswer           = 16 << 20
)

// Client speaks the protocol. It is safe for concurrent use.
type Client struct {
	typeschema.Checker

	// Expected is how many calls are to come, by the reference of a type, set before the first of them; nil = unknown.
	Expected map[string]int

	o      Options
	root   string // relative sources of mounts begin there
	images *resolver

	mu    sync.Mutex
	inits map[initKey]*initCall
}

// New returns a Client.
func New(o Options) *Client {
	if o.Backoff == nil {
		o.Backoff = DefaultBackoff()
	}
	return &Client{o: o, root: runner.RealDir(o.Workspace), images: newResolver(o), inits: map[initKey]*initCall{}}
}

// Resolve returns the digest of an image: the pinned digest, or the digest of the image
// on this machine with this name. The answer stays the same for the life of the Client,
// even if the tag is moved meanwhile.
func (c *Client) Resolve(ctx context.Context, ref string) (digest string, err error) {
	return c.images.resolve(ctx, ref)
}

// Images returns all images that were resolved: full reference -> digest. A plan pins
// these digests.
func (c *Client) Images() map[string]string { return c.images.all() }
