package typeclient

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/answers"
	"deployster/protocol"
)

// initKey is what the answer to init depends on, apart from deployster's version, and what decides whether there is an answer.
type initKey struct {
	digest, reference string
	settings          string // in JSON: init may fail with the settings of one type block, and succeed with another's
}

// initCall is an init that is in progress or has ended.
type initCall struct {
	done        chan struct{}
	ty          protocol.Type
	err         error
	interrupted bool // the context of its caller ended, or there was no machine yet; the image is not known to fail
}

// InitCache keeps answers to init. The Client parses and checks a kept answer as it does an image's answer.
type InitCache interface {
	Get(key string) (answer []byte, ok bool)
	Put(key string, answer []byte)
}

// cacheKey returns a key for all that an answer to init may depend on, and that decides whether the image may be run; "" = none.
func (o Options) cacheKey(t Target, digest string, s runner.Settings) string {
	settings, err := json.Marshal(s)
	if err != nil {
		return "" // the settings have no JSON form
	}
	sum := sha256.New()
	for _, part := range []string{digest, t.Reference, o.Version, protocol.Abilities(), string(settings)} {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part) // a hash takes everything
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// NowhereError reports that no machine can run the init of an image.
type NowhereError struct {
	Reference string   // the image
	Tried     []string // why not on the hosts that were tried, a sentence each
}

func (e *NowhereError) Error() string {
	return fmt.Sprintf("no machine can run the init of %s: %s", e.Reference, e.Why())
}

// Why returns why not on its hosts.
func (e *NowhereError) Why() string {
	if len(e.Tried) == 0 {
		return "no host of it is known yet"
	}
	return strings.Join(e.Tried, "; ")
}

// Init is Describe for a resource type.
func (c *Client) Init(ctx context.Context, t Target) (protocol.Type, error) {
	ty, err := c.Describe(ctx, t)
	if err == nil && ty.Secret != nil {
		return protocol.Type{}, fail(initOf(t, ty.Digest), nil, "The image is not a resource type", "Image %s prints a secret: name "+
			"it in a secret block. docs/secrets.md shows one.", diag.Visible(t.Reference))
	}
	if err == nil && ty.Notify != nil {
		return protocol.Type{}, fail(initOf(t, ty.Digest), nil, "The image is not a resource type", "Image %s sends notifications: name "+
			"it in a notify block. docs/notifications.md shows one.", diag.Visible(t.Reference))
	}
	return ty, err
}

// Describe queries an image for what it is. Its container gets no mounts and no network. Describe runs an image once
// for each name and settings, unless the image forbids caching its answer.
func (c *Client) Describe(ctx context.Context, t Target) (protocol.Type, error) {
	digest, err := t.Digest, error(nil)
	if digest == "" {
		digest, err = c.images.resolveFor(ctx, t, StepInit, t.Reference)
	} else {
		err = c.images.checkSigned(ctx, t)
	}
	if err != nil {
		return protocol.Type{}, err
	}
	settings, err := json.Marshal(initOf(t, digest).settings)
	if err != nil {
		return protocol.Type{}, err
	}
	key := initKey{digest: digest, reference: t.Reference, settings: string(settings)}
	for {
		c.mu.Lock()
		running := c.inits[key]
		if running == nil {
			mine := &initCall{done: make(chan struct{})}
			c.inits[key] = mine
			c.mu.Unlock()
			return c.lead(ctx, t, key, mine)
		}
		c.mu.Unlock()
		select {
		case <-running.done:
		case <-ctx.Done():
			return protocol.Type{}, callError(initOf(t, digest), runner.Result{}, context.Cause(ctx))
		}
		switch {
		case running.interrupted:
		case running.err == nil && running.ty.NoCache:
			return c.ask(ctx, t, digest)
		default:
			// A failure is returned to all callers: an init that hangs must not be repeated for each resource.
			return running.ty, readdress(running.err, t)
		}
	}
}

// lead carries out an init for which other callers may wait.
func (c *Client) lead(ctx context.Context, t Target, key initKey, mine *initCall) (protocol.Type, error) {
	mine.ty, mine.err = c.ask(ctx, t, key.digest)
	mine.interrupted = mine.err != nil && (ctx.Err() != nil || errors.Is(mine.err, context.Canceled) || diag.Is[*NowhereError](mine.err))
	if mine.interrupted {
		c.mu.Lock()
		delete(c.inits, key)
		c.mu.Unlock()
	}
	close(mine.done)
	return mine.ty, mine.err
}

func initOf(t Target, digest string) call {
	s := t.Settings.Confined()
	// The answer is the same for every resource of the type, so the container gets nothing that
	// belongs to one resource: no mounts, no network, no environment, and no machine.
	s.Network, s.Env, s.Workdir, s.Host = runner.NoNetwork, nil, "", nil
	k := call{target: t, step: StepInit, kind: runner.Query, digest: digest, timeout: s.InitTimeout, settings: s,
		reuse: strings.Contains(t.Reference, "#")} // one program answers for all kinds of its image, and each is a container less
	if k.timeout == 0 {
		k.timeout = InitTimeout
	}
	return k
}

func (c *Client) ask(ctx context.Context, t Target, digest string) (protocol.Type, error) {
	k := initOf(t, digest)
	t.Digest = digest
	if ty, ok := c.Kept(t); ok {
		return ty, c.images.resolveType(ctx, t, ty)
	}
	key, err := c.o.cacheKey(t, digest, k.settings), error(nil) // the answer is the same on each host
	if k.stdin, err = encodeInit(c.initInput(t)); err != nil {
		return protocol.Type{}, fail(k, err, "Cannot query the image", "%s", diag.Visible(err.Error()))
	}
	answer, known := []byte(nil), false
	if c.o.Answers != nil {
		answer, known = c.o.Answers(digest, t.Reference)
	}
	if c.o.InitOn != nil && !known {
		if k.settings.Host, err = c.o.InitOn(ctx, t); err != nil {
			return protocol.Type{}, fail(k, err, "Cannot query the image", "%s", diag.Visible(err.Error()))
		}
		if h := k.settings.Host; h.InCluster() && !h.Kubernetes.NetworkPolicy { // nothing there takes the network away
			k.settings.Network = t.Settings.Network
		}
	}
	if !known {
		r, err := c.run(ctx, k)
		if answer = r.Stdout; err != nil {
			return protocol.Type{}, c.orArtifacts(ctx, k, nil, err)
		}
	}
	ty, err := c.readType(answer)
	if err != nil {
		return protocol.Type{}, c.orArtifacts(ctx, k, answer, protocolError(k, c.o.hide(answer), err))
	}
	if c.o.Inits != nil && key != "" && !ty.NoCache {
		c.o.Inits.Put(key, answer)
	}
	ty.Reference, ty.Digest = t.Reference, digest
	return ty, c.images.resolveType(ctx, t, ty)
}

// orArtifacts returns an error that says so if an image that failed to answer init is one of artifacts; otherwise it returns err.
func (c *Client) orArtifacts(ctx context.Context, k call, answer []byte, err error) error {
	says, _ := jsondoc.Object(answer) // an answer that is not an object has no keys
	isOne := says["artifacts"] != nil
	if c.o.Inspector != nil && !isOne {
		has, herr := c.o.Inspector.Has(ctx, k.digest, artifact.ConcoursePrograms()...)
		isOne = herr == nil && slices.Contains(has, true)
	}
	if !isOne {
		return err
	}
	return fail(k, err, "The image is not a resource type", "Image %s gets files, or publishes them: name it in an artifact "+
		"block, and in a publish block to put something there. docs/artifacts.md shows both.", diag.Visible(k.target.Reference))
}

// Kept returns the answer of a target's image to an earlier command, and runs nothing. The target must have a digest.
func (c *Client) Kept(t Target) (protocol.Type, bool) {
	key := c.o.cacheKey(t, t.Digest, initOf(t, t.Digest).settings)
	if c.o.Inits == nil || key == "" || t.Digest == "" {
		return protocol.Type{}, false
	}
	answer, ok := c.o.Inits.Get(key)
	if !ok {
		return protocol.Type{}, false
	}
	ty, err := c.readType(answer)
	if err != nil || ty.NoCache {
		return protocol.Type{}, false
	}
	ty.Reference, ty.Digest = t.Reference, t.Digest
	return ty, true
}

// readType parses and checks an answer to init.
func (c *Client) readType(answer []byte) (protocol.Type, error) {
	ty, err := answers.ReadInit(answer)
	if err == nil {
		err = c.CheckSchemas(ty)
	}
	return ty, err
}

func (c *Client) initInput(t Target) protocol.InitInput {
	return protocol.InitInput{
		Name: cmp.Or(t.Name, t.Address), Type: t.Reference, Version: c.o.Version, Verbose: c.o.Verbose, Workspace: c.o.Workspace,
		Protocol: protocol.Versions{Min: protocol.MinVersion, Max: protocol.MaxVersion},
	}
}

// readdress returns the error of another resource's init as an error of this resource.
func readdress(err error, t Target) error {
	if ce, ok := errors.AsType[*diag.Caused](err); ok {
		return ce.At(t.Address, StepInit)
	}
	return err
}
