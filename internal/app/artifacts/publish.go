package artifacts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"deployster/config"
	"deployster/internal/artifact"
	"deployster/internal/artifact/tree"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runner"
	"deployster/internal/runner/typeclient"
	"deployster/protocol"
	"deployster/state"
)

// Published is the state of a publish.
type Published struct {
	Space    string            `json:"space"`
	Version  map[string]string `json:"version"`
	Metadata map[string]string `json:"metadata"`
	Created  []placed          `json:"created"`
	Deleted  []placed          `json:"deleted"`
}

type placed struct {
	Space   string           `json:"space"`
	Version artifact.Version `json:"version"`
}

// target is how the image of a publish is run.
func target(t typeclient.Target) artifact.Target {
	return artifact.Target{Address: t.Address, Reference: t.Reference, Digest: t.Digest, Settings: t.Settings, Pull: t.Pull, Verify: t.Verify,
		PutTimeout: t.ActionTimeout}
}

// describe is what a publish is to the engine: a type without a schema.
func (f *Front) describe(ctx context.Context, t typeclient.Target) (protocol.Type, error) {
	info, err := f.o.Client.Info(ctx, target(t))
	if err != nil {
		return protocol.Type{}, err
	}
	if !info.CanPut() && info.Protocol != artifact.Concourse1 {
		return protocol.Type{}, &diag.Diagnostic{Severity: diag.Error, Summary: "The image cannot publish", Address: t.Address, Action: "info",
			Detail: fmt.Sprintf("Image %s has no put: it can be used by artifact blocks only.", diag.Visible(t.Reference))}
	}
	return protocol.Type{Reference: t.Reference, Digest: info.Digest, Protocol: 2, Label: string(info.Protocol)}, nil
}

// putAction is the one action of a publish.
var putAction = protocol.Action{Name: artifact.StepPut, Description: "publish"}

// decide says whether a publish is as it should be: only what is recorded tells, because
// a put is an event.
func (f *Front) decide(ctx context.Context, t typeclient.Target, in protocol.StateInput) (protocol.Answer, error) {
	f.mu.Lock()
	made, done := f.made[t.Address]
	f.mu.Unlock()
	if done {
		return protocol.Answer{Status: protocol.Valid, State: made}, nil
	}
	again := func(why string) (protocol.Answer, error) {
		return protocol.Answer{Status: protocol.Missing, Actions: []protocol.Action{putAction}, Reasons: []protocol.Reason{{Message: why}}}, nil
	}
	u, unsettled := f.o.Prior.Unsettled[t.Address]
	switch {
	case unsettled && u.Put != nil && len(u.Actions) > 0:
		state, why, err := f.lastPut(ctx, t, in, u)
		if err != nil || state == nil {
			if err != nil {
				return protocol.Answer{}, err
			}
			return again(why)
		}
		return protocol.Answer{Status: protocol.Valid, State: state}, nil
	case in.LastState == nil:
		return again("nothing is recorded of a put: if it was published before, it is published again")
	case in.LastConfig == nil || f.same(t.Address, in.LastConfig, in.Config):
		return protocol.Answer{Status: protocol.Valid, State: in.LastState}, nil
	}
	return again("what it is made of has changed")
}

// same reports whether two configs mean the same put: another password publishes nothing.
func (f *Front) same(addr string, was, now json.RawMessage) bool {
	var hidden []string
	if r := f.publishes[addr]; r != nil {
		for _, pointer := range f.declared[r.Publish.Artifact].Source.Sensitive {
			hidden = append(hidden, "/source"+pointer)
		}
	}
	a, aerr := jsondoc.Canonical(secret.Mask(was, hidden))
	b, berr := jsondoc.Canonical(secret.Mask(now, hidden))
	return aerr == nil && berr == nil && string(a) == string(b)
}

// lastPut says what became of a put that was not seen to its end: the state that it led
// to, or why it is put again.
func (f *Front) lastPut(ctx context.Context, t typeclient.Target, in protocol.StateInput, u state.Unsettled) (json.RawMessage, string, error) {
	last, put := u.Actions[len(u.Actions)-1], u.Put
	switch {
	case last.Said == state.Failed:
		return nil, "somebody has said that the last put failed", nil
	case last.Exit != nil && *last.Exit != 0:
		why := fmt.Sprintf("the last put ended with exit code %d", *last.Exit)
		if put.Info.Protocol == artifact.Concourse1 {
			why += "; it may have published all the same"
		}
		return nil, why, nil
	case !f.same(t.Address, put.Config, in.Config) && (last.Exit != nil || f.repeatable(t, put.Info)):
		return nil, "what it is made of has changed since the last put", nil
	case last.Said == state.Done:
		made, err := f.newest(ctx, t, put)
		return made, "", err
	case last.Exit != nil && put.Answer != nil:
		made, err := f.finish(ctx, t, put.Info, put.Config, *put.Answer, in.LastState)
		return made, "", err
	case f.repeatable(t, put.Info):
		return nil, "put again: how the last one ended is not known, and it may be repeated", nil
	}
	return nil, "", f.unknown(ctx, t, put, last, in)
}

