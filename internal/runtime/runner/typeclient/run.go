package typeclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/loglines"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/secretgrant"
	"deployster/protocol"
)

// call is one invocation of a resource's image.
type call struct {
	id       string // of an action
	onEnd    func(runner.Result, error) error
	target   Target
	step     string
	kind     runner.Kind
	digest   string
	command  protocol.Command
	stdin    []byte
	given    []byte // stdin with the values of secrets; nil = as stdin
	grant    secretgrant.Grant
	secret   bool            // it prints a secret
	states   json.RawMessage // the schema of the states in its answer
	mounts   []runner.Mount
	settings runner.Settings
	timeout  time.Duration
	worker   *runner.Worker // the worker that may carry it out; nil = none
	reuse    bool           // it may share a container
	acts     bool           // with actions of its type

	artifact bool // the call is about an artifact
	quiet    bool // stdout is the answer, also of an action
	cwd      string
	volumes  []runner.Volume
	answer   *runner.Answer
	log      bool  // stdout is a log, also of a query
	keep     int64 // bytes of logs; 0 = as in the settings
	grace    time.Duration

	remembers bool // its type has a memory, which is never shown
}

// shares records whether the call may share a container, as its type allows. Another image has not declared this.
func (k *call) shares(ty protocol.Type, may bool) {
	k.reuse = may && k.digest == ty.Digest
	k.acts = k.reuse && ty.ReuseActions
}

func (k call) title() string {
	place := ""
	if h := k.settings.Host; h != nil {
		place = " on " + diag.Visible(h.Name)
	}
	if k.kind == runner.Action {
		return fmt.Sprintf("Action %q%s", diag.Visible(k.step), place)
	}
	return "The " + k.step + " step" + place
}

func (k call) question() string {
	if k.kind == runner.Action {
		return fmt.Sprintf("action %q", diag.Visible(k.step))
	}
	return k.step
}

// moreTime returns where the timeout of the call is set in the manifest.
func (k call) moreTime() string {
	switch {
	case k.step == StepNotify && k.artifact:
		return `timeouts { action = "..." } in its type block`
	case k.artifact && k.step != StepInfo:
		return `timeouts { ` + k.step + ` = "..." } in its block`
	case k.kind == runner.Action:
		return `timeouts { action = "..." } in its resource or type block`
	case k.step == StepInit, k.step == StepInfo:
		return `timeouts { init = "..." } in its type block`
	}
	return `timeouts { state = "..." } in its resource or type block`
}

// run carries out a call. The error is nil only when the program ended with
// exit code zero.
func (c *Client) run(ctx context.Context, k call) (runner.Result, error) {
	mounts, err := c.mountsOf(k)
	if err == nil && !k.grant.Needed() {
		k.grant, err = c.o.grant(ctx, k, k.secret)
	}
	if err != nil {
		return runner.Result{}, err
	}
	spec, err := k.spec(mounts)
	if err != nil {
		return runner.Result{}, err
	}
	if k.step != StepInit { // of which there is one
		spec.Expected = c.Expected[k.target.Reference]
	}
	answers := k.kind == runner.Action && k.remembers // answers on stdout, as a query does
	if answers {
		spec.MaxStdout, spec.KeepLog = maxActionAnswer, max(spec.KeepLog, runner.KeepOutcome)
	}
	if k.onEnd != nil {
		spec.Ended = k.ended(c.o)
	}
	var flush []func()
	if c.o.Log != nil && !k.secret { // what it prints is hidden once it has ended
		address, step := k.target.Address, k.step
		watch := func(s Stream) io.Writer {
			w, end := Lines(address, step, s, c.o.Log)
			flush = append(flush, end)
			return w
		}
		spec.Stderr = watch(Stderr)
		if spec.Logs() && !k.quiet && !answers {
			spec.Stdout = watch(Stdout)
		}
	}
	started := time.Now()
	if h := k.settings.Host; h.InCluster() && c.o.Waiting != nil {
		w := Waiting{Address: k.target.Address, Host: h.Name, Step: k.step, Since: started}
		spec.Waiting = func(reason string) {
			w.Reason = diag.Visible(reason)
			c.o.Waiting(w)
		}
	}
	r, err := c.o.Runner.Run(ctx, spec)
	for _, f := range flush {
		f()
	}
	k.forget(&r)
	p := newPlaces(c, k.states, k.target.Sensitive)
	if c.o.Secret != nil {
		c.o.Secret(append(p.secretsIn(r.Stdout), k.printed(r.Stdout)...))
	}
	if c.o.Record != nil {
		c.o.Record(k.invocation(p, started, r, err))
	}
	return r, callError(k, c.o.hidden(r, err), err)
}

