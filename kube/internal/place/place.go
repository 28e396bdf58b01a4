package place

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/api"
	"deployster/kube/internal/fence"
	"deployster/kube/internal/pods"
	"deployster/kube/internal/podspec"
	"deployster/kube/internal/pool"
)

// Options are the constants of a Place.
type Options struct {
	Cluster runner.Cluster
	Host    string // its name in the manifest
	API     *api.Client
	Build   string // of the client, which must be that of this program
	Timing  Timing
	InPod   bool              // the client is itself in a Pod of the cluster, whose account it has
	Note    func(text string) // called with what is noteworthy about Pods; nil = no callback
}

// Timing are the times of a Place.
type Timing struct {
	Pods     pods.Timing
	Agent    remote.Timing // of the connections to agents
	Patience time.Duration // how long an agent is dialled again
	Report   time.Duration // how often a reason to wait is reported at most
	Usual    time.Duration // how long a Pod may start until it is reported what each Pod waits for
	Quota    time.Duration // the pause before a Pod is requested again that a quota has no room for
}

// DefaultTiming is the Timing for real clusters.
func DefaultTiming() Timing {
	return Timing{Pods: pods.DefaultTiming(), Agent: remote.DefaultTiming(), Patience: router.DefaultPatience, Report: time.Second,
		Usual: 10 * time.Second, Quota: 5 * time.Second}
}

// Place is a namespace for one client. It implements remote.Place. The caller must close it.
type Place struct {
	o    Options
	ctx  context.Context // ends with the Place
	stop context.CancelFunc

	// Set by Enter.
	hello   remote.Hello
	lineage string       // the label's value; "" = the client has no state
	run     string       // the label's value
	fence   *fence.Fence // nil = the client only reads
	pods    *pods.Pods
	agents  *router.Places // each Pod is one of its hosts
	pool    *pool.Pool

	removing sync.WaitGroup // deletions of Pods in which nothing runs any more

	images images // that the client has named

	mu     sync.Mutex
	files  map[string]*archive // of artifacts, by key
	policy bool                // the NetworkPolicy exists
	noted  map[string]bool     // what was noted once
}

// New returns a Place.
func New(o Options) *Place {
	p := &Place{o: o, files: map[string]*archive{}, noted: map[string]bool{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.pool = pool.New(podspec.MaxPods(o.Cluster), p.remove)
	p.agents = router.New(router.Options{Images: &p.images, Dial: p.dial, Patience: o.Timing.Patience})
	return p
}

// Acts implements remote.Place. Whether a later client has taken over is read again when a Pod was started.
func (p *Place) Acts(ctx context.Context, h remote.Hello) error {
	if h.Epoch == 0 || p.fence == nil {
		return errors.New("this client may only read")
	}
	return p.fence.Act(ctx)
}

// Resolve implements runner.Runner: images are resolved where the client is.
func (p *Place) Resolve(_ context.Context, reference string) (runner.Image, error) {
	return runner.Image{}, fmt.Errorf("%s: %w", reference, runner.ErrNoImage)
}

// Receive implements remote.Place: nodes pull images from registries.
func (p *Place) Receive(_ context.Context, s runner.Shipment, _ runner.Contents) error {
	if _, err := podspec.Image(p.o.Cluster, s); err != nil {
		return err
	}
	p.images.add(s)
	return nil
}

// Look implements remote.Place. What a plug names need not exist: a Pod waits for it.
func (p *Place) Look(_ context.Context, plugs []remote.Plug) []remote.Seen {
	list := make([]remote.Seen, 0, len(plugs))
	for _, plug := range plugs {
		seen := remote.Seen{Path: plug.Path}
		if err := podspec.CheckPlug(plug.Path, false); err != nil {
			seen.Error = err.Error()
		}
		list = append(list, seen)
	}
	return list
}

// hash returns a short name for a text, as labels and names of objects may have it.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// leaseOf returns the name of the Lease of a state, from the value of its label.
func leaseOf(lineage string) string { return "deployster-" + lineage }

// The first letters of the names of Pods: of one invocation, and of a group.
const (
	ownPrefix   = "d-"
	groupPrefix = "g-"
)

// isOwn reports whether a Pod may be one of deployster's, by its name.
func isOwn(name string) bool {
	return strings.HasPrefix(name, ownPrefix) || strings.HasPrefix(name, groupPrefix)
}

// actionPod returns the name of the Pod of an action.
func (p *Place) actionPod(id string) string { return remote.ActionPod(p.hello.Lineage, id) }

func randomPod(prefix string) string { return prefix + hash(rand.Text()) }