// repeatable reports whether a put may be run twice.
func (f *Front) repeatable(t typeclient.Target, info artifact.Info) bool {
	r := f.publishes[t.Address]
	return info.Protocol == artifact.Artifacts2 || r != nil && r.Publish.Idempotent
}

// unknown is the error about a put whose end nobody knows, with what there is to see.
func (f *Front) unknown(ctx context.Context, t typeclient.Target, put *state.Put, last state.Attempt, in protocol.StateInput) error {
	evidence := "Its image was asked, and lists no version."
	input := artifact.CheckInput{Source: member(put.Config, "source"), Fresh: true}
	var before Published
	if json.Unmarshal(in.LastState, &before) == nil && len(before.Version) > 0 {
		input.From = map[string]artifact.Version{before.Space: before.Version}
		input.Space = before.Space
	}
	c, err := f.o.Client.Check(ctx, target(t), put.Info, input)
	switch {
	case err != nil:
		evidence = "Its image could not be asked which versions there are: " + firstLine(err)
	case len(c.Newest) > 0:
		var names []string
		for _, v := range c.Newest[max(0, len(c.Newest)-5):] {
			names = append(names, diag.Visible(v.Version.String()))
		}
		evidence = "The newest versions that its image lists now: " + strings.Join(names, ", ") + "."
		if len(before.Version) > 0 {
			evidence += " Published last, as far as is recorded: " + diag.Visible(artifact.Version(before.Version).String()) + "."
		}
	}
	return &diag.Diagnostic{Severity: diag.Error, Summary: "Nobody knows how a put ended", Address: t.Address, Action: artifact.StepPut,
		Detail: fmt.Sprintf("It was begun at %s, and its end was not seen. To put again might publish twice. %s Look whether it was published: "+
			"`deployster resolve -as=done '%s'` says so, and -as=failed puts again. With idempotent = true in the block it is put again by itself.",
			last.Started.Local().Format(time.DateTime), evidence, t.Address)}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return diag.Visible(line)
}

// newest is the state of a publish of which somebody has said that it was done: the
// newest version counts.
func (f *Front) newest(ctx context.Context, t typeclient.Target, put *state.Put) (json.RawMessage, error) {
	c, err := f.o.Client.Check(ctx, target(t), put.Info, artifact.CheckInput{Source: member(put.Config, "source"), Fresh: true})
	if err != nil {
		return nil, err
	}
	v, found := c.Found()
	if !found {
		return nil, &diag.Diagnostic{Severity: diag.Error, Summary: "Nothing was published", Address: t.Address, Action: artifact.StepCheck,
			Detail: "Somebody has said that its put ended well, and its image lists no version. `deployster resolve -as=failed '" + t.Address +
				"'` puts again."}
	}
	return encode(Published{Space: v.Space, Version: v.Version, Metadata: v.Metadata.Map(), Created: []placed{{v.Space, v.Version}},
		Deleted: []placed{}})
}

func encode(p Published) (json.RawMessage, error) {
	if p.Version == nil {
		p.Version = map[string]string{}
	}
	if p.Metadata == nil {
		p.Metadata = map[string]string{}
	}
	return jsondoc.Encode(p)
}

// member is an object in a config.
func member(config json.RawMessage, name string) json.RawMessage {
	members, err := jsondoc.Object(config)
	if err != nil || members[name] == nil {
		return json.RawMessage("{}")
	}
	return members[name]
}