// ended returns what is called with the end of a call while a later command can still adopt it.
func (k call) ended(o Options) func(runner.Result, error) error {
	return func(r runner.Result, err error) error {
		k.forget(&r)
		return k.onEnd(r, callError(k, o.hidden(r, err), err))
	}
}

// forget takes a memory with the value of a secret out of the result of an action, and an answer about an artifact: it would be
// recorded.
func (k call) forget(r *runner.Result) {
	if k.artifact {
		k.grant.Forget(r, k.quiet || k.kind == runner.Query && !k.log)
	}
	if k.remembers && k.kind == runner.Action && k.grant.Refuse(r.Stdout) != nil {
		r.Stdout = []byte("(a memory with the value of a secret)")
	}
}

// spec returns how a call is run, with the values of its secrets.
func (k call) spec(mounts []runner.Mount) (runner.Spec, error) {
	spec := runner.Spec{
		Name:   k.target.Address + "/" + k.step,
		Kind:   k.kind,
		Digest: k.digest, Reference: k.command.Of(k.target.Reference),
		Entrypoint: k.command.Entrypoint,
		Args:       k.command.Args,
		Stdin:      k.stdin,
		Mounts:     mounts,
		Settings:   k.settings,
		Worker:     k.worker,
		Reuse:      k.reuse, ReuseActions: k.acts,
		Batch:     k.target.Batch,
		Guard:     k.target.Guard,
		ID:        k.id,
		Timeout:   k.timeout,
		Grace:     k.grace,
		KeepLog:   max(k.settings.KeepLog, k.keep),
		Cwd:       k.cwd,
		Volumes:   k.volumes,
		Answer:    k.grant.Answer(k.answer),
		LogStdout: k.log,
	}
	if k.given != nil {
		spec.Stdin = k.given
	}
	if err := k.grant.Into(&spec); err != nil {
		return spec, err
	}
	if k.secret { // its environment has how to get the secret
		spec.Hide()
	}
	if !spec.Logs() {
		if spec.MaxStdout = k.settings.MaxAnswer; spec.MaxStdout == 0 {
			spec.MaxStdout = MaxAnswer
		}
	}
	return spec, nil
}

// hidden returns the result of a call that failed as its error may show it. An error shows a
// part of it, and in a part that begins or ends in a secret nobody recognises the secret.
func (o Options) hidden(r runner.Result, err error) runner.Result {
	if o.Hide != nil && (err != nil || r.ExitCode != 0) {
		r.Stdout, r.Stderr = o.hide(r.Stdout), o.hide(r.Stderr)
	}
	return r
}

// hide hides the known secrets in what an image printed.
func (o Options) hide(text []byte) []byte {
	if o.Hide == nil {
		return text
	}
	return []byte(o.Hide(string(text)))
}

// invocation returns the record of a call that has ended, without the memory and without the
// values at sensitive places.
func (k call) invocation(p places, started time.Time, r runner.Result, err error) Invocation {
	i := Invocation{Address: k.target.Address, Host: runner.NameOf(k.settings.Host), Step: k.step, Digest: k.digest, Started: started,
		Stdin: k.stdin, Result: r, Err: err}
	if k.remembers {
		i.Stdin, i.Result.Stdout = Forgotten(i.Stdin), Forgotten(i.Result.Stdout)
	}
	i.Stdin, i.Result.Stdout = p.masked(i.Stdin), p.masked(i.Result.Stdout)
	if k.secret {
		i.Result.Stdout = nil
		if bytes.Contains(i.Stdin, []byte(`"lease":`)) { // with it others could use the secret
			i.Stdin = nil
		}
	}
	return i
}

// Lines returns a writer that passes the output of a step of a resource to log as lines
// that are safe to show. flush passes on an incomplete last line.
func Lines(address, step string, stream Stream, log func(Line)) (w io.Writer, flush func()) {
	l := loglines.New(func(text string) { log(Line{Address: address, Step: step, Stream: stream, Text: text}) })
	return l, l.Flush
}