// put publishes, once.
func (f *Front) put(ctx context.Context, t typeclient.Target, in protocol.ActionInput,
	told func(runner.Result, error) error) (runner.Result, error) {
	r := f.publishes[t.Address]
	if r == nil {
		return runner.Result{}, diag.Errorf("Unknown publish", "There is no %s in the manifest.", t.Address)
	}
	info, err := f.o.Client.Info(ctx, target(t))
	if err != nil {
		return runner.Result{}, err
	}
	f.mu.Lock()
	journal := f.journal
	f.mu.Unlock()
	record := state.Put{Config: in.Config, Sensitive: f.sensitive(r), Info: info}
	if err := journal.Put(t.Address, record); err != nil {
		return runner.Result{}, err
	}
	var result runner.Result
	answer, err := f.o.Client.Put(ctx, target(t), info, artifact.PutInput{ID: in.IdempotencyKey, Source: member(in.Config, "source"),
		Params: member(in.Config, "params"), Fill: func(dir string) error { return f.fill(ctx, r, dir) },
		Ended: func(p artifact.Put, res runner.Result, err error) error {
			result = res
			if len(p.Created)+len(p.Deleted) > 0 {
				record.Answer = &p
				if err := journal.Put(t.Address, record); err != nil {
					return err
				}
			}
			return told(res, err)
		}})
	if err != nil {
		return result, err
	}
	made, err := f.finish(ctx, t, info, in.Config, answer, in.LastState)
	if err != nil {
		return result, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made[t.Address] = made
	return result, nil
}

// sensitive lists what of the config of a publish is never shown.
func (f *Front) sensitive(r *config.Resource) (pointers []string) {
	for _, pointer := range f.declared[r.Publish.Artifact].Source.Sensitive {
		pointers = append(pointers, "/source"+pointer)
	}
	return append(pointers, "/params", "/triggers") // what of them is sensitive is known to the plan only
}

// fill puts copies of the inputs into the directory of a put.
func (f *Front) fill(ctx context.Context, r *config.Resource, dir string) error {
	for _, in := range r.Publish.Inputs {
		from, err := f.input(ctx, in)
		if err == nil {
			err = tree.Copy(ctx, from, filepath.Join(dir, in.Name))
		}
		if err != nil {
			return at(r.Address, fmt.Errorf("the input %s cannot be copied: %w", in.Name, err))
		}
	}
	return nil
}

// input is where the files of an input are.
func (f *Front) input(ctx context.Context, in config.PublishInput) (string, error) {
	name, sub := f.artifactOf(in), ""
	if name == "" {
		return filepath.EvalSymlinks(f.plugs[in.Plug].Path)
	}
	if in.Plug != "" {
		sub = f.plugs[in.Plug].Path
	}
	pin, ok := f.o.Pins()[name]
	if !ok {
		return "", fmt.Errorf("artifact.%s is not in the plan", name)
	}
	return f.files(ctx, pin.Order(f.declared[name]), sub)
}

// settling are the pauses before a check is asked again that does not know yet what was
// published.
var settling = []time.Duration{0, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}

// finish is the state that a put has led to: what it said, in the order and with the
// metadata that its image lists.
func (f *Front) finish(ctx context.Context, t typeclient.Target, info artifact.Info, config json.RawMessage, p artifact.Put,
	last json.RawMessage) (json.RawMessage, error) {
	out := Published{Created: []placed{}, Deleted: []placed{}}
	var before Published
	if json.Unmarshal(last, &before) == nil {
		out.Space, out.Version, out.Metadata = before.Space, before.Version, before.Metadata
	}
	for _, v := range p.Created {
		out.Created = append(out.Created, placed{v.Space, v.Version})
	}
	for _, v := range p.Deleted {
		out.Deleted = append(out.Deleted, placed{v.Space, v.Version})
	}
	if len(p.Created) == 0 {
		return encode(out)
	}
	newest := p.Created[len(p.Created)-1]
	metadata := p.Metadata
	if listed, ok := f.listed(ctx, t, info, config, p.Created, before); ok {
		newest = listed
		if len(metadata) == 0 {
			metadata = listed.Metadata
		}
	}
	out.Space, out.Version, out.Metadata = newest.Space, maps.Clone(newest.Version), metadata.Map()
	return encode(out)
}

// listed finds the newest of what was created among what the image lists.
func (f *Front) listed(ctx context.Context, t typeclient.Target, info artifact.Info, config json.RawMessage, created []artifact.Versioned,
	before Published) (artifact.Versioned, bool) {
	in := artifact.CheckInput{Source: member(config, "source"), Space: created[0].Space, Fresh: true}
	if len(before.Version) > 0 && before.Space == in.Space {
		in.From = map[string]artifact.Version{before.Space: before.Version}
	}
	var failed error
	for _, pause := range settling {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return artifact.Versioned{}, false
		}
		c, err := f.o.Client.Check(ctx, target(t), info, in)
		if failed = err; err != nil {
			continue
		}
		for i := len(c.Newest) - 1; i >= 0; i-- {
			for _, v := range created {
				if c.Newest[i].Version.Is(v.Version) {
					return c.Newest[i], true
				}
			}
		}
	}
	d := diag.Warningf("What was published is not listed", "Its image does not list what it has put, also after some seconds. What it said "+
		"itself is recorded.")
	if failed != nil {
		d.Detail = "Its image could not be asked for the versions after the put. What it said itself is recorded. " + firstLine(failed)
	}
	d.Address = t.Address
	if f.o.Warn != nil {
		f.o.Warn(d)
	}
	return artifact.Versioned{}, false
}

// ReadPut reads what a put has said that another command began; nil = nothing is known
// of it.
func ReadPut(c artifact.Client, addr string, put *state.Put, r runner.Result) *artifact.Put {
	answer, err := c.ReadPut(artifact.Target{Address: addr, Reference: put.Info.Reference, Digest: put.Info.Digest}, put.Info, r)
	if err != nil && len(answer.Created)+len(answer.Deleted) == 0 {
		return nil
	}
	return &answer
}
